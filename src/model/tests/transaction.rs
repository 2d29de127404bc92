//! Transactions: who may, what an end leaves on plain topics, in feed space, in history and in positions.

mod bounds;

use super::*;

const ID: &str = "loader";
const ORDERS: (FeedId, PartitionId) = (FeedId(0), PartitionId(0));
const ORDERS_1: (FeedId, PartitionId) = (FeedId(0), PartitionId(1));
const PAYMENTS: (FeedId, PartitionId) = (FeedId(1), PartitionId(0));

/// Segments end by size at 1 GiB only.
const ROOMY: Rolling<'static> = &|_| (1 << 30, i64::MAX);

impl Machine {
    /// With two feeds, `orders` of 2 partitions and `payments` of 1.
    fn with_two_feeds() -> Machine {
        let mut machine = Machine::new();
        machine.create("payments", 1).unwrap();
        machine
    }

    pub fn bind(&mut self, id: &str, current: Option<Identity>) -> Result<Identity, BindError> {
        let wish = Bind { id: id.into(), timeout_ms: 60_000, timeout_max_ms: 900_000, current, now: self.now };
        let decision = self.state.decide_bind(wish, ROOMY)?;
        Ok(self.take(decision))
    }

    pub fn enlist(
        &mut self,
        id: &str,
        identity: Identity,
        partitions: &[(FeedId, PartitionId)],
    ) -> Result<(), EnlistError> {
        let (partitions, seals, groups) = (partitions.to_vec(), vec![], vec!["readers".into()]);
        let wish = Enlist { id: id.into(), identity, partitions, seals, groups, now: self.now };
        let decision = self.state.decide_enlist(wish)?;
        self.take(decision);
        Ok(())
    }

    pub fn append_in(
        &mut self,
        transaction: InTransaction<'_>,
        (feed, partition): (FeedId, PartitionId),
        batch: Batch,
    ) -> Result<AppendOutcome, AppendError> {
        let (settings, transaction) = (&self.settings, Some(transaction));
        let append = Append { feed, partition, batch, settings, transaction, now: self.now };
        let decision = self.state.decide_append(append)?;
        Ok(self.take(decision))
    }

    pub fn end(&mut self, id: &str, identity: Identity, commit: bool, bumps: bool) -> Result<Identity, EndError> {
        let wish = EndTransaction { id: id.into(), identity, commit, bumps, now: self.now };
        let decision = self.state.decide_end(wish, ROOMY)?;
        Ok(self.take(decision))
    }

    pub fn stage(&mut self, id: &str, identity: Identity, offset: i64) -> Result<(), EnlistError> {
        let position = MovedPosition {
            topic: "orders".into(),
            partition: PartitionId(0),
            offset,
            leader_epoch: -1,
            metadata: String::new(),
            expires: None,
        };
        let (group, positions, now) = ("readers".into(), vec![position], self.now);
        let wish = StagePositions { id: id.into(), identity, group, positions, enlists: true, now };
        let decision = self.state.decide_stage_positions(wish)?;
        self.take(decision);
        Ok(())
    }

    pub fn name(
        &mut self,
        feed: FeedId,
        identity: Identity,
        sequence: i32,
        label: &str,
    ) -> Result<NameOutcome, NameError> {
        let Identity { producer, epoch } = identity;
        let decision = self.state.decide_name_stream(NameStream {
            feed,
            transaction: TV2,
            producer: SealingProducer { producer, epoch, sequence },
            wishes: vec![SealWish { label: Some(label.into()), metadata: Some("{\"rows\":0}".into()) }],
            now: self.now,
        })?;
        Ok(self.take(decision))
    }

    fn position(&self) -> Option<i64> {
        let subscription = self.state.subscription("readers")?;
        subscription.position("orders", PartitionId(0)).map(|position| position.offset)
    }

    fn stable(&self) -> i64 {
        self.feed().partitions()[0].last_stable().0
    }

    fn all_files(&self) -> files::Files {
        let mut files = files::Files::default();
        self.writes.iter().for_each(|write| files.write(write));
        files
    }

    fn of_orders(&self) -> (Vec<String>, Vec<String>) {
        let files = self.all_files();
        let partition = &files.feed(FeedId(0)).partitions[0];
        (partition.log.clone(), partition.feed_space())
    }

    fn aborts(&self) -> Vec<AbortReason> {
        let reason = |event: StreamEvent| match event.event {
            StreamFact::Aborted { reason, .. } => Some(reason),
            _ => None,
        };
        self.events().into_iter().filter_map(reason).collect()
    }
}

/// By the first protocol, for which partitions are enlisted beforehand.
pub const TV1: InTransaction<'static> = InTransaction { id: ID, enlists: false };
/// By the second, where a batch enlists its partition.
pub const TV2: InTransaction<'static> = InTransaction { id: ID, enlists: true };

/// A batch of a transaction.
pub fn within(identity: Identity, base_sequence: i32, values: &[&str]) -> Batch {
    let Identity { producer, epoch } = identity;
    let mut builder = BatchBuilder::new(0).transactional().producer(Producer { id: producer.0, epoch, base_sequence });
    for value in values {
        builder.push(NewRecord { timestamp: 7, value: Some(value.as_bytes()), ..NewRecord::default() });
    }
    checked(builder.build())
}

#[test]
fn a_commit_shows_up_on_all_feeds_at_once() {
    let mut machine = Machine::with_two_feeds();
    let producer = machine.bind(ID, None).unwrap();
    machine.enlist(ID, producer, &[ORDERS, ORDERS_1, PAYMENTS]).unwrap();
    machine.append_in(TV1, ORDERS, within(producer, 0, &["a", "b"])).unwrap();
    machine.append_in(TV1, PAYMENTS, within(producer, 0, &["p"])).unwrap();
    machine.stage(ID, producer, 17).unwrap();
    assert_eq!((machine.stable(), machine.position()), (0, None));
    assert!(machine.manifests().is_empty());

    let before = machine.journal.len();
    assert_eq!(machine.end(ID, producer, true, false), Ok(producer));
    assert_eq!(machine.journal.len() - before, 1, "an end is one entry");
    assert_eq!((machine.stable(), machine.position()), (3, Some(17)));
    assert_eq!(machine.of_orders(), (vec!["a".into(), "b".into(), "Commit".into()], vec!["a".into(), "b".into()]));
    let files = machine.all_files();
    assert_eq!(files.feed(FeedId(0)).partitions[1].log, ["Commit"], "what was enlisted gets its marker");
    let [orders, payments] = machine.manifests().try_into().unwrap();
    assert_eq!((orders.feed.as_str(), orders.commit, orders.records), ("orders", 0, 2));
    assert_eq!((orders.kind, orders.reason), (StreamKind::Transaction, SealReason::Transaction));
    assert_eq!(orders.label.as_deref(), Some(ID));
    let transaction = ManifestTransaction { transactional_id: ID.into(), producer_id: 0, epoch: 0 };
    assert_eq!(orders.transaction, Some(transaction));
    assert_eq!(orders.siblings, [Sibling { feed: "payments".into(), commit: 0 }]);
    assert_eq!(payments.siblings, [Sibling { feed: "orders".into(), commit: 0 }]);
}

#[test]
fn an_abort_leaves_nothing_in_feed_space_and_its_range_is_known() {
    let mut machine = Machine::new();
    let producer = machine.bind(ID, None).unwrap();
    machine.append(plain(&["before"])).unwrap();
    machine.append_in(TV2, ORDERS, within(producer, 0, &["a", "b"])).unwrap();
    machine.append(plain(&["between"])).unwrap();
    machine.stage(ID, producer, 17).unwrap();
    assert_eq!(machine.stable(), 1);
    machine.end(ID, producer, false, true).unwrap();
    machine.seal(vec![SealWish::default()], None).unwrap();
    assert_eq!((machine.stable(), machine.position()), (5, None));
    let (log, feed) = machine.of_orders();
    assert_eq!(log, ["before", "a", "b", "between", "Abort"]);
    assert_eq!(feed, ["before", "between"]);
    let row = AbortedRow { producer: producer.producer, first: Offset(1), last: Offset(4), last_stable: Offset(5) };
    assert_eq!(machine.all_files().feed(FeedId(0)).partitions[0].aborted, [row]);
    assert_eq!(machine.aborts(), [AbortReason::Client]);
}

#[test]
fn the_implicit_stream_is_cut_before_a_commit_but_not_before_an_abort() {
    let mut machine = Machine::new();
    let producer = machine.bind(ID, None).unwrap();
    machine.append_in(TV2, ORDERS, within(producer, 0, &["a"])).unwrap();
    machine.append(plain(&["plain"])).unwrap();
    let next = machine.end(ID, producer, false, true).unwrap();
    assert!(machine.manifests().is_empty());
    machine.append_in(TV2, ORDERS, within(next, 0, &["b"])).unwrap();
    machine.end(ID, next, true, true).unwrap();
    let reasons: Vec<SealReason> = machine.manifests().iter().map(|manifest| manifest.reason).collect();
    assert_eq!(reasons, [SealReason::Cut, SealReason::Transaction]);
    assert_eq!(machine.of_orders().1, ["plain", "b"]);
}

#[test]
fn commits_stand_in_the_order_of_their_ends() {
    let mut machine = Machine::new();
    let (first, second) = (machine.bind("a", None).unwrap(), machine.bind("b", None).unwrap());
    let of = |id| InTransaction { id, enlists: true };
    machine.append_in(of("a"), ORDERS, within(first, 0, &["a1"])).unwrap();
    machine.append_in(of("b"), ORDERS, within(second, 0, &["b1"])).unwrap();
    machine.append_in(of("a"), ORDERS, within(first, 1, &["a2"])).unwrap();
    machine.end("b", second, true, true).unwrap();
    assert_eq!(machine.stable(), 0, "the plain topic waits for the transaction that is open");
    assert_eq!(machine.of_orders().1, ["b1"], "feed space does not");
    machine.end("a", first, true, true).unwrap();
    assert_eq!(machine.of_orders().1, ["b1", "a1", "a2"]);
    assert_eq!(machine.stable(), 5);
}

#[test]
fn said_again_an_end_answers_the_same_and_changes_nothing() {
    for bumps in [false, true] {
        for commit in [false, true] {
            let mut machine = Machine::new();
            let producer = machine.bind(ID, None).unwrap();
            machine.append_in(TV2, ORDERS, within(producer, 0, &["a"])).unwrap();
            let next = machine.end(ID, producer, commit, bumps).unwrap();
            assert_eq!(next.epoch, i16::from(bumps));
            let entries = machine.journal.len();
            assert_eq!(machine.end(ID, producer, commit, bumps), Ok(next));
            let otherwise = EndError::EndedOtherwise { id: ID.into(), wanted: !commit };
            assert_eq!(machine.end(ID, producer, !commit, bumps), Err(otherwise));
            assert_eq!(machine.journal.len(), entries);
        }
    }
}

#[test]
fn an_end_without_a_transaction_is_refused_but_for_an_abort_with_an_epoch_of_its_own() {
    let mut machine = Machine::new();
    let unknown = EndError::UnknownId { id: ID.into() };
    assert_eq!(machine.end(ID, Identity { producer: ProducerId(0), epoch: 0 }, true, true), Err(unknown));
    let producer = machine.bind(ID, None).unwrap();
    let not_open = || EndError::NotOpen { id: ID.into() };
    assert_eq!(machine.end(ID, producer, true, false), Err(not_open()));
    assert_eq!(machine.end(ID, producer, false, false), Err(not_open()));
    assert_eq!(machine.end(ID, producer, true, true), Err(not_open()));
    let next = machine.end(ID, producer, false, true).unwrap();
    assert_eq!(next, Identity { epoch: 1, ..producer });
    let fenced = EndError::Fenced { id: ID.into(), current: next, found: Identity { epoch: 7, ..producer } };
    assert_eq!(machine.end(ID, Identity { epoch: 7, ..producer }, false, true), Err(fenced));
}

#[test]
fn a_late_batch_is_part_of_no_transaction() {
    let mut machine = Machine::new();
    let producer = machine.bind(ID, None).unwrap();
    let not_enlisted = EnlistError::PartitionNotEnlisted { id: ID.into(), feed: FeedId(0), partition: PartitionId(0) };
    let late = |machine: &mut Machine| machine.append_in(TV1, ORDERS, within(producer, 0, &["a"]));
    assert_eq!(late(&mut machine), Err(not_enlisted.clone().into()));
    machine.enlist(ID, producer, &[ORDERS]).unwrap();
    late(&mut machine).unwrap();
    assert!(late(&mut machine).unwrap().duplicate);
    machine.end(ID, producer, true, false).unwrap();
    assert_eq!(late(&mut machine), Err(not_enlisted.into()), "the first protocol has one epoch for all");
    machine.append_in(TV2, ORDERS, within(producer, 1, &["b"])).unwrap();
    let next = machine.end(ID, producer, true, true).unwrap();
    let late = machine.append_in(TV2, ORDERS, within(producer, 2, &["c"]));
    let fenced = EnlistError::Fenced { id: ID.into(), current: next, found: producer };
    assert_eq!(late, Err(fenced.into()), "by the second the epoch tells");
}

#[test]
fn with_an_epoch_of_its_own_each_transaction_starts_at_sequence_0() {
    let mut machine = Machine::new();
    let producer = machine.bind(ID, None).unwrap();
    let gap = |found| SequenceError::Gap { producer: ProducerId(0), found, expected: 0 };
    assert_eq!(machine.append_in(TV2, ORDERS, within(producer, 3, &["a"])), Err(gap(3).into()));
    machine.append_in(TV2, ORDERS, within(producer, 0, &["a"])).unwrap();
    let next = machine.end(ID, producer, true, true).unwrap();
    assert_eq!(machine.append_in(TV2, ORDERS, within(next, 1, &["b"])), Err(gap(1).into()));
    machine.append_in(TV2, ORDERS, within(next, 0, &["b"])).unwrap();
    // By the first protocol, whatever was before may have been deleted.
    machine.enlist(ID, next, &[ORDERS_1]).unwrap();
    machine.append_in(TV1, ORDERS_1, within(next, 9, &["c"])).unwrap();
}

#[test]
fn a_plain_batch_of_a_producer_does_not_slip_into_its_transaction() {
    let mut machine = Machine::new();
    let producer = machine.bind(ID, None).unwrap();
    machine.append_in(TV2, ORDERS, within(producer, 0, &["a"])).unwrap();
    let outside = AppendError::OutsideTransaction { producer: producer.producer };
    assert_eq!(machine.append(by(0, 0, 1, &["b"])), Err(outside));
    machine.append_to(FeedId(0), PartitionId(1), by(0, 0, 0, &["b"])).unwrap();
    assert_eq!(machine.feed().open_stream().unwrap().records(), 1);
}

#[test]
fn a_new_producer_fences_the_old_one_and_aborts_what_it_left() {
    let mut machine = Machine::new();
    let old = machine.bind(ID, None).unwrap();
    machine.append_in(TV2, ORDERS, within(old, 0, &["a"])).unwrap();
    let new = machine.bind(ID, None).unwrap();
    assert_eq!(new, Identity { epoch: 1, ..old });
    assert_eq!(
        (machine.of_orders().0, machine.aborts()),
        (vec!["a".into(), "Abort".into()], vec![AbortReason::Fenced])
    );
    let fenced = || EnlistError::Fenced { id: ID.into(), current: new, found: old };
    assert_eq!(machine.append_in(TV2, ORDERS, within(old, 1, &["b"])), Err(fenced().into()));
    assert_eq!(machine.enlist(ID, old, &[ORDERS]), Err(fenced()));
    let refused = BindError::Fenced { id: ID.into(), current: new };
    assert_eq!(machine.bind(ID, Some(old)), Err(refused), "a zombie does not come back as the one that replaced it");
    machine.append_in(TV2, ORDERS, within(new, 0, &["c"])).unwrap();
}

#[test]
fn a_producer_that_lost_the_answer_to_its_new_epoch_gets_it_again() {
    let mut machine = Machine::new();
    let first = machine.bind(ID, None).unwrap();
    let second = machine.bind(ID, Some(first)).unwrap();
    assert_eq!(second.epoch, 1);
    assert_eq!(machine.bind(ID, Some(first)), Ok(second));
    machine.append_in(TV2, ORDERS, within(second, 0, &["a"])).unwrap();
    let third = machine.end(ID, second, true, true).unwrap();
    assert_eq!(machine.bind(ID, Some(second)), Ok(third), "nor is the epoch that an end gave lost");
}

#[test]
fn epochs_that_run_out_give_a_new_producer_id() {
    let mut machine = Machine::new();
    let mut producer = machine.bind(ID, None).unwrap();
    let wide = Identity { epoch: i16::MAX - 1, ..producer };
    let bound = ProducerBound { id: ID.into(), identity: wide, previous: None, timeout_ms: 60_000, at: machine.now };
    machine.take(Decision::one(Entry::ProducerBound(bound), ()));
    machine.append_in(TV2, ORDERS, within(wide, 0, &["a"])).unwrap();
    let next = machine.end(ID, wide, true, true).unwrap();
    assert_eq!(next, Identity { producer: ProducerId(1), epoch: 0 });
    assert_eq!(machine.end(ID, wide, true, true), Ok(next), "a repeat is known though the id is another one");
    producer = machine.bind(ID, Some(next)).unwrap();
    assert_eq!(producer, Identity { epoch: 1, ..next });
    let opened = machine.state.decide_open_producer();
    assert_eq!(machine.take(opened), ProducerId(2), "no id is given twice");
}

#[test]
fn what_is_open_for_too_long_is_aborted() {
    let mut machine = Machine::new();
    let producer = machine.bind(ID, None).unwrap();
    machine.append_in(TV2, ORDERS, within(producer, 0, &["a"])).unwrap();
    machine.stage(ID, producer, 5).unwrap();
    assert_eq!(machine.state.deadline(), Some(Timestamp(machine.now.0 + 60_000)));
    machine.later(59_999);
    assert_eq!(machine.state.decide_timeouts(machine.now, ROOMY), Decision::nothing(()));
    machine.later(1);
    let decision = machine.state.decide_timeouts(machine.now, ROOMY);
    machine.take(decision);
    assert_eq!((machine.aborts(), machine.position()), (vec![AbortReason::Timeout], None));
    assert_eq!((machine.state.deadline(), machine.stable()), (None, 2));
    assert!(matches!(machine.end(ID, producer, true, true), Err(EndError::Fenced { .. })), "it was not asked");
    let ended = Some(Ending { by: None, committed: false });
    assert_eq!(machine.state.transactions().get(ID).unwrap().ended(), ended, "operators are shown how it ended");
    assert_eq!(State::decode(&machine.state.encode()).unwrap(), machine.state);
    let nobody = Identity { producer: ProducerId(-1), epoch: -1 };
    assert!(machine.end(ID, nobody, false, true).is_err(), "and nobody is told that they did it");
}

#[test]
fn an_operator_aborts_what_hangs() {
    let mut machine = Machine::new();
    let producer = machine.bind(ID, None).unwrap();
    let nothing = machine.state.decide_abort(ID, machine.now, ROOMY);
    assert!(!machine.take(nothing));
    machine.append_in(TV2, ORDERS, within(producer, 0, &["a"])).unwrap();
    let decision = machine.state.decide_abort(ID, machine.now, ROOMY);
    assert!(machine.take(decision));
    assert_eq!(machine.aborts(), [AbortReason::Operator]);
}

#[test]
fn a_record_to_seal_names_the_stream_and_makes_an_empty_commit() {
    let mut machine = Machine::new();
    let producer = machine.bind(ID, None).unwrap();
    assert_eq!(machine.name(FeedId(0), producer, 0, "14:00"), Ok(NameOutcome { duplicate: false }));
    assert_eq!(machine.name(FeedId(0), producer, 0, "14:00"), Ok(NameOutcome { duplicate: true }));
    machine.end(ID, producer, true, true).unwrap();
    let [manifest] = machine.manifests().try_into().unwrap();
    assert_eq!((manifest.label.as_deref(), manifest.records), (Some("14:00"), 0));
    assert_eq!(manifest.metadata.unwrap().get(), "{\"rows\":0}");
    assert_eq!(machine.of_orders(), (vec![], vec![]), "the record itself is in no view");
}

#[test]
fn the_first_record_names_a_stream_before_all_others() {
    let mut machine = Machine::new();
    let producer = machine.bind(ID, None).unwrap();
    machine.name(FeedId(0), producer, 0, "by control").unwrap();
    let headers = [Header { key: b"streamstack-stream", value: Some(b"by header") }];
    let record = NewRecord { timestamp: 1, value: Some(b"v"), headers: &headers, ..NewRecord::default() };
    let by = Producer { id: producer.producer.0, epoch: producer.epoch, base_sequence: 0 };
    let batch = checked(BatchBuilder::new(0).transactional().producer(by).record(record).build());
    machine.append_in(TV2, ORDERS, batch).unwrap();
    machine.end(ID, producer, true, true).unwrap();
    assert_eq!(machine.manifests()[0].label.as_deref(), Some("by header"));
}

#[test]
fn what_was_only_enlisted_ends_without_a_commit() {
    let mut machine = Machine::new();
    let producer = machine.bind(ID, None).unwrap();
    machine.enlist(ID, producer, &[ORDERS]).unwrap();
    machine.end(ID, producer, true, false).unwrap();
    assert_eq!((machine.manifests().len(), machine.aborts()), (0, vec![AbortReason::Empty]));
    // Only a group: neither end is refused, and both may be said again.
    for commit in [true, false] {
        machine.enlist(ID, producer, &[]).unwrap();
        machine.end(ID, producer, commit, false).unwrap();
        machine.end(ID, producer, commit, false).unwrap();
    }
}

#[test]
fn a_transaction_goes_on_without_a_feed_that_was_deleted() {
    let mut machine = Machine::with_two_feeds();
    let producer = machine.bind(ID, None).unwrap();
    machine.append_in(TV2, ORDERS, within(producer, 0, &["a"])).unwrap();
    machine.append_in(TV2, PAYMENTS, within(producer, 0, &["p"])).unwrap();
    machine.stage(ID, producer, 17).unwrap();
    let decision = machine.state.decide_delete(FeedId(0), machine.now).unwrap();
    machine.take(decision);
    machine.create("orders", 1).unwrap();
    machine.end(ID, producer, true, true).unwrap();
    let [manifest] = machine.manifests().try_into().unwrap();
    assert_eq!((manifest.feed.as_str(), manifest.siblings.len()), ("payments", 0));
    assert_eq!(machine.position(), None, "no position points into another feed of the same name");
}

#[test]
fn positions_are_seen_as_pending_until_the_end() {
    let mut machine = Machine::new();
    let producer = machine.bind(ID, None).unwrap();
    machine.stage(ID, producer, 5).unwrap();
    machine.stage(ID, producer, 9).unwrap();
    let staging: Vec<&str> = machine.state.transactions().staging("readers").map(|(id, _)| id).collect();
    assert_eq!(staging, [ID]);
    machine.end(ID, producer, true, true).unwrap();
    assert_eq!((machine.position(), machine.state.transactions().staging("readers").count()), (Some(9), 0));
}

#[test]
fn a_group_must_be_enlisted_by_the_first_protocol() {
    let mut machine = Machine::new();
    let identity = machine.bind(ID, None).unwrap();
    let wish = StagePositions {
        id: ID.into(),
        identity,
        group: "readers".into(),
        positions: vec![],
        enlists: false,
        now: machine.now,
    };
    let not_enlisted = EnlistError::NotEnlisted { id: ID.into(), group: "readers".into() };
    assert_eq!(machine.state.decide_stage_positions(wish), Err(not_enlisted));
}

#[test]
fn ids_are_forgotten_when_nobody_used_them_for_long() {
    let mut machine = Machine::new();
    machine.bind("idle", None).unwrap();
    let open = machine.bind("open", None).unwrap();
    machine.enlist("open", open, &[ORDERS]).unwrap();
    machine.later(1_000);
    machine.bind("recent", None).unwrap();
    let decision = machine.state.decide_forget_transactional_ids(machine.now);
    assert_eq!(machine.take(decision), 1);
    assert_eq!(machine.state.transactions().iter().map(|(id, _)| id).collect::<Vec<_>>(), ["open", "recent"]);
    assert_eq!(machine.bind("idle", None).unwrap().producer, ProducerId(3), "its producer id is not given again");
}

#[test]
fn open_transactions_survive_a_restart_and_go_on() {
    let mut machine = Machine::with_two_feeds();
    let producer = machine.bind(ID, None).unwrap();
    machine.append_in(TV2, ORDERS, within(producer, 0, &["a"])).unwrap();
    machine.name(FeedId(0), producer, 0, "14:00").unwrap();
    machine.stage(ID, producer, 17).unwrap();
    machine.state = State::decode(&machine.state.encode()).unwrap();
    machine.state.check();
    machine.append_in(TV2, ORDERS, within(producer, 1, &["b"])).unwrap();
    machine.append_in(TV2, PAYMENTS, within(producer, 0, &["p"])).unwrap();
    machine.end(ID, producer, true, true).unwrap();
    assert_eq!(machine.of_orders().1, ["a", "b"]);
    assert_eq!((machine.position(), machine.manifests().len()), (Some(17), 2));
}
