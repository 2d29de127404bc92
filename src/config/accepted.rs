//! Kafka's other broker configs: known, checked and shown, so that a properties file written for Kafka
//! loads, but without effect here. Each group says why; a few are refused unless they have their default.

use super::server::ServerRow;
use super::table::Effect::{self, Accepted, Refused};
use super::table::Row;
use super::value::Allowed::{self, Any, AtLeast, Between, OneOf, SomeOf};
use super::value::ConfigType::{self, Boolean, Class, Double, Int, List, Long, Short, String as Text};

/// Name, type, default, what is allowed, and whether Kafka lets it change while running.
type Known = (&'static str, ConfigType, Option<&'static str>, Allowed, bool);

struct Group {
    about: &'static str,
    effect: Effect,
    known: &'static [Known],
}

/// All rows of the groups.
pub fn rows() -> impl Iterator<Item = ServerRow> {
    GROUPS.iter().flat_map(|group| group.known.iter().map(|known| group.row(known)))
}

impl Group {
    fn row(&self, &(name, kind, default, allowed, dynamic): &Known) -> ServerRow {
        ServerRow { row: Row { name, kind, default, allowed, effect: self.effect, doc: self.about }, dynamic }
    }
}

const GROUPS: &[Group] = &[
    Group {
        about: "Would decide who may do what, or where secrets come from.",
        effect: Refused("nothing of the kind is built, and ignoring it would open what should be closed"),
        known: REFUSED_SECURITY,
    },
    Group {
        about: "Asks for what is not built.",
        effect: Refused("not built, and ignoring it would be a lie"),
        known: REFUSED,
    },
    Group {
        about: "Kafka's controller quorum and the broker's place in it.",
        effect: Accepted("one node needs no quorum"),
        known: CONTROLLER,
    },
    Group {
        about: "Replication between brokers.",
        effect: Accepted("one node holds every partition"),
        known: REPLICATION,
    },
    Group {
        about: "Consumer groups and their offsets.",
        effect: Accepted("groups and their offsets are kept in another way here"),
        known: CONSUMER_GROUPS,
    },
    Group {
        about: "Groups of Kafka Streams and share groups.",
        effect: Accepted("these kinds of groups are not built yet"),
        known: STREAMS_GROUPS,
    },
    Group {
        about: "Transactions.",
        effect: Accepted("transactions have no log of their own, and end in one step"),
        known: TRANSACTIONS,
    },
    Group { about: "Tiered storage.", effect: Accepted("there is no tiered storage"), known: TIERS },
    Group {
        about: "Kafka's log cleaner, checkpoints and recovery.",
        effect: Accepted("the log is kept in another way here"),
        known: CLEANER,
    },
    Group {
        about: "Threads, sockets and connections.",
        effect: Accepted("sockets and threads are run in another way here"),
        known: SOCKETS,
    },
    Group {
        about: "Waiting requests.",
        effect: Accepted("waiting requests are kept in another way here"),
        known: PURGATORY,
    },
    Group {
        about: "Kafka's metrics, quotas and telemetry.",
        effect: Accepted("metrics are kept in another way here"),
        known: METRICS,
    },
];

#[rustfmt::skip]
const REFUSED_SECURITY: &[Known] = &[
    ("alter.config.policy.class.name", Class, None, Any, false),
    ("authorizer.class.name", Text, Some(""), Any, false),
    ("client.quota.callback.class", Class, None, Any, false),
    ("config.providers", List, Some(""), Any, true),
    ("create.topic.policy.class.name", Class, None, Any, false),
    ("security.providers", Text, None, Any, false),
];

#[rustfmt::skip]
const REFUSED: &[Known] = &[
    ("cordoned.log.dirs", List, Some(""), Any, true),
    ("remote.log.storage.system.enable", Boolean, Some("false"), Any, false),
    ("transaction.two.phase.commit.enable", Boolean, Some("false"), Any, false),
];

#[rustfmt::skip]
const CONTROLLER: &[Known] = &[
    ("auto.leader.rebalance.enable", Boolean, Some("true"), Any, false),
    ("broker.heartbeat.interval.ms", Int, Some("2000"), Any, false),
    ("broker.session.timeout.ms", Int, Some("9000"), Any, false),
    ("controlled.shutdown.enable", Boolean, Some("true"), Any, false),
    ("controller.quorum.append.linger.ms", Int, Some("25"), AtLeast(0), false),
    ("controller.quorum.auto.join.enable", Boolean, Some("false"), Any, false),
    ("controller.quorum.bootstrap.servers", List, Some(""), Any, false),
    ("controller.quorum.election.backoff.max.ms", Int, Some("1000"), AtLeast(0), false),
    ("controller.quorum.election.timeout.ms", Int, Some("1000"), AtLeast(0), false),
    ("controller.quorum.fetch.max.bytes", Int, Some("1048576"), AtLeast(1), false),
    ("controller.quorum.fetch.snapshot.max.bytes", Int, Some("1048576"), AtLeast(1), false),
    ("controller.quorum.fetch.timeout.ms", Int, Some("2000"), AtLeast(0), false),
    ("controller.quorum.request.timeout.ms", Int, Some("2000"), AtLeast(0), false),
    ("controller.quorum.retry.backoff.ms", Int, Some("20"), AtLeast(0), false),
    ("controller.quorum.voters", List, Some(""), Any, false),
    ("controller.quota.window.num", Int, Some("11"), AtLeast(1), false),
    ("controller.quota.window.size.seconds", Int, Some("1"), AtLeast(1), false),
    ("controller.socket.timeout.ms", Int, Some("30000"), Any, false),
    ("early.start.listeners", List, None, Any, false),
    ("initial.broker.registration.timeout.ms", Int, Some("60000"), Any, false),
    ("inter.broker.listener.name", Text, None, Any, false),
    ("leader.imbalance.check.interval.seconds", Long, Some("300"), AtLeast(1), false),
    ("metadata.log.dir", Text, None, Any, false),
    ("metadata.log.max.record.bytes.between.snapshots", Long, Some("20971520"), AtLeast(1), false),
    ("metadata.log.max.snapshot.interval.ms", Long, Some("3600000"), AtLeast(0), false),
    ("metadata.log.segment.bytes", Int, Some("1073741824"), AtLeast(8388608), false),
    ("metadata.log.segment.ms", Long, Some("604800000"), Any, false),
    ("metadata.max.idle.interval.ms", Int, Some("500"), AtLeast(0), false),
    ("metadata.max.retention.bytes", Long, Some("104857600"), Any, false),
    ("metadata.max.retention.ms", Long, Some("604800000"), Any, false),
    ("process.roles", List, None, SomeOf(&["broker", "controller"]), false),
    ("security.inter.broker.protocol", Text, Some("PLAINTEXT"), OneOf(&["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"]), false),
];

#[rustfmt::skip]
const REPLICATION: &[Known] = &[
    ("alter.log.dirs.replication.quota.window.num", Int, Some("11"), AtLeast(1), false),
    ("alter.log.dirs.replication.quota.window.size.seconds", Int, Some("1"), AtLeast(1), false),
    ("follower.fetch.last.tiered.offset.enable", Boolean, Some("false"), Any, true),
    ("num.replica.alter.log.dirs.threads", Int, None, Any, false),
    ("num.replica.fetchers", Int, Some("1"), AtLeast(1), true),
    ("replica.fetch.backoff.ms", Int, Some("1000"), AtLeast(0), false),
    ("replica.fetch.max.bytes", Int, Some("1048576"), AtLeast(0), false),
    ("replica.fetch.min.bytes", Int, Some("1"), Any, false),
    ("replica.fetch.response.max.bytes", Int, Some("10485760"), AtLeast(0), false),
    ("replica.fetch.wait.max.ms", Int, Some("500"), Any, false),
    ("replica.high.watermark.checkpoint.interval.ms", Long, Some("5000"), Any, false),
    ("replica.lag.time.max.ms", Long, Some("30000"), Any, false),
    ("replica.selector.class", Text, None, Any, false),
    ("replica.socket.receive.buffer.bytes", Int, Some("65536"), Any, false),
    ("replica.socket.timeout.ms", Int, Some("30000"), Any, false),
    ("replication.quota.window.num", Int, Some("11"), AtLeast(1), false),
    ("replication.quota.window.size.seconds", Int, Some("1"), AtLeast(1), false),
];

#[rustfmt::skip]
const CONSUMER_GROUPS: &[Known] = &[
    ("group.consumer.assignment.interval.ms", Int, Some("1000"), AtLeast(0), true),
    ("group.consumer.max.assignment.interval.ms", Int, Some("15000"), AtLeast(0), false),
    ("group.consumer.min.assignment.interval.ms", Int, Some("0"), AtLeast(0), false),
    ("group.coordinator.append.linger.ms", Int, Some("-1"), AtLeast(-1), false),
    ("group.coordinator.background.threads", Int, Some("2"), AtLeast(1), false),
    ("group.coordinator.cached.buffer.max.bytes", Int, Some("1048588"), AtLeast(524288), true),
    ("group.coordinator.rebalance.protocols", List, Some("classic,consumer,streams"), SomeOf(&["consumer", "classic", "share", "streams"]), false),
    ("group.coordinator.threads", Int, Some("4"), AtLeast(1), false),
    ("offsets.commit.timeout.ms", Int, Some("5000"), AtLeast(1), false),
    ("offsets.load.buffer.size", Int, Some("5242880"), AtLeast(1), false),
    ("offsets.topic.compression.codec", Int, Some("0"), Any, false),
    ("offsets.topic.num.partitions", Int, Some("50"), AtLeast(1), false),
    ("offsets.topic.replication.factor", Short, Some("3"), AtLeast(1), false),
    ("offsets.topic.segment.bytes", Int, Some("104857600"), AtLeast(1), false),
];

#[rustfmt::skip]
const STREAMS_GROUPS: &[Known] = &[
    ("group.share.assignment.interval.ms", Int, Some("1000"), AtLeast(0), true),
    ("group.share.assignors", List, Some("simple"), Any, false),
    ("group.share.delivery.count.limit", Int, Some("5"), Between(2, 10), false),
    ("group.share.heartbeat.interval.ms", Int, Some("5000"), AtLeast(1), false),
    ("group.share.max.assignment.interval.ms", Int, Some("15000"), AtLeast(0), false),
    ("group.share.max.delivery.count.limit", Int, Some("10"), Between(5, 25), false),
    ("group.share.max.heartbeat.interval.ms", Int, Some("15000"), AtLeast(1), false),
    ("group.share.max.partition.max.record.locks", Int, Some("4000"), Between(2000, 10000), false),
    ("group.share.max.record.lock.duration.ms", Int, Some("60000"), Between(30000, 3600000), false),
    ("group.share.max.session.timeout.ms", Int, Some("60000"), AtLeast(1), false),
    ("group.share.max.share.sessions", Int, Some("2000"), AtLeast(1), false),
    ("group.share.max.size", Int, Some("200"), Between(1, 1000), false),
    ("group.share.min.assignment.interval.ms", Int, Some("0"), AtLeast(0), false),
    ("group.share.min.delivery.count.limit", Int, Some("2"), Between(2, 5), false),
    ("group.share.min.heartbeat.interval.ms", Int, Some("5000"), AtLeast(1), false),
    ("group.share.min.partition.max.record.locks", Int, Some("100"), Between(100, 2000), false),
    ("group.share.min.record.lock.duration.ms", Int, Some("15000"), Between(1000, 30000), false),
    ("group.share.min.session.timeout.ms", Int, Some("45000"), AtLeast(1), false),
    ("group.share.partition.max.record.locks", Int, Some("2000"), Between(100, 10000), false),
    ("group.share.record.lock.duration.ms", Int, Some("30000"), Between(1000, 3600000), false),
    ("group.share.session.timeout.ms", Int, Some("45000"), AtLeast(1), false),
    ("group.streams.assignment.interval.ms", Int, Some("1000"), AtLeast(0), true),
    ("group.streams.heartbeat.interval.ms", Int, Some("5000"), AtLeast(1), false),
    ("group.streams.initial.rebalance.delay.ms", Int, Some("3000"), AtLeast(0), false),
    ("group.streams.max.assignment.interval.ms", Int, Some("15000"), AtLeast(0), false),
    ("group.streams.max.heartbeat.interval.ms", Int, Some("15000"), AtLeast(1), false),
    ("group.streams.max.session.timeout.ms", Int, Some("60000"), AtLeast(1), false),
    ("group.streams.max.size", Int, Some("2147483647"), AtLeast(1), false),
    ("group.streams.max.standby.replicas", Int, Some("2"), AtLeast(0), false),
    ("group.streams.min.assignment.interval.ms", Int, Some("0"), AtLeast(0), false),
    ("group.streams.min.heartbeat.interval.ms", Int, Some("5000"), AtLeast(1), false),
    ("group.streams.min.session.timeout.ms", Int, Some("45000"), AtLeast(1), false),
    ("group.streams.num.standby.replicas", Int, Some("0"), AtLeast(0), false),
    ("group.streams.session.timeout.ms", Int, Some("45000"), AtLeast(1), false),
    ("share.coordinator.append.linger.ms", Int, Some("-1"), AtLeast(-1), false),
    ("share.coordinator.cached.buffer.max.bytes", Int, Some("1048588"), AtLeast(524288), true),
    ("share.coordinator.load.buffer.size", Int, Some("5242880"), AtLeast(1), false),
    ("share.coordinator.snapshot.update.records.per.snapshot", Int, Some("500"), Between(0, 500), false),
    ("share.coordinator.state.topic.compression.codec", Int, Some("0"), Any, false),
    ("share.coordinator.state.topic.min.isr", Short, Some("2"), AtLeast(1), false),
    ("share.coordinator.state.topic.num.partitions", Int, Some("50"), AtLeast(1), false),
    ("share.coordinator.state.topic.replication.factor", Short, Some("3"), AtLeast(1), false),
    ("share.coordinator.state.topic.segment.bytes", Int, Some("104857600"), AtLeast(1), false),
    ("share.coordinator.threads", Int, Some("1"), AtLeast(1), false),
    ("share.coordinator.write.timeout.ms", Int, Some("5000"), AtLeast(1), false),
    ("share.fetch.purgatory.purge.interval.requests", Int, Some("1000"), Any, false),
];

#[rustfmt::skip]
const TRANSACTIONS: &[Known] = &[
    ("add.partitions.to.txn.retry.backoff.max.ms", Int, Some("100"), AtLeast(0), false),
    ("add.partitions.to.txn.retry.backoff.ms", Int, Some("20"), AtLeast(1), false),
    ("transaction.abort.timed.out.transaction.cleanup.interval.ms", Int, Some("10000"), AtLeast(1), false),
    ("transaction.partition.verification.enable", Boolean, Some("true"), Any, true),
    ("transaction.state.log.load.buffer.size", Int, Some("5242880"), AtLeast(1), false),
    ("transaction.state.log.min.isr", Int, Some("2"), AtLeast(1), false),
    ("transaction.state.log.num.partitions", Int, Some("50"), AtLeast(1), false),
    ("transaction.state.log.replication.factor", Short, Some("3"), AtLeast(1), false),
    ("transaction.state.log.segment.bytes", Int, Some("104857600"), AtLeast(1), false),
];

#[rustfmt::skip]
const TIERS: &[Known] = &[
    ("remote.fetch.max.wait.ms", Int, Some("500"), AtLeast(1), true),
    ("remote.list.offsets.request.timeout.ms", Long, Some("30000"), AtLeast(1), true),
    ("remote.log.index.file.cache.total.size.bytes", Long, Some("1073741824"), AtLeast(1), true),
    ("remote.log.manager.copier.thread.pool.size", Int, Some("10"), AtLeast(1), true),
    ("remote.log.manager.copy.max.bytes.per.second", Long, Some("9223372036854775807"), AtLeast(1), true),
    ("remote.log.manager.copy.quota.window.num", Int, Some("11"), AtLeast(1), false),
    ("remote.log.manager.copy.quota.window.size.seconds", Int, Some("1"), AtLeast(1), false),
    ("remote.log.manager.expiration.thread.pool.size", Int, Some("10"), AtLeast(1), true),
    ("remote.log.manager.fetch.max.bytes.per.second", Long, Some("9223372036854775807"), AtLeast(1), true),
    ("remote.log.manager.fetch.quota.window.num", Int, Some("11"), AtLeast(1), false),
    ("remote.log.manager.fetch.quota.window.size.seconds", Int, Some("1"), AtLeast(1), false),
    ("remote.log.manager.follower.thread.pool.size", Int, Some("2"), AtLeast(1), true),
    ("remote.log.manager.task.interval.ms", Long, Some("30000"), AtLeast(1), false),
    ("remote.log.manager.thread.pool.size", Int, Some("2"), AtLeast(1), false),
    ("remote.log.metadata.custom.metadata.max.bytes", Int, Some("128"), AtLeast(0), false),
    ("remote.log.metadata.manager.class.name", Text, Some("org.apache.kafka.server.log.remote.metadata.storage.TopicBasedRemoteLogMetadataManager"), Any, false),
    ("remote.log.metadata.manager.class.path", Text, None, Any, false),
    ("remote.log.metadata.manager.impl.prefix", Text, Some("rlmm.config."), Any, false),
    ("remote.log.metadata.manager.listener.name", Text, None, Any, false),
    ("remote.log.reader.max.pending.tasks", Int, Some("100"), AtLeast(1), false),
    ("remote.log.reader.threads", Int, Some("10"), AtLeast(1), true),
    ("remote.log.storage.manager.class.name", Text, None, Any, false),
    ("remote.log.storage.manager.class.path", Text, None, Any, false),
    ("remote.log.storage.manager.impl.prefix", Text, Some("rsm.config."), Any, false),
];

#[rustfmt::skip]
const CLEANER: &[Known] = &[
    ("background.threads", Int, Some("10"), AtLeast(1), true),
    ("log.cleaner.backoff.ms", Long, Some("15000"), AtLeast(0), true),
    ("log.cleaner.dedupe.buffer.size", Long, Some("134217728"), Any, true),
    ("log.cleaner.enable", Boolean, Some("true"), Any, false),
    ("log.cleaner.io.buffer.load.factor", Double, Some("0.9"), Any, true),
    ("log.cleaner.io.buffer.size", Int, Some("524288"), AtLeast(0), true),
    ("log.cleaner.io.max.bytes.per.second", Double, Some("1.7976931348623157E308"), Any, true),
    ("log.cleaner.threads", Int, Some("1"), AtLeast(0), true),
    ("log.dir.failure.timeout.ms", Long, Some("30000"), AtLeast(1), false),
    ("log.flush.offset.checkpoint.interval.ms", Int, Some("60000"), AtLeast(0), false),
    ("log.flush.start.offset.checkpoint.interval.ms", Int, Some("60000"), AtLeast(0), false),
    ("num.recovery.threads.per.data.dir", Int, Some("2"), AtLeast(1), true),
];

#[rustfmt::skip]
const SOCKETS: &[Known] = &[
    ("connection.failed.authentication.delay.ms", Int, Some("100"), AtLeast(0), false),
    ("connections.max.reauth.ms", Long, Some("0"), Any, false),
    ("max.connection.creation.rate", Int, Some("2147483647"), AtLeast(0), true),
    ("max.connections.per.ip", Int, Some("2147483647"), AtLeast(0), true),
    ("max.connections.per.ip.overrides", Text, Some(""), Any, true),
    ("max.incremental.fetch.session.cache.slots", Int, Some("1000"), AtLeast(0), false),
    ("num.io.threads", Int, Some("8"), AtLeast(1), true),
    ("num.network.threads", Int, Some("3"), AtLeast(1), true),
    ("principal.builder.class", Class, Some("org.apache.kafka.common.security.authenticator.DefaultKafkaPrincipalBuilder"), Any, true),
    ("queued.max.requests", Int, Some("500"), AtLeast(1), false),
    ("request.timeout.ms", Int, Some("30000"), Any, false),
    ("socket.connection.setup.timeout.max.ms", Long, Some("30000"), Any, false),
    ("socket.connection.setup.timeout.ms", Long, Some("10000"), Any, false),
    ("socket.listen.backlog.size", Int, Some("50"), AtLeast(1), false),
    ("socket.receive.buffer.bytes", Int, Some("102400"), Any, false),
    ("socket.send.buffer.bytes", Int, Some("102400"), Any, false),
];

#[rustfmt::skip]
const PURGATORY: &[Known] = &[
    ("delete.records.purgatory.purge.interval.requests", Int, Some("1"), Any, false),
    ("fetch.purgatory.purge.interval.requests", Int, Some("1000"), Any, false),
    ("producer.purgatory.purge.interval.requests", Int, Some("1000"), Any, false),
];

#[rustfmt::skip]
const METRICS: &[Known] = &[
    ("kafka.metrics.polling.interval.secs", Int, Some("10"), AtLeast(1), false),
    ("kafka.metrics.reporters", List, Some(""), Any, false),
    ("metric.reporters", List, Some("org.apache.kafka.common.metrics.JmxReporter"), Any, true),
    ("metrics.num.samples", Int, Some("2"), AtLeast(1), false),
    ("metrics.recording.level", Text, Some("INFO"), Any, false),
    ("metrics.sample.window.ms", Long, Some("30000"), AtLeast(1), false),
    ("quota.window.num", Int, Some("11"), AtLeast(1), false),
    ("quota.window.size.seconds", Int, Some("1"), AtLeast(1), false),
    ("telemetry.max.bytes", Int, Some("1048576"), AtLeast(1), false),
];
