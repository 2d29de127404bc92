"""Producing: codecs, headers, timestamps, sizes, and what a broker refuses."""

import time

from confluent_kafka import TIMESTAMP_CREATE_TIME, TIMESTAMP_LOG_APPEND_TIME

from client import digest, text, values
from harness import outcome

TIME_TYPES = {TIMESTAMP_CREATE_TIME: "CreateTime", TIMESTAMP_LOG_APPEND_TIME: "LogAppendTime"}
# Batch head 61, record head and lengths 11 for a value of this size and no key.
OVERHEAD = 72


def declare(suite):
    @suite.check("produce.idempotent")
    def idempotent(c):
        topic = c.create(c.name("idempotent"), partitions=3)
        offsets = [c.produce(topic, p, [f"p{p}n{n}" for n in range(10)]) for p in range(3)]
        return {"offsets": offsets, "read": [values(c.read(topic, p)) for p in range(3)]}

    for codec in ["none", "gzip", "snappy", "lz4", "zstd"]:

        @suite.check(f"produce.codec.{codec}")
        def compressed(c, codec=codec):
            topic = c.create(c.name(f"codec-{codec}"))
            records = [{"key": f"k{n}", "value": f"{n}:" + "compressible " * 40} for n in range(40)]
            c.produce(topic, 0, records, **{"compression.type": codec, "linger.ms": 50})
            return digest(c.read(topic))

    @suite.check("produce.headers")
    def headers(c):
        topic = c.create(c.name("headers"))
        given = [("a", b"1"), ("b", None), ("a", b"2"), ("empty", b""), ("", b"no name"), ("a", b"1")]
        c.produce(topic, 0, [{"value": "v", "headers": given}, {"value": "plain"}])
        return [[[k, text(v)] for k, v in m.headers() or []] for m in c.read(topic)]

    @suite.check("produce.null_and_empty")
    def nothing(c):
        topic = c.create(c.name("nothing"))
        c.produce(topic, 0, [{"key": k, "value": v} for k in ("k", None, "") for v in ("v", None, "")])
        return [[text(m.key()), text(m.value())] for m in c.read(topic)]

    @suite.check("produce.timestamps")
    def timestamps(c):
        topic = c.create(c.name("timestamps"), config={"message.timestamp.before.max.ms": str(2**63 - 1)})
        c.produce(topic, 0, [{"value": "v", "timestamp": t} for t in (1000, 5000, 3000)])
        return [[TIME_TYPES[m.timestamp()[0]], m.timestamp()[1]] for m in c.read(topic)]

    @suite.check("produce.log_append_time")
    def log_append_time(c):
        topic = c.create(c.name("append-time"), config={"message.timestamp.type": "LogAppendTime"})
        c.produce(topic, 0, [{"value": "v", "timestamp": t} for t in (1000, 5000)])
        found = [m.timestamp() for m in c.read(topic)]
        now = time.time() * 1000
        return {"types": [TIME_TYPES[t[0]] for t in found], "now": all(abs(now - t[1]) < 60_000 for t in found)}

    for name, limit in [("default", 1_048_588), ("small", 20_000)]:

        @suite.check(f"produce.max_message_bytes.{name}")
        def sized(c, name=name, limit=limit):
            config = {} if name == "default" else {"max.message.bytes": str(limit)}
            topic = c.create(c.name(f"size-{name}"), config=config)
            big = {"message.max.bytes": 4_000_000}

            def send(size):
                return outcome(lambda: c.produce(topic, 0, ["x" * size], **big))

            fits = limit - OVERHEAD
            return {"at": send(fits), "over": send(fits + 1), "read": [len(m.value()) - fits for m in c.read(topic)]}

    for acks in ["0", "1"]:

        @suite.check(f"produce.acks_{acks}")
        def acknowledged(c, acks=acks):
            topic = c.create(c.name(f"acks-{acks}"))
            c.produce(topic, 0, ["a", "b"], **{"acks": acks, "enable.idempotence": False})
            return values(c.read(topic, start=0, until=2))

    @suite.check("produce.auto_create")
    def auto_create(c):
        topic = c.name("auto")
        c.produce(topic, 0, ["v"])
        return {"partitions": c.partitions(topic), "read": values(c.read(topic))}

    @suite.check("produce.compacted_null_key")
    def null_key(c):
        topic = c.create(c.name("compacted"), config={"cleanup.policy": "compact"})
        keyed = outcome(lambda: c.produce(topic, 0, [{"key": "k", "value": "v"}]))
        return {"keyed": keyed, "unkeyed": outcome(lambda: c.produce(topic, 0, ["v"]))}

    @suite.check("produce.timestamp_too_old")
    def too_old(c):
        topic = c.create(c.name("too-old"), config={"message.timestamp.before.max.ms": "3600000"})
        return outcome(lambda: c.produce(topic, 0, [{"value": "v", "timestamp": 1000}]))

    @suite.check("produce.many")
    def many(c):
        topic = c.create(c.name("many"))
        c.produce(topic, 0, [{"key": f"k{n}", "value": f"{n}-" + "x" * 200} for n in range(5000)], **{"linger.ms": 1})
        return digest(c.read(topic))
