//! A stop under load.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use kafka_protocol::messages::ProduceRequest;

use super::broker::Served;
use super::peer::{Peer, encode};
use super::requests::*;

const TOPIC: &str = "orders";
const PEERS: usize = 4;
const PATIENCE: Duration = Duration::from_secs(60);

/// Sends one produce after another without waiting, until the connection ends. Gives what was acknowledged, by offset.
fn pipelined(mut peer: Peer, name: usize, num_answers: &AtomicUsize) -> BTreeMap<i64, String> {
    let mut writer = peer.stream.try_clone().unwrap();
    let sending = std::thread::spawn(move || {
        let frame = |n: usize| encode(&produce(TOPIC, vec![(0, batch(&[&format!("{name}-{n}")]))]), PRODUCE, n as i32);
        (0..).take_while(|n| writer.write_all(&frame(*n)).is_ok()).count()
    });
    let mut acknowledged = BTreeMap::new();
    for n in 0.. {
        let Some(answer) = peer.try_answer::<ProduceRequest>(PRODUCE) else { break };
        let partition = &answer.responses[0].partition_responses[0];
        assert_eq!(partition.error_code, 0, "a produce that was taken is not refused by a stop");
        assert!(acknowledged.insert(partition.base_offset, format!("{name}-{n}")).is_none());
        num_answers.fetch_add(1, Ordering::Release);
    }
    let num_sent = sending.join().unwrap();
    assert!(num_sent > acknowledged.len(), "the stop came under load");
    acknowledged
}

#[test]
fn a_stop_under_load_answers_every_produce_that_it_writes() {
    for round in 1..=6 {
        let mut served = Served::start();
        served.connect().create_topic(TOPIC, 1, &[]);
        let num_answers = AtomicUsize::new(0);
        let acknowledged: Vec<_> = std::thread::scope(|scope| {
            let num_answers = &num_answers;
            let peers: Vec<Peer> = (0..PEERS).map(|_| served.connect()).collect();
            let sending = peers.into_iter().enumerate();
            let sending: Vec<_> =
                sending.map(|(name, peer)| scope.spawn(move || pipelined(peer, name, num_answers))).collect();
            let began = Instant::now();
            while num_answers.load(Ordering::Acquire) < round * 150 {
                assert!(began.elapsed() < PATIENCE, "{} answers", num_answers.load(Ordering::Acquire));
                std::thread::sleep(Duration::from_millis(1));
            }
            served.stop().unwrap();
            sending.into_iter().map(|sending| sending.join().unwrap()).collect()
        });
        served.restart();
        let acknowledged: BTreeMap<i64, String> = acknowledged.into_iter().flatten().collect();
        let found = served.connect().values(TOPIC, 0);
        assert_eq!(found.len(), acknowledged.len(), "records stand that nobody was told of");
        assert!(found.iter().zip(0..).all(|(value, offset)| acknowledged.get(&offset) == Some(value)));
    }
}
