"""Reading from an offset to the end without a group, and offsets by time."""

import time

from client import EARLIEST, LATEST, NEWEST, digest, values
from harness import beside, outcome
from produce_checks import ANY_TIME


def filled(c):
    """A topic of 3 partitions with 100 records each, in batches of 10."""
    topic = c.name("filled")
    if outcome(lambda: c.partitions(topic)) != "ok":
        c.create(topic, partitions=3)
        for p in range(3):
            c.produce(topic, p, [f"p{p}n{n}" for n in range(100)], batch_of=10)
    return topic


def timed(c):
    topic = c.name("timed")
    if outcome(lambda: c.partitions(topic)) != "ok":
        c.create(topic, configs=ANY_TIME)
        c.produce(topic, 0, [{"value": f"at {t}", "timestamp": t} for t in (1000, 2000, 4000, 3000)], batch_of=1)
    return topic


def declare(suite):
    declare_reads(suite)
    declare_offsets(suite)


def declare_reads(suite):
    @suite.check("fetch.to_end")
    def to_end(c):
        topic = filled(c)
        return [[c.bounds(topic, p), digest(c.read(topic, p))] for p in range(3)]

    @suite.check("fetch.middle_of_a_batch")
    def middle(c):
        return values(c.read(filled(c), 0, start=57))[:5]

    @suite.check("fetch.empty")
    def empty(c):
        topic = c.create(c.name("empty"))
        return {"bounds": c.bounds(topic), "read": values(c.read(topic))}

    @suite.check("fetch.out_of_range")
    def out_of_range(c):
        return outcome(lambda: c.read(filled(c), 0, start=1000, count=1))

    @suite.check("fetch.out_of_range.reset")
    def reset(c):
        return values(c.read(filled(c), 0, start=1000, count=1, reset="earliest"))

    @suite.check("fetch.one_byte")
    def one_byte(c):
        return digest(c.read(filled(c), 1, max_bytes=1))

    @suite.check("fetch.read_committed")
    def committed(c):
        return digest(c.read(filled(c), 2, committed=True))

    @suite.check("fetch.waits")
    def waits(c):
        topic = c.create(c.name("waits"))

        def write():
            time.sleep(1)
            c.produce(topic, 0, ["late"])

        found = beside(lambda: values(c.read(topic, start=0, count=1, max_wait_ms=3000)), write)
        return found

    @suite.check("fetch.unknown_topic")
    def unknown(c):
        return outcome(lambda: c.bounds(c.name("nowhere")))


def declare_offsets(suite):
    @suite.check("offsets.for_times")
    def for_times(c):
        topic = timed(c)
        return [c.offset(topic, 0, t) for t in (0, 1000, 1001, 2500, 4000, 4001)]

    for name, special in [("earliest", EARLIEST), ("latest", LATEST), ("newest", NEWEST), ("local", -4), ("tiered", -5)]:

        @suite.check(f"offsets.special_times.{name}")
        def special_time(c, special=special):
            return c.offset(timed(c), 0, special)

    @suite.check("offsets.unknown_topic")
    def unknown(c):
        return outcome(lambda: c.offset(c.name("nowhere"), 0, LATEST))

    @suite.check("offsets.unknown_partition")
    def unknown_partition(c):
        return outcome(lambda: c.offset(filled(c), 77, LATEST))
