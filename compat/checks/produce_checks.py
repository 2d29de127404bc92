"""Producing: codecs, acks, headers, timestamps, sizes, and what a broker refuses."""

import time

from client import digest, values
from harness import outcome

ANY_TIME = {"message.timestamp.before.max.ms": str(2**63 - 1)}
# Batch head 61, record head and lengths 11 for a value of this size and no key.
OVERHEAD = 72


def declare(suite):
    declare_records(suite)
    declare_sizes(suite)
    declare_acks(suite)
    declare_refusals(suite)


def declare_records(suite):
    @suite.check("produce.idempotent")
    def idempotent(c):
        topic = c.create(c.name("idempotent"), partitions=3)
        offsets = [c.produce(topic, p, [f"p{p}n{n}" for n in range(10)], idempotent=True) for p in range(3)]
        return {"offsets": offsets, "read": [values(c.read(topic, p)) for p in range(3)]}

    for codec in ["none", "gzip", "snappy", "lz4", "zstd"]:

        @suite.check(f"produce.codec.{codec}")
        def compressed(c, codec=codec):
            topic = c.create(c.name(f"codec-{codec}"))
            records = [{"key": f"k{n}", "value": f"{n}:" + "compressible " * 40} for n in range(40)]
            c.produce(topic, 0, records, codec=codec)
            return digest(c.read(topic))

    @suite.check("produce.headers")
    def headers(c):
        topic = c.create(c.name("headers"))
        given = [["a", "1"], ["a", "2"], ["empty", ""], ["", "no name"], ["a", "1"]]
        c.produce(topic, 0, [{"value": "v", "headers": given}, {"value": "plain"}])
        null = outcome(lambda: c.produce(topic, 0, [{"value": "v", "headers": [["a", "1"], ["null", None]]}]))
        return {"read": [r["headers"] for r in c.read(topic)], "null": null}

    @suite.check("produce.null_and_empty")
    def nothing(c):
        topic = c.create(c.name("nothing"))
        given = [{"key": k, "value": v} for k in ("k", None, "") for v in ("v", None, "")]
        sent = {str(record): outcome(lambda: c.produce(topic, 0, [record])) for record in given}
        return {**sent, "read": [[r["key"], r["value"]] for r in c.read(topic)]}

    @suite.check("produce.timestamps")
    def timestamps(c):
        topic = c.create(c.name("timestamps"), configs=ANY_TIME)
        c.produce(topic, 0, [{"value": "v", "timestamp": t} for t in (1000, 5000, 3000)])
        return [[r.get("timestamp_type"), r["timestamp"]] for r in c.read(topic)]

    @suite.check("produce.log_append_time")
    def log_append_time(c):
        topic = c.create(c.name("append-time"), configs={"message.timestamp.type": "LogAppendTime"})
        c.produce(topic, 0, [{"value": "v", "timestamp": t} for t in (1000, 5000)])
        now = time.time() * 1000
        return [[r.get("timestamp_type"), abs(now - r["timestamp"]) < 60_000] for r in c.read(topic)]

    @suite.check("produce.many")
    def many(c):
        topic = c.create(c.name("many"))
        c.produce(topic, 0, [{"key": f"k{n}", "value": f"{n}-" + "x" * 200} for n in range(5000)])
        return digest(c.read(topic))

    @suite.check("produce.big_batches")
    def big(c):
        topic = c.create(c.name("big"), configs={"max.message.bytes": "10000000"})
        records = [{"key": f"k{n}", "value": str(n % 10) * 100_000} for n in range(45)]
        c.produce(topic, 0, records, batch_of=15, codec="none", max_bytes=8_000_000)
        return digest(c.read(topic, max_bytes=8_000_000))


def declare_sizes(suite):
    for name, limit in [("default", 1_048_588), ("small", 20_000)]:

        @suite.check(f"produce.max_message_bytes.{name}")
        def sized(c, name=name, limit=limit):
            configs = {} if name == "default" else {"max.message.bytes": str(limit)}
            topic = c.create(c.name(f"size-{name}"), configs=configs)

            def send(size):
                return outcome(lambda: c.produce(topic, 0, ["x" * size], codec="none", max_bytes=4_000_000))

            fits = limit - OVERHEAD
            return {"at": send(fits), "over": send(fits + 1), "read": [len(r["value"]) - fits for r in c.read(topic)]}


def declare_acks(suite):
    for acks, name in [(0, "0"), (1, "1"), (-1, "all")]:

        @suite.check(f"produce.acks_{name}")
        def acknowledged(c, acks=acks, name=name):
            topic = c.create(c.name(f"acks-{name}"))
            c.produce(topic, 0, ["a", "b"], acks=acks, idempotent=False)
            return values(c.read(topic, start=0, count=2))

    @suite.check("produce.auto_create")
    def auto_create(c):
        topic = c.name("auto")
        # kafka-go leaves it to the user to try again until Kafka has made the topic.
        c.wait_for(lambda: c.produce(topic, 0, ["v"], auto_create=True))
        return {"partitions": c.partitions(topic), "read": values(c.read(topic))}


def declare_refusals(suite):
    @suite.check("produce.compacted_null_key")
    def null_key(c):
        topic = c.create(c.name("compacted"), configs={"cleanup.policy": "compact"})
        keyed = outcome(lambda: c.produce(topic, 0, [{"key": "k", "value": "v"}]))
        return {"keyed": keyed, "unkeyed": outcome(lambda: c.produce(topic, 0, ["v"]))}

    @suite.check("produce.timestamp_too_old")
    def too_old(c):
        topic = c.create(c.name("too-old"), configs={"message.timestamp.before.max.ms": "3600000"})
        return outcome(lambda: c.produce(topic, 0, [{"value": "v", "timestamp": 1000}]))
