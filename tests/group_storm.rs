//! A storm in one group: hundreds of members that join and leave without end. Other groups do not notice, and the group
//! comes to rest after it.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test outside the library, which measures time")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use streamstack::broker::Broker;
use streamstack::config::{ServerConfig, Sources};
use streamstack::disk::{FaultyDisk, OsClock};
use streamstack::model::group::{
    Answer, Client, GroupError, Heartbeat, Join, JoinRefused, Joined, Leaving, Protocol, Request, Sync,
};

const MEMBERS: usize = 500;
const SIZE_MAX: usize = 450;
const STORM: Duration = Duration::from_secs(5);

fn broker() -> Arc<Broker> {
    let overrides = [
        "log.dirs=/data".to_owned(),
        "group.initial.rebalance.delay.ms=100".to_owned(),
        "streamstack.journal.file.bytes=16777216".to_owned(),
        format!("group.max.size={SIZE_MAX}"),
    ];
    let config = ServerConfig::load(&Sources { overrides: overrides.to_vec(), ..Sources::default() }).unwrap();
    Broker::open(Arc::new(FaultyDisk::new()), Arc::new(OsClock::new()), config).unwrap()
}

async fn ask(broker: &Arc<Broker>, group: &str, request: Request) -> Answer {
    broker.ask_group(group, request).unwrap().answer().await.unwrap()
}

/// One member's life, as its client leads it.
struct Member {
    broker: Arc<Broker>,
    group: &'static str,
    number: usize,
    id: String,
    joins: usize,
}

impl Member {
    fn new(broker: &Arc<Broker>, group: &'static str, number: usize) -> Member {
        Member { broker: broker.clone(), group, number, id: String::new(), joins: 0 }
    }

    /// Joins until it is in a generation; none when the group is full.
    async fn join(&mut self) -> Option<Joined> {
        loop {
            self.joins += 1;
            let join = Join {
                member_id: self.id.clone(),
                instance_id: None,
                client: Client { id: "storm".to_owned(), host: "/127.0.0.1".to_owned() },
                unique: format!("{}.{}", self.number, self.joins),
                protocol_type: "consumer".to_owned(),
                protocols: vec![Protocol { name: "range".to_owned(), metadata: Bytes::from_static(&[7; 200]) }],
                session_ms: 30_000,
                rebalance_ms: 30_000,
                reason: None,
                asks_twice: true,
                may_skip_assignment: true,
            };
            match ask(&self.broker, self.group, Request::Join(join)).await {
                Answer::Join(Ok(joined)) => return Some(joined),
                Answer::Join(Err(JoinRefused { error: GroupError::Full { .. }, .. })) => return None,
                Answer::Join(Err(JoinRefused { error: GroupError::MemberIdRequired, member_id })) => {
                    self.id = member_id
                }
                Answer::Join(Err(JoinRefused { error: GroupError::UnknownMember { .. }, .. })) => self.id.clear(),
                other => panic!("{other:?}"),
            }
        }
    }

    /// Joins until it has its assignment.
    async fn settle(&mut self) -> Option<i32> {
        loop {
            let joined = self.join().await?;
            let share = |id: &String| (id.clone(), Bytes::from(id.clone()));
            let sync = Sync {
                member_id: self.id.clone(),
                instance_id: None,
                generation: joined.generation,
                protocol_type: None,
                protocol: None,
                assignments: joined.members.iter().map(|member| share(&member.member_id)).collect(),
            };
            match ask(&self.broker, self.group, Request::Sync(sync)).await {
                Answer::Sync(Ok(synced)) => {
                    assert_eq!(synced.assignment, self.id);
                    return Some(joined.generation);
                }
                Answer::Sync(Err(GroupError::UnknownMember { .. })) => self.id.clear(),
                Answer::Sync(Err(_)) => {}
                other => panic!("{other:?}"),
            }
        }
    }

    async fn leave(&mut self) {
        let member_id = std::mem::take(&mut self.id);
        let leaving = Leaving { member_id, instance_id: None, reason: None };
        ask(&self.broker, self.group, Request::Leave(vec![leaving])).await;
    }

    async fn beat(&self, generation: i32) -> Answer {
        let beat = Heartbeat { member_id: self.id.clone(), instance_id: None, generation };
        ask(&self.broker, self.group, Request::Heartbeat(beat)).await
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_storm_of_500_members_leaves_other_groups_alone_is_bounded_and_ends() {
    let broker = broker();
    let (over, num_refused) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let mut bystander = Member::new(&broker, "calm", 0);
    let generation = bystander.settle().await.unwrap();
    let mut storm = Vec::new();
    for number in 0..MEMBERS {
        let mut member = Member::new(&broker, "storm", number);
        let (over, num_refused) = (over.clone(), num_refused.clone());
        storm.push(tokio::spawn(async move {
            while !over.load(Ordering::Acquire) {
                match member.settle().await {
                    Some(_) => member.leave().await,
                    None => {
                        num_refused.fetch_add(1, Ordering::AcqRel);
                        member.id.clear();
                        tokio::time::sleep(Duration::from_millis(50)).await;
                    }
                }
            }
        }));
    }
    let begun = Instant::now();
    let (mut slowest, mut num_beats) = (Duration::ZERO, 0);
    while begun.elapsed() < STORM {
        let asked = Instant::now();
        assert_eq!(bystander.beat(generation).await, Answer::Heartbeat(Ok(())));
        slowest = slowest.max(asked.elapsed());
        num_beats += 1;
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    over.store(true, Ordering::Release);
    for member in storm {
        tokio::time::timeout(Duration::from_secs(60), member).await.expect("the storm ends").unwrap();
    }
    assert!(slowest < Duration::from_secs(1), "another group waited for {slowest:?}");
    assert!(
        num_beats > 10 && num_refused.load(Ordering::Acquire) > 0,
        "{num_beats} heartbeats, {num_refused:?} refused"
    );

    let mut members: Vec<Member> = (0..3).map(|number| Member::new(&broker, "storm", number)).collect();
    let settling = members.iter_mut().map(Member::settle);
    let settled = tokio::time::timeout(Duration::from_secs(60), join_all(settling)).await.expect("it comes to rest");
    assert!(settled.iter().all(|generation| *generation == settled[0] && generation.is_some()), "{settled:?}");
    let described = broker.describe_group("storm").value.unwrap().1;
    assert_eq!((described.state, described.members.len()), ("Stable", 3));
    broker.shut_down().await.unwrap();
}

/// All of them at once, in this task.
async fn join_all<F: Future>(futures: impl Iterator<Item = F>) -> Vec<F::Output> {
    let mut running: Vec<_> = futures.map(|future| (Box::pin(future), None)).collect();
    std::future::poll_fn(|cx| {
        for (future, output) in running.iter_mut().filter(|(_, output)| output.is_none()) {
            if let std::task::Poll::Ready(ready) = future.as_mut().poll(cx) {
                *output = Some(ready);
            }
        }
        match running.iter().all(|(_, output)| output.is_some()) {
            true => std::task::Poll::Ready(()),
            false => std::task::Poll::Pending,
        }
    })
    .await;
    running.into_iter().filter_map(|(_, output)| output).collect()
}
