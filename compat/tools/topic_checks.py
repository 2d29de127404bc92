"""kafka-topics: made, listed, described, given partitions, deleted; and what is refused."""


def create(t):
    return t.answers(
        "kafka-topics --create --topic tools-a --partitions 3"
        " --config retention.ms=86400000 --config cleanup.policy=compact,delete",
        "kafka-topics --create --topic tools-b",
        "kafka-topics --create --topic tools-c --replica-assignment 1,1",
        "kafka-topics --create --topic tools-b --if-not-exists",
        "kafka-topics --create --topic tools.dot_line",
        "kafka-topics --describe --topic tools-a",
        "kafka-topics --describe --topic tools-b",
        "kafka-topics --describe --topic tools-c",
    )


def create_refused(t):
    return t.answers(
        "kafka-topics --create --topic tools-b",
        "kafka-topics --create --topic 'tools b'",
        "kafka-topics --create --topic ..",
        "kafka-topics --create --topic " + "x" * 250,
        "kafka-topics --create --topic tools_dot_line",
        "kafka-topics --create --topic tools-x --partitions 0",
        "kafka-topics --create --topic tools-x --partitions -3",
        "kafka-topics --create --topic tools-x --replication-factor 0",
        "kafka-topics --create --topic tools-x --replica-assignment 7",
        "kafka-topics --create --topic tools-x --replica-assignment 1:7",
        "kafka-topics --create --topic tools-x --config retention.ms=soon",
        "kafka-topics --create --topic tools-x --config cleanup.policy=burn",
        "kafka-topics --create --topic tools-x --config no.such.config=1",
        "kafka-topics --create --topic tools-x --config segment.bytes=1",
    )


def name_of_a_view(t):
    answers = t.answers("kafka-topics --create --topic tools-a..feed")
    t.do("kafka-topics --delete --topic tools-a..feed --if-exists")
    return answers


def three_replicas(t):
    answers = t.answers("kafka-topics --create --topic tools-x --replication-factor 3")
    t.do("kafka-topics --delete --topic tools-x --if-exists")
    return answers


def listed(t):
    return t.answers(
        "kafka-topics --list --topic tools.*",
        "kafka-topics --list --topic tools.* --exclude-internal",
        "kafka-topics --list --topic nothing-like-it",
    )


def describe(t):
    return t.answers(
        "kafka-topics --describe --topic tools-[ac]",
        "kafka-topics --describe --topic tools-zz",
        "kafka-topics --describe --topic tools-zz --if-exists",
        "kafka-topics --describe --topic tools.* --topics-with-overrides",
        "kafka-topics --describe --topic tools.* --under-replicated-partitions",
        "kafka-topics --describe --topic tools.* --unavailable-partitions",
        "kafka-topics --describe --topic tools.* --under-min-isr-partitions",
        "kafka-topics --describe --topic tools.* --at-min-isr-partitions",
        "kafka-topics --describe --topic-id AAAAAAAAAAAAAAAAAAAAAQ",
        "kafka-topics --describe --topic-id nonsense",
    )


def describe_by_id(t):
    _, output = t.raw("kafka-topics --describe --topic tools-b")
    topic_id = output.partition("TopicId: ")[2].split()[0]
    exit_code, lines = t.run(f"kafka-topics --describe --topic-id {topic_id}")
    return [exit_code, *lines]


def alter(t):
    return t.answers(
        "kafka-topics --alter --topic tools-b --partitions 3",
        "kafka-topics --describe --topic tools-b",
        "kafka-topics --alter --topic tools-b --partitions 3",
        "kafka-topics --alter --topic tools-b --partitions 2",
        "kafka-topics --alter --topic tools-b --partitions 5 --replica-assignment 1,1,1,1,1",
        "kafka-topics --alter --topic tools-b --partitions 6 --replica-assignment 1,1,1,1,1,7",
        "kafka-topics --alter --topic tools-zz --partitions 3",
        "kafka-topics --alter --topic tools-zz --partitions 3 --if-exists",
        "kafka-topics --describe --topic tools-b",
    )


def delete(t):
    return t.answers(
        "kafka-topics --delete --topic tools-c",
        "kafka-topics --delete --topic tools-c",
        "kafka-topics --delete --topic tools-c --if-exists",
        "kafka-topics --delete --topic tools.dot_line",
        "kafka-topics --list --topic tools.*",
    )


CHECKS = [
    ("tools.topics.create", create),
    ("tools.topics.create_refused", create_refused),
    ("tools.topics.name_of_a_view", name_of_a_view),
    ("tools.topics.three_replicas", three_replicas),
    ("tools.topics.list", listed),
    ("tools.topics.describe", describe),
    ("tools.topics.describe_by_id", describe_by_id),
    ("tools.topics.alter", alter),
    ("tools.topics.delete", delete),
]
