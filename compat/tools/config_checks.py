"""kafka-configs: described and changed, of topics, of the broker and of all brokers."""

import contextlib

TOPIC = "--entity-type topics --entity-name tools-a"
BROKER = "--entity-type brokers --entity-name 1"
CLUSTER = "--entity-type brokers --entity-default"
GROUP = "--entity-type groups --entity-name tools-configured"

# Configs of our own, and of security, which come with it.
NOT_COMPARED = ("streamstack.", "sasl.", "ssl.", "delegation.token.")

# Kafka stores this for the whole cluster when it is formatted with eligible leader replicas, and shows it with every
# topic from then on.
REPLICAS = "min.insync.replicas"


@contextlib.contextmanager
def replicas_as_formatted(t):
    """Both brokers with that config set for all, so that the tools print the same of both."""
    _, described = t.run(f"kafka-configs --describe {CLUSTER}")
    if any(line.startswith(REPLICAS) for line in described):
        yield
        return
    t.do(f"kafka-configs --alter {CLUSTER} --add-config {REPLICAS}=1")
    yield
    t.do(f"kafka-configs --alter {CLUSTER} --delete-config {REPLICAS}")


def compared(answers):
    return {command: [line for line in lines if not line.startswith(NOT_COMPARED)] for command, lines in answers.items()}


def topic(t):
    return compared(
        t.answers(
            f"kafka-configs --describe {TOPIC}",
            f"kafka-configs --describe {TOPIC} --all",
            "kafka-configs --describe --topic tools-a",
            "kafka-configs --describe --entity-type topics --entity-name tools-zz",
        )
    )


def topic_alter(t):
    return t.answers(
        f"kafka-configs --alter {TOPIC} --add-config max.message.bytes=20000,retention.bytes=1000000",
        f"kafka-configs --alter {TOPIC} --add-config cleanup.policy=[delete,compact]",
        f"kafka-configs --describe {TOPIC}",
        f"kafka-configs --alter {TOPIC} --delete-config max.message.bytes --add-config segment.ms=86400000",
        f"kafka-configs --describe {TOPIC}",
        f"kafka-configs --alter {TOPIC} --delete-config retention.bytes,segment.ms,cleanup.policy",
        f"kafka-configs --describe {TOPIC}",
        f"kafka-configs --alter {TOPIC} --delete-config max.message.bytes",
        f"kafka-configs --alter {TOPIC} --add-config no.such.config=1",
        f"kafka-configs --alter {TOPIC} --add-config max.message.bytes=many",
        f"kafka-configs --alter {TOPIC} --add-config max.message.bytes=-1",
        f"kafka-configs --alter {TOPIC} --add-config cleanup.policy=burn",
        f"kafka-configs --alter {TOPIC} --delete-config no.such.config",
        "kafka-configs --alter --entity-type topics --entity-name tools-zz --add-config retention.ms=1",
    )


def broker(t):
    answers = t.answers(
        f"kafka-configs --describe {BROKER}",
        f"kafka-configs --describe {CLUSTER}",
        "kafka-configs --describe --entity-type brokers --entity-name 7",
    )
    _, lines = t.run(f"kafka-configs --describe {BROKER} --all")
    answers["names with --all"] = sorted(line.partition("=")[0] for line in lines)
    return compared(answers)


def broker_alter(t):
    answers = t.answers(
        f"kafka-configs --alter {CLUSTER} --add-config log.retention.ms=86400000",
        f"kafka-configs --describe {CLUSTER}",
        f"kafka-configs --alter {BROKER} --add-config log.retention.ms=43200000,message.max.bytes=2000000",
        f"kafka-configs --describe {BROKER}",
        f"kafka-configs --describe {TOPIC} --all",
        f"kafka-configs --alter {BROKER} --delete-config log.retention.ms,message.max.bytes",
        f"kafka-configs --alter {CLUSTER} --delete-config log.retention.ms",
        f"kafka-configs --describe {BROKER}",
        f"kafka-configs --describe {CLUSTER}",
        f"kafka-configs --alter {BROKER} --add-config broker.rack=r1",
        f"kafka-configs --alter {BROKER} --add-config no.such.config=1",
        f"kafka-configs --alter {BROKER} --add-config message.max.bytes=many",
        f"kafka-configs --alter {BROKER} --delete-config no.such.config",
        f"kafka-configs --alter {CLUSTER} --delete-config message.max.bytes",
    )
    return compared(answers)


def group(t):
    """Of a group that nobody has joined. (Configs of share and Streams groups can be set on Kafka, and are refused here.)"""
    return t.answers(
        f"kafka-configs --describe {GROUP}",
        f"kafka-configs --describe {GROUP} --all",
        f"kafka-configs --alter {GROUP} --add-config consumer.session.timeout.ms=50000,consumer.heartbeat.interval.ms=6000",
        f"kafka-configs --describe {GROUP}",
        f"kafka-configs --describe {GROUP} --all",
        "kafka-configs --describe --entity-type groups",
        "kafka-configs --describe --group tools-configured",
        f"kafka-configs --alter {GROUP} --add-config consumer.session.timeout.ms=60001",
        f"kafka-configs --alter {GROUP} --add-config consumer.heartbeat.interval.ms=1",
        f"kafka-configs --alter {GROUP} --add-config consumer.heartbeat.interval.ms=many",
        f"kafka-configs --alter {GROUP} --add-config consumer.session.timeout.ms=0",
        f"kafka-configs --alter {GROUP} --add-config no.such.config=1",
        f"kafka-configs --alter {GROUP} --delete-config no.such.config",
        "kafka-configs --alter --entity-type groups --entity-default --add-config consumer.session.timeout.ms=50000",
        f"kafka-configs --alter {GROUP} --delete-config consumer.session.timeout.ms",
        f"kafka-configs --describe {GROUP}",
        f"kafka-configs --alter {GROUP} --delete-config consumer.heartbeat.interval.ms",
        f"kafka-configs --describe {GROUP}",
        "kafka-configs --describe --entity-type groups",
    )


def others(t):
    return t.answers(
        "kafka-configs --describe --entity-type users",
        "kafka-configs --describe --entity-type users --entity-name ann",
        "kafka-configs --describe --entity-type clients",
        "kafka-configs --describe --entity-type ips",
        "kafka-configs --describe --entity-type client-metrics",
        "kafka-client-metrics --list",
    )


CHECKS = [
    ("tools.configs.topic", topic),
    ("tools.configs.topic_alter", topic_alter),
    ("tools.configs.broker", broker),
    ("tools.configs.broker_alter", broker_alter),
    ("tools.configs.group", group),
    ("tools.configs.others", others),
]
