//! A consumer group that commits positions and remembers what was acknowledged.

use streamstack::cli::client::{Client, ClientError, GroupPosition};

use super::{NUM_PARTITIONS, TOPIC};

const GROUP: &str = "readers";

#[derive(Default)]
pub struct Committer {
    /// The last number that was sent, and the last that was acknowledged, in every partition at once.
    sent: i64,
    acknowledged: i64,
}

impl Committer {
    /// Commits further and further positions until the broker is gone.
    pub fn run(&mut self, address: &str) {
        let Ok(mut client) = Client::connect(address) else { return };
        loop {
            match self.commit(&mut client) {
                Ok(()) => self.acknowledged = self.sent,
                Err(error) if error.is_disconnect() => return,
                Err(error) => panic!("committer: {error}"),
            }
        }
    }

    fn commit(&mut self, client: &mut Client) -> Result<(), ClientError> {
        self.sent += 1;
        let position = |topic: &str, partition| GroupPosition {
            topic: topic.to_owned(),
            partition,
            offset: self.sent,
            metadata: self.sent.to_string(),
        };
        let mut positions: Vec<_> = (0..NUM_PARTITIONS).map(|partition| position(TOPIC, partition)).collect();
        positions.push(position(&format!("{TOPIC}..commits"), 0));
        client.move_group(GROUP, &positions)
    }

    /// No position went back, none is further than was sent, and those of one request stand together.
    pub fn check(&self, client: &mut Client) {
        let positions = client.group_positions(GROUP).unwrap();
        let offsets: Vec<i64> = positions.iter().map(|position| position.offset).collect();
        let first = offsets.first().copied().unwrap_or(0);
        assert!(offsets.iter().all(|offset| *offset == first), "one request is moved in part: {offsets:?}");
        assert!(
            (self.acknowledged..=self.sent).contains(&first),
            "{first}, but {} was acknowledged",
            self.acknowledged
        );
        assert!(positions.iter().all(|position| position.metadata == position.offset.to_string()), "{positions:?}");
    }

    pub fn num_acknowledged(&self) -> i64 {
        self.acknowledged
    }
}
