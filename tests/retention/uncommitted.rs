//! What no commit holds goes by its own age and size, where there is no commit with which it could go.

use kafka_protocol::ResponseError;
use streamstack::cli::client::Connection;

use super::transactional::{self as requests, Identity, Protocol};
use super::{LARGE, PATIENCE, SMALL_SEGMENTS, Served};

/// Sends a record in a transaction of its own, and ends it unless it is to stay open.
fn transaction(served: &Served, id: &str, ends: Option<bool>) {
    let mut connection = Connection::open(&served.server.addresses()[0].to_string(), PATIENCE, PATIENCE).unwrap();
    let given = connection.ask(4, &requests::init(id, 600_000, None)).unwrap();
    let who = Identity { id: id.to_owned(), producer: given.producer_id.0, epoch: given.producer_epoch };
    // The value is its key too.
    let batch = requests::batch(&who, 0, &["v".repeat(LARGE / 2)]);
    let request = requests::produce(Some(id), "orders", 0, batch);
    let answer = connection.ask(Protocol::Second.produce(), &request).unwrap();
    assert_eq!(ResponseError::try_from_code(answer.responses[0].partition_responses[0].error_code), None);
    if let Some(commit) = ends {
        let answer = connection.ask(Protocol::Second.end(), &requests::end(&who, commit)).unwrap();
        assert_eq!(ResponseError::try_from_code(answer.error_code), None);
    }
}

fn logs(served: &Served) -> usize {
    served.files("0").iter().filter(|name| name.ends_with(".log")).count()
}

#[test]
fn aborted_records_of_a_feed_without_commits_go_by_their_age() {
    let mut served = Served::start(&[]);
    served.create("orders", &[SMALL_SEGMENTS, ("retention.ms", "10000")]);
    (0..20).for_each(|_| transaction(&served, "loader", Some(false)));
    served.enforce();
    assert_eq!((served.bounds("orders"), logs(&served)), ((0, 40), 4), "they are young");
    served.clock.advance_ms(20_000);
    transaction(&served, "other", None);
    served.enforce();
    assert!(logs(&served) <= 2, "{} files are left, and only that of the open transaction is needed", logs(&served));
    let (start, end) = served.bounds("orders");
    assert_eq!((start, end), (36, 40), "the open transaction begins at the end of what is stable");
}

#[test]
fn aborted_records_of_a_feed_without_commits_go_when_they_are_too_many() {
    let mut served = Served::start(&[]);
    served.create("orders", &[SMALL_SEGMENTS, ("retention.bytes", "1500000")]);
    (0..20).for_each(|_| transaction(&served, "loader", Some(false)));
    served.enforce();
    let (start, end) = served.bounds("orders");
    assert!((10..30).contains(&start) && end == 40, "{start} to {end}");
    assert_eq!(logs(&served), 3, "1.5 MB, in files of 1 MiB");
    transaction(&served, "loader", Some(true));
    assert_eq!(served.num_records("orders..feed"), 1);
    let end = served.bounds("orders").1;
    served.enforce();
    assert_eq!(served.bounds("orders"), (served.bounds("orders").0, end));
    assert_eq!(served.num_records("orders..feed"), 1, "a commit is kept, and what lies before it goes with it");
}

#[test]
fn a_log_of_nothing_but_old_aborts_is_emptied_and_goes_on() {
    let mut served = Served::start(&[]);
    served.create("orders", &[SMALL_SEGMENTS, ("retention.ms", "10000")]);
    (0..3).for_each(|_| transaction(&served, "loader", Some(false)));
    served.clock.advance_ms(20_000);
    served.enforce();
    assert_eq!((served.bounds("orders"), logs(&served)), ((6, 6), 0));
    transaction(&served, "loader", Some(true));
    assert_eq!((served.bounds("orders"), served.num_records("orders..feed")), ((6, 8), 1));
    let mut served = served.restarted(&[]);
    assert_eq!((served.bounds("orders"), served.num_records("orders..feed")), ((6, 8), 1));
}
