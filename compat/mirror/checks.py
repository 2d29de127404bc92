"""checks.py BOOTSTRAP SUITE PREFIX [PART OF A NAME]: MirrorMaker from Apache Kafka into a broker, one JSON line a check.

COMPAT_KAFKA is the address of that Apache Kafka. It is mirrored into itself as well: that is what the answers are compared with.
"""

import os
from collections import defaultdict

from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import NewPartitions
from mirrormaker import POLL, MirrorMaker
from suite import run
from topics import WAIT_S, Reader, admin, alter, configs, create, flush, manifests, num_partitions, producer, read_all

KAFKA = os.environ.get("COMPAT_KAFKA")
CONFIGS = {"cleanup.policy": "compact", "max.message.bytes": "123456", "retention.ms": "987654321"}
PARTITIONS, GROWN = 3, 4
FIRST, SECOND, TRANSACTION = 2400, 300, 50


class Mirrored:
    """A topic and a group at Kafka, and what comes of them in the other cluster; the names are this run's alone."""

    def __init__(self, at):
        self.at, self.sent = at, 0
        # Brokers that are mirrored into at the same time have the same prefix.
        self.alias = at.name(at.bootstrap.rpartition(":")[2])
        self.topic, self.group = f"{self.alias}-orders", f"{self.alias}-readers"
        self.mirror = f"{self.alias}.{self.topic}"
        create(KAFKA, self.topic, PARTITIONS, **CONFIGS)

    def start(self):
        return MirrorMaker(self.at, self.alias, KAFKA, self.topic, self.group)

    def send(self, count, partitions):
        """With headers or without, some without a value, committed in transactions; an aborted one before each."""
        sender = producer(KAFKA, **{"transactional.id": self.topic, "compression.type": "lz4"})
        sender.init_transactions(WAIT_S)
        for first in range(self.sent, self.sent + count, TRANSACTION):
            for what, end in (("aborted", sender.abort_transaction), ("value", sender.commit_transaction)):
                sender.begin_transaction()
                for n in range(first, first + TRANSACTION):
                    sender.produce(self.topic, **record(n, what), partition=n % partitions)
                flush(sender)
                end(WAIT_S)
        self.sent += count

    def group_reads_all(self):
        """As a consumer that has read to the end."""
        consumer = Consumer({"bootstrap.servers": KAFKA, "group.id": self.group})
        try:
            places = [TopicPartition(self.topic, part) for part in range(num_partitions(KAFKA, self.topic))]
            ends = [TopicPartition(at.topic, at.partition, consumer.get_watermark_offsets(at, timeout=WAIT_S)[1]) for at in places]
            consumer.commit(offsets=ends, asynchronous=False)
        finally:
            consumer.close()

    def left_for_the_group(self):
        """How many records it would still read from its position in the other cluster; all where it has none."""
        consumer = Consumer({"bootstrap.servers": self.at.bootstrap, "group.id": self.group})
        try:
            places = [TopicPartition(self.mirror, part) for part in range(num_partitions(self.at.bootstrap, self.mirror))]
            positions = {at.partition: at.offset for at in consumer.committed(places, timeout=WAIT_S)}
        finally:
            consumer.close()
        return sum(row.offset() >= positions[row.partition()] for row in read_all(self.at.bootstrap, self.mirror))

    def configs(self, bootstrap, topic):
        return configs(bootstrap, topic, CONFIGS)

    def is_equal(self):
        return contents(KAFKA, self.topic) == contents(self.at.bootstrap, self.mirror)


def record(n, what):
    headers = [("number", str(n).encode()), ("nothing", None)] if n % 3 == 0 else []
    value = None if n % 10 == 9 and what == "value" else f"{what} {n}"
    return {"key": f"key {n}", "value": value, "headers": headers, "timestamp": 1_700_000_000_000 + n}


def contents(bootstrap, topic):
    """By partition, in order; offsets differ, since markers take some."""
    found = defaultdict(list)
    for row in read_all(bootstrap, topic):
        found[row.partition()].append((row.key(), row.value(), row.headers(), row.timestamp()))
    return found


def exactly_once(at):
    """Records, configs, partitions and a group's positions, though MirrorMaker is killed at work."""
    here = Mirrored(at)
    here.send(FIRST, PARTITIONS)
    maker = here.start()
    try:
        maker.wait_until("the topic is made", lambda: num_partitions(at.bootstrap, here.mirror) == PARTITIONS)
        with Reader(at.bootstrap, here.mirror) as reader:
            reader.until("first records", lambda rows: len(rows) >= POLL, maker.must_live)
            maker.kill()
            maker = here.start()
            reader.until("all records", lambda rows: len(rows) >= FIRST, maker.must_live)
        answer = {"equal": here.is_equal(), "configs": here.configs(at.bootstrap, here.mirror)}
        here.group_reads_all()
        maker.wait_until("the group is at the end", lambda: here.left_for_the_group() == 0)
        alter(KAFKA, here.topic, "retention.ms", "123456789")
        admin(KAFKA).create_partitions([NewPartitions(here.topic, GROWN)])[here.topic].result(WAIT_S)
        maker.wait_until("the topic has grown", lambda: num_partitions(at.bootstrap, here.mirror) == GROWN)
        here.send(SECOND, GROWN)
        with Reader(at.bootstrap, here.mirror) as reader:
            reader.until("all records", lambda rows: len(rows) >= FIRST + SECOND, maker.must_live)
        answer["left for the group"] = here.left_for_the_group()
        here.group_reads_all()
        maker.wait_until("the group is at the end", lambda: here.left_for_the_group() == 0)
        changed = here.configs(KAFKA, here.topic)
        maker.wait_until("the config has changed", lambda: here.configs(at.bootstrap, here.mirror) == changed)
    finally:
        maker.stop()
    return {**answer, "equal at last": here.is_equal(), "changed": here.configs(at.bootstrap, here.mirror)}


def commits(at):
    """Each poll of MirrorMaker is a transaction, and so it is a commit of the mirrored feed."""
    here = Mirrored(at)
    here.send(SECOND, PARTITIONS)
    maker = here.start()
    try:
        maker.wait_until("the topic is made", lambda: num_partitions(at.bootstrap, here.mirror) == PARTITIONS)
        with Reader(at.bootstrap, here.mirror) as reader:
            reader.until("all records", lambda rows: len(rows) >= SECOND, maker.must_live)
    finally:
        maker.stop()
    history = manifests(at.bootstrap, here.mirror)
    offsets = f"mm2-offsets.{here.alias}.internal"
    return {
        "equal": here.is_equal(),
        "numbers are dense": [m["commit"] for m in history] == list(range(len(history))),
        "kinds": sorted({m["kind"] for m in history}),
        "records": sum(m["records"] for m in history),
        "none is more than a poll": all(0 < m["records"] <= POLL for m in history),
        "with what was read in it": all(offsets in [row["feed"] for row in m["siblings"]] for m in history),
    }


run({
    "kafka": {"mirror.exactly_once": exactly_once},
    "feed": {"feed.mirror.commits": commits},
})
