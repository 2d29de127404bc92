"""Configs: described, changed step by step, and refused."""

import time

from fetch_checks import filled
from harness import Cannot, outcome

SOURCES = {
    1: "DYNAMIC_TOPIC_CONFIG", 2: "DYNAMIC_BROKER_CONFIG", 3: "DYNAMIC_DEFAULT_BROKER_CONFIG", 4: "STATIC_BROKER_CONFIG",
    5: "DEFAULT_CONFIG",
}
PARTS = {
    "values": ["value"],
    "sources": ["source"],
    "types": ["type"],
    "flags": ["read_only", "sensitive"],
    "documented": ["documented"],
    "synonyms": ["synonyms"],
}
NOT_TOLD = {"documented": "documentation", "read_only": "whether it is read-only", "sensitive": "whether it is sensitive"}
BROKER_KEYS = [
    "num.partitions", "default.replication.factor", "auto.create.topics.enable", "message.max.bytes",
    "log.retention.ms", "log.retention.bytes", "log.segment.bytes", "log.cleanup.policy", "compression.type",
    "delete.topic.enable", "transaction.max.timeout.ms", "socket.request.max.bytes",
]


def configs(c, name, kind="topic"):
    """Kafka's own configs; each a dict of what the client tells of it."""
    found = c.ask("configs", kind=kind, name=name)
    return {key: entry for key, entry in found.items() if not key.startswith("streamstack.")}


def part_of(entry, key):
    if key not in entry:
        raise Cannot(f"tell {NOT_TOLD.get(key, key)} of a config")
    if key == "source":
        return SOURCES.get(entry[key], entry[key])
    if key == "synonyms":
        return [f"{name}={value} {SOURCES.get(source, source)}" for name, value, source in entry[key]]
    return entry[key]


def shown(c, name, keys, kind="topic"):
    entries = configs(c, name, kind)
    told = ["value", "source"] if all("source" in entry for entry in entries.values()) else ["value"]
    return {key: [part_of(entries[key], part) for part in told] if key in entries else None for key in keys}


def alter(c, name, changes, kind="topic", **how):
    """`changes`: [config, SET | DELETE | APPEND | SUBTRACT, value]."""
    c.ask("alter", kind=kind, name=name, changes=changes, **how)


def declare(suite):
    declare_descriptions(suite)
    declare_changes(suite)
    declare_broker(suite)


def declare_descriptions(suite):
    for name, keys in PARTS.items():

        @suite.check(f"admin.describe_configs.{name}")
        def described(c, name=name, keys=keys):
            topic = c.create(c.name(f"described-{name}"), configs={"retention.ms": "5000"})
            found = {key: [part_of(entry, k) for k in keys] for key, entry in configs(c, topic).items()}
            return {key: told[0] if len(keys) == 1 else told for key, told in found.items()}

    @suite.check("admin.describe_configs.unknown")
    def unknown(c):
        return outcome(lambda: configs(c, c.name("nowhere")))

    @suite.check("admin.describe_configs.broker")
    def broker(c):
        return shown(c, str(c.ask("cluster")["nodes"][0]), BROKER_KEYS, "broker")


def declare_changes(suite):
    @suite.check("admin.alter_configs")
    def alter_configs(c):
        topic = c.create(c.name("altered"), configs={"retention.ms": "1000"})
        steps = [
            [["retention.ms", "SET", "2000"], ["max.message.bytes", "SET", "5000"]],
            [["retention.ms", "DELETE", None]],
            [["cleanup.policy", "APPEND", "compact"]],
            [["cleanup.policy", "SUBTRACT", "delete"]],
            [["cleanup.policy", "DELETE", None]],
        ]
        seen = []
        for step in steps:
            alter(c, topic, step)
            time.sleep(0.2)
            seen.append(shown(c, topic, ["retention.ms", "max.message.bytes", "cleanup.policy"]))
        return seen

    @suite.check("admin.alter_configs.refused")
    def alter_refused(c):
        topic = c.create(c.name("unaltered"))
        alter(c, topic, [["segment.bytes", "SET", "1073741824"]])

        def tried(changes, name=topic, **how):
            return outcome(lambda: alter(c, name, changes, **how))

        return {
            "unknown_config": tried([["no.such.config", "SET", "1"]]),
            "bad_value": tried([["retention.ms", "SET", "soon"]]),
            "bad_value_and_good": tried([["retention.ms", "SET", "soon"], ["segment.ms", "SET", "7000"]]),
            "append_to_number": tried([["retention.ms", "APPEND", "1"]]),
            "unknown_topic": tried([["retention.ms", "SET", "1"]], c.name("nowhere")),
            "validate_only": tried([["retention.ms", "SET", "7000"]], validate_only=True),
            "then": shown(c, topic, ["retention.ms", "segment.ms"]),
        }

    @suite.check("admin.alter_configs.takes_effect")
    def effect(c):
        topic = c.create(c.name("effect"))
        alter(c, topic, [["max.message.bytes", "SET", "1000"]])
        time.sleep(0.3)
        return outcome(lambda: c.produce(topic, 0, ["x" * 2000], codec="none"))

    @suite.check("admin.legacy_alter_configs")
    def legacy(c):
        topic = c.create(c.name("legacy"), configs={"retention.ms": "1000", "segment.ms": "5000"})
        c.ask("alter_all", topic=topic, configs={"retention.ms": "3000"})
        time.sleep(0.2)
        return shown(c, topic, ["retention.ms", "segment.ms"])


def declare_broker(suite):
    for name, key in [("broker", "log.retention.ms"), ("cluster", "message.max.bytes")]:

        @suite.check(f"admin.alter_configs.{name}")
        def broker_configs(c, name=name, key=key):
            topic, seen = filled(c), []
            inherits = {"log.retention.ms": "retention.ms", "message.max.bytes": "max.message.bytes"}[key]
            target = str(c.ask("cluster")["nodes"][0]) if name == "broker" else ""
            for operation, value in [("SET", "777000"), ("DELETE", None)]:
                alter(c, target, [[key, operation, value]], "broker")
                c.wait_for(lambda: (configs(c, topic)[inherits]["value"] == "777000") == (operation == "SET"), 5)
                seen.append(shown(c, topic, [inherits]))
            return seen
