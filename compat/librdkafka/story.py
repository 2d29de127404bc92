"""The feed that the view checks read: four commits over two partitions, and a stream still open.

| commit | partition 0 | partition 1 | sealed by |
|---|---|---|---|
| 0 | c0p0n0 .. n2 | c0p1n0, n1 | record to ..seal, key "first", value {"poll": 1} |
| 1 | c1p0n0, n1 | - | header streamstack-seal on the last record; labelled by header streamstack-stream |
| 2 | - | - | record to ..seal, key "nothing": an empty commit |
| 3 | - | c3p1n0 .. n3 | record to ..seal, key "fourth" |
| open | c4p0n0, n1 | - | |
"""

import json
import time

from client import values
from harness import outcome

BY_HAND = {"streamstack.seal.ms": "86400000"}


def feed(c):
    """The story's feed, told on the first call."""
    topic = c.name("story")
    if outcome(lambda: c.partitions(topic)) == "ok":
        return topic
    c.create(topic, 2, BY_HAND)
    c.produce(topic, 0, records(0, 0, 3))
    c.produce(topic, 1, records(0, 1, 2))
    seal(c, topic, "first", '{"poll": 1}')
    first, last = records(1, 0, 2)
    first["headers"] = [("streamstack-stream", b"second"), ("kept", b"1"), ("kept", None)]
    last["headers"] = [("streamstack-seal", b"")]
    c.produce(topic, 0, [first, last], **{"linger.ms": 50})
    time.sleep(0.005)
    seal(c, topic, "nothing", None)
    c.produce(topic, 1, records(3, 1, 4))
    seal(c, topic, "fourth", None)
    c.produce(topic, 0, records(4, 0, 2))
    return topic


def records(commit, partition, count):
    return [{"key": f"k{n}", "value": f"c{commit}p{partition}n{n}"} for n in range(count)]


def seal(c, topic, label, metadata):
    """Seals what stands in the feed's implicit stream. A pause after it, so that seal times differ."""
    c.produce(f"{topic}..seal", 0, [{"key": label, "value": metadata}])
    time.sleep(0.005)


def manifests(c, topic):
    """The values of ..commits, which must be as many as its offsets."""
    return [json.loads(m.value()) for m in c.read(f"{topic}..commits")]


def seal_times(c, topic):
    return [m.timestamp()[1] for m in c.read(f"{topic}..commits")]


def content(c, view, partitions=2, **config):
    """Per partition: bounds, and the values read to the end, which must stand at dense offsets."""
    return [partition_content(c, view, p, config) for p in range(partitions)]


def partition_content(c, view, partition, config):
    begin, end = c.bounds(view, partition, **config)
    messages = c.read(view, partition, **config)
    offsets = [m.offset() for m in messages]
    assert offsets == list(range(begin, end)), f"{view}: offsets {offsets} in {begin} to {end}"
    return [begin, end, values(messages)]
