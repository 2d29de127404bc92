"""Topics, configs and the cluster through the admin client."""

from confluent_kafka import TopicCollection
from confluent_kafka.admin import (
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ConfigSource,
    NewTopic,
    ResourceType,
)

from client import only, values
from harness import outcome

SOURCES = {source.value: source.name for source in ConfigSource}
BROKER_KEYS = [
    "num.partitions", "default.replication.factor", "auto.create.topics.enable", "message.max.bytes",
    "log.retention.ms", "log.retention.bytes", "log.segment.bytes", "log.cleanup.policy", "compression.type",
    "delete.topic.enable", "transaction.max.timeout.ms", "socket.request.max.bytes",
]


def described(c, topic):
    """One topic of DescribeTopicPartitions or Metadata."""
    return only(c.admin.describe_topics(TopicCollection([topic])))


def shape(c, topic):
    found = described(c, topic)
    return [[p.id, len(p.replicas), len(p.isr), p.leader is not None] for p in found.partitions]


def configs(c, topic, kind=ResourceType.TOPIC):
    return only(c.admin.describe_configs([ConfigResource(kind, topic)]))


def shown(entries, names):
    return {n: [entries[n].value, SOURCES[entries[n].source]] if n in entries else None for n in names}


def kafkas(entries):
    return {name: entry for name, entry in entries.items() if not name.startswith("streamstack.")}


def alter(c, name, changes, kind=ResourceType.TOPIC, **options):
    """`changes`: (config, operation, value)."""
    entries = [
        ConfigEntry(n, v, incremental_operation=AlterConfigOpType[op]) for n, op, v in changes
    ]
    only(c.admin.incremental_alter_configs([ConfigResource(kind, name, incremental_configs=entries)], **options))


def declare(suite):
    declare_topics(suite)
    declare_configs(suite)
    declare_cluster(suite)


def declare_topics(suite):
    @suite.check("admin.create")
    def create(c):
        topic = c.create(c.name("made"), 4, {"retention.ms": "1000000", "cleanup.policy": "compact"})
        return {"shape": shape(c, topic), "configs": shown(configs(c, topic), ["retention.ms", "cleanup.policy"])}

    @suite.check("admin.create_defaults")
    def create_defaults(c):
        return shape(c, c.create(c.name("defaults"), -1, replicas=-1, wait=False) and waited(c, c.name("defaults")))

    @suite.check("admin.create_exists")
    def create_exists(c):
        topic = c.create(c.name("exists"))
        return {
            "same": outcome(lambda: c.create(topic)),
            "bad_replication": outcome(lambda: c.create(topic, replicas=9999)),
            "bad_partitions": outcome(lambda: c.create(topic, 0)),
            "validate_only": outcome(lambda: c.create(topic, validate_only=True)),
        }

    @suite.check("admin.create_bad_names")
    def bad_names(c):
        names = {"dot": ".", "dots": "..", "slash": "a/b", "space": "a b", "umlaut": "ä", "long": "x" * 250}
        return {what: outcome(lambda: c.create(name)) for what, name in names.items()}

    @suite.check("admin.create_longest_name")
    def longest(c):
        topic = c.create(c.name("x") + "x" * (249 - len(c.name("x"))))
        return len(topic)

    @suite.check("admin.create_colliding_name")
    def colliding(c):
        c.create(c.name("a.b"))
        return outcome(lambda: c.create(c.name("a_b")))

    @suite.check("admin.create_bad_counts")
    def bad_counts(c):
        return {
            "partitions_0": outcome(lambda: c.create(c.name("none"), 0)),
            "replication_0": outcome(lambda: c.create(c.name("none"), 1, replicas=0)),
        }

    @suite.check("admin.create_replication_3")
    def replication_3(c):
        return outcome(lambda: c.create(c.name("three"), replicas=3))

    @suite.check("admin.create_bad_configs")
    def bad_configs(c):
        bad = {
            "unknown": {"no.such.config": "1"},
            "not_a_number": {"retention.ms": "soon"},
            "below_range": {"max.message.bytes": "-1"},
            "not_in_set": {"cleanup.policy": "burn"},
            "not_a_bool": {"preallocate": "perhaps"},
        }
        return {what: outcome(lambda: c.create(c.name("bad"), config=config)) for what, config in bad.items()}

    @suite.check("admin.create_validate_only")
    def validate_only(c):
        topic = c.name("validated")
        return {
            "good": outcome(lambda: c.create(topic, validate_only=True, wait=False)),
            "bad": outcome(lambda: c.create(topic, 0, validate_only=True, wait=False)),
            "there": outcome(lambda: c.partitions(topic)),
        }

    @suite.check("admin.create_assignment")
    def assignment(c):
        node = only({"": c.admin.describe_cluster()}).nodes[0].id

        def assigned(name, replicas):
            new = NewTopic(c.name(name), len(replicas), replica_assignment=replicas)
            return outcome(lambda: only(c.admin.create_topics([new])))

        good = assigned("assigned", [[node], [node]])
        return {"good": good, "shape": shape(c, waited(c, c.name("assigned"))), "no_broker": assigned("away", [[999]])}

    @suite.check("admin.delete")
    def delete(c):
        topic = c.create(c.name("deleted"))
        c.produce(topic, 0, ["old"])
        first = outcome(lambda: c.delete(topic))
        c.wait_for(lambda: outcome(lambda: c.partitions(topic)) != "ok")
        return {"delete": first, "then": outcome(lambda: c.partitions(topic)), "again": outcome(lambda: c.delete(topic))}

    @suite.check("admin.delete_and_create_again")
    def again(c):
        topic = c.create(c.name("again"), 2)
        c.produce(topic, 0, ["old", "older"])
        c.delete(topic)
        c.wait_for(lambda: outcome(lambda: c.create(topic)) == "ok")
        c.produce(topic, 0, ["new"])
        return {"bounds": c.bounds(topic), "read": values(c.read(topic)), "shape": shape(c, topic)}

    @suite.check("admin.create_partitions")
    def create_partitions(c):
        topic = c.create(c.name("grown"), 2)
        c.produce(topic, 1, ["before"])
        c.grow(topic, 5)
        c.wait_for(lambda: c.partitions(topic) == 5)
        c.produce(topic, 4, ["after"])
        return {"shape": shape(c, topic), "read": [values(c.read(topic, p)) for p in (1, 4)]}

    @suite.check("admin.create_partitions_refused")
    def refused_partitions(c):
        topic = c.create(c.name("not-grown"), 3)
        return {
            "less": outcome(lambda: c.grow(topic, 2)),
            "same": outcome(lambda: c.grow(topic, 3)),
            "unknown": outcome(lambda: c.grow(c.name("nowhere"), 3)),
            "validate_only": outcome(lambda: c.grow(topic, 4, validate_only=True)),
            "then": c.partitions(topic),
        }

    @suite.check("admin.describe_unknown")
    def describe_unknown(c):
        return outcome(lambda: described(c, c.name("nowhere")))

    @suite.check("admin.list_topics")
    def list_topics(c):
        for topic in ("listed-1", "listed-2"):
            c.create(c.name(topic))
        return sorted(t for t in c.admin.list_topics(timeout=20).topics if t.startswith(c.name("listed")))


def declare_configs(suite):
    @suite.check("admin.describe_configs")
    def describe(c):
        entries = kafkas(configs(c, c.create(c.name("described"))))
        return {n: [e.value, SOURCES[e.source], e.is_read_only, e.is_sensitive] for n, e in entries.items()}

    @suite.check("admin.describe_configs.synonyms")
    def synonyms(c):
        entries = kafkas(configs(c, c.create(c.name("synonyms"), config={"retention.ms": "5000"})))
        return {n: [[s.name, s.value, SOURCES[s.source]] for s in e.synonyms.values()] for n, e in entries.items()}

    @suite.check("admin.describe_configs.broker")
    def broker(c):
        node = str(only({"": c.admin.describe_cluster()}).nodes[0].id)
        return shown(configs(c, node, ResourceType.BROKER), BROKER_KEYS)

    @suite.check("admin.describe_configs.unknown")
    def unknown(c):
        return outcome(lambda: configs(c, c.name("nowhere")))

    @suite.check("admin.alter_configs")
    def alter_configs(c):
        topic = c.create(c.name("altered"), config={"retention.ms": "1000"})
        steps = [
            [("retention.ms", "SET", "2000"), ("max.message.bytes", "SET", "5000")],
            [("retention.ms", "DELETE", None)],
            [("cleanup.policy", "APPEND", "compact")],
            [("cleanup.policy", "SUBTRACT", "delete")],
            [("cleanup.policy", "DELETE", None)],
        ]
        names, seen = ["retention.ms", "max.message.bytes", "cleanup.policy"], []
        for step in steps:
            done = outcome(lambda: alter(c, topic, step))
            c.wait_for(lambda: False, 0.2)
            seen.append([done, shown(configs(c, topic), names)])
        return seen

    @suite.check("admin.alter_configs.refused")
    def alter_refused(c):
        topic = c.create(c.name("unaltered"))

        def tried(changes, name=topic, **options):
            return outcome(lambda: alter(c, name, changes, **options))

        return {
            "unknown_config": tried([("no.such.config", "SET", "1")]),
            "bad_value": tried([("retention.ms", "SET", "soon")]),
            "bad_value_and_good": tried([("retention.ms", "SET", "soon"), ("segment.ms", "SET", "7000")]),
            "append_to_number": tried([("retention.ms", "APPEND", "1")]),
            "unknown_topic": tried([("retention.ms", "SET", "1")], c.name("nowhere")),
            "validate_only": tried([("retention.ms", "SET", "7000")], validate_only=True),
            "then": shown(configs(c, topic), ["retention.ms", "segment.ms"]),
        }

    @suite.check("admin.alter_configs.broker")
    def broker_configs(c):
        topic, seen = c.create(c.name("inherits")), []
        node = str(only({"": c.admin.describe_cluster()}).nodes[0].id)
        for operation, value in [("SET", "777000"), ("DELETE", None)]:
            alter(c, node, [("log.retention.ms", operation, value)], ResourceType.BROKER)
            wanted = value or "604800000"
            c.wait_for(lambda: configs(c, topic)["retention.ms"].value == wanted, 5)
            seen.append(shown(configs(c, topic), ["retention.ms"]))
        return seen

    @suite.check("admin.alter_configs.takes_effect")
    def effect(c):
        topic = c.create(c.name("effect"))
        alter(c, topic, [("max.message.bytes", "SET", "1000")])
        c.wait_for(lambda: False, 0.3)
        return outcome(lambda: c.produce(topic, 0, ["x" * 2000]))

    @suite.check("admin.legacy_alter_configs")
    def legacy(c):
        topic = c.create(c.name("legacy"), config={"retention.ms": "1000", "segment.ms": "5000"})
        only(c.admin.alter_configs([ConfigResource(ResourceType.TOPIC, topic, set_config={"retention.ms": "3000"})]))
        c.wait_for(lambda: False, 0.2)
        return shown(configs(c, topic), ["retention.ms", "segment.ms"])


def declare_cluster(suite):
    @suite.check("admin.describe_cluster")
    def describe_cluster(c):
        found = only({"": c.admin.describe_cluster()})
        return {
            "nodes": len(found.nodes),
            "controller_is_a_node": found.controller.id in [n.id for n in found.nodes],
            "cluster_id": bool(found.cluster_id),
            "host": found.nodes[0].host,
        }

    @suite.check("admin.metadata")
    def metadata(c):
        found = c.admin.list_topics(timeout=20)
        return {"brokers": len(found.brokers), "controller": found.controller_id in found.brokers, "id": bool(found.cluster_id)}


def waited(c, topic):
    c.wait_for(lambda: c.partitions(topic) > 0)
    return topic
