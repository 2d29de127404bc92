"""Reading by assign to the end, and offsets by time."""

import threading
import time

from confluent_kafka import TopicPartition
from confluent_kafka.admin import OffsetSpec

from client import digest, only, values
from harness import outcome


def filled(c):
    """A topic of 3 partitions with 100 records each, in batches of 10."""
    topic = c.name("filled")
    if outcome(lambda: c.partitions(topic)) != "ok":
        c.create(topic, partitions=3)
        for p in range(3):
            c.produce(topic, p, [f"p{p}n{n}" for n in range(100)], flush_every=10, **{"linger.ms": 20})
    return topic


def timed(c):
    topic = c.name("timed")
    if outcome(lambda: c.partitions(topic)) != "ok":
        c.create(topic, config={"message.timestamp.before.max.ms": str(2**63 - 1)})
        c.produce(topic, 0, [{"value": f"at {t}", "timestamp": t} for t in (1000, 2000, 4000, 3000)], flush_every=1)
    return topic


def declare(suite):
    @suite.check("fetch.to_end")
    def to_end(c):
        topic = filled(c)
        return [{"bounds": c.bounds(topic, p), "read": digest(c.read(topic, p))} for p in range(3)]

    @suite.check("fetch.all_partitions_at_once")
    def at_once(c):
        topic, consumer = filled(c), c.consumer()
        consumer.assign([TopicPartition(topic, p, 0) for p in range(3)])
        found = c.drain(consumer, 300, 20)
        consumer.close()
        return [digest([m for m in found if m.partition() == p]) for p in range(3)]

    @suite.check("fetch.middle_of_a_batch")
    def middle(c):
        return values(c.read(filled(c), 0, start=57))[:5]

    @suite.check("fetch.empty")
    def empty(c):
        topic = c.create(c.name("empty"))
        return {"bounds": c.bounds(topic), "read": values(c.read(topic))}

    @suite.check("fetch.out_of_range")
    def out_of_range(c):
        topic = filled(c)

        def refused():
            c.read(topic, 0, start=1000)

        reset = c.read(topic, 0, start=1000, until=1, **{"auto.offset.reset": "earliest"})
        return {"none": outcome(refused), "earliest": values(reset)}

    @suite.check("fetch.one_byte")
    def one_byte(c):
        return digest(c.read(filled(c), 1, **{"max.partition.fetch.bytes": 1}))

    @suite.check("fetch.read_committed")
    def committed(c):
        return digest(c.read(filled(c), 2, **{"isolation.level": "read_committed"}))

    @suite.check("fetch.waits")
    def waits(c):
        topic = c.create(c.name("waits"))
        found = []
        reader = threading.Thread(target=lambda: found.extend(c.read(topic, start=0, until=1, **{"fetch.wait.max.ms": 5000})))
        reader.start()
        time.sleep(1)
        c.produce(topic, 0, ["late"])
        reader.join()
        return values(found)

    @suite.check("fetch.unknown_topic")
    def unknown(c):
        return outcome(lambda: c.bounds(c.name("nowhere")))

    @suite.check("offsets.for_times")
    def for_times(c):
        topic, consumer = timed(c), c.consumer()
        wanted = [0, 1000, 1001, 2500, 4000, 4001]
        found = [consumer.offsets_for_times([TopicPartition(topic, 0, t)], timeout=20)[0].offset for t in wanted]
        consumer.close()
        return found

    @suite.check("offsets.admin")
    def admin_offsets(c):
        specs = {
            "earliest": OffsetSpec.earliest(),
            "latest": OffsetSpec.latest(),
            "max_timestamp": OffsetSpec.max_timestamp(),
            "2500": OffsetSpec.for_timestamp(2500),
        }
        partition = TopicPartition(timed(c), 0)
        found = {name: only(c.admin.list_offsets({partition: spec})) for name, spec in specs.items()}
        return {name: [result.offset, result.timestamp] for name, result in found.items()}

    @suite.check("offsets.unknown_topic")
    def offsets_unknown(c):
        partition = TopicPartition(c.name("nowhere"), 0)
        return outcome(lambda: only(c.admin.list_offsets({partition: OffsetSpec.latest()})))
