"""The feed that the view checks read: four commits over two partitions, and a stream still open.

The table of it stands in compat/README.md.
"""

import json
import threading
import time

from client import values
from harness import Cannot, outcome

BY_HAND = {"streamstack.seal.ms": "86400000"}
TELLING = threading.Lock()


def feed(c):
    """The story's feed, told on the first call."""
    topic = c.name("story")
    with TELLING:
        if outcome(lambda: c.partitions(topic)) != "ok":
            tell(c, topic)
    return topic


def tell(c, topic):
    c.create(topic, 2, BY_HAND)
    c.produce(topic, 0, records(0, 0, 3))
    c.produce(topic, 1, records(0, 1, 2))
    seal(c, topic, "first", '{"poll": 1}')
    try:
        c.produce(topic, 0, sealing([["kept", "1"], ["kept", None]]))
    except Cannot:  # such a client has no header without a value
        c.produce(topic, 0, sealing([["kept", "1"], ["kept", ""]]))
    time.sleep(0.005)
    seal(c, topic, "nothing", None)
    c.produce(topic, 1, records(3, 1, 4))
    seal(c, topic, "fourth", None)
    c.produce(topic, 0, records(4, 0, 2))


def sealing(headers):
    """Two records that are a commit of their own: the first names the stream, the last seals it."""
    first, last = records(1, 0, 2)
    first["headers"] = [["streamstack-stream", "second"], *headers]
    last["headers"] = [["streamstack-seal", ""]]
    return [first, last]


def records(commit, partition, count):
    return [{"key": f"k{n}", "value": f"c{commit}p{partition}n{n}"} for n in range(count)]


def seal(c, topic, label, metadata=None):
    """Seals what stands in the feed's implicit stream. A pause after it, so that seal times differ."""
    c.produce(f"{topic}..seal", 0, [{"key": label, "value": metadata}])
    time.sleep(0.005)


def sealed_batch(c, topic, records, label="next"):
    """Makes the records one commit, after a while."""
    time.sleep(0.3)
    c.produce(topic, 0, records)
    seal(c, topic, label)


def manifests(c, topic):
    return [json.loads(r["value"]) for r in c.read(f"{topic}..commits")]


def seal_times(c, topic):
    return [r["timestamp"] for r in c.read(f"{topic}..commits")]


def content(c, view, partitions=2, committed=False):
    """Per partition: bounds, and the values read to the end, which must stand at dense offsets."""
    return [partition_content(c, view, p, committed) for p in range(partitions)]


def partition_content(c, view, partition, committed):
    begin, end = c.bounds(view, partition, committed)
    found = c.read(view, partition, committed=committed)
    offsets = [r["offset"] for r in found]
    assert offsets == list(range(begin, end)), f"{view}: offsets {offsets} in {begin} to {end}"
    return [begin, end, values(found)]
