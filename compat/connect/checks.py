"""checks.py BOOTSTRAP SUITE PREFIX [PART OF A NAME]: Kafka Connect against a broker, one JSON line a check."""

import time

from confluent_kafka import Consumer, TopicPartition
from suite import run
from topics import WAIT_S, Reader, create, manifests, seal, values, write
from worker import Worker

SOURCE = "org.apache.kafka.connect.file.FileStreamSourceConnector"
SINK = "org.apache.kafka.connect.file.FileStreamSinkConnector"
EXACTLY_ONCE = {"exactly.once.source.support": "enabled"}
LINES, MORE, POLL, POLLS = 200, 100, 20, 6
INTERVAL_MS, PACE_S = 2000, 0.3
BY_HAND = {"streamstack.seal.ms": "86400000"}


def exactly_once(at):
    """Each line of a file once and in order, though the worker is killed and another one goes on."""
    topic, file = at.name("once"), at.folder / "lines"
    create(at.bootstrap, topic)
    write_lines(file, 0, LINES)
    worker = Worker(at, topic, **EXACTLY_ONCE)
    try:
        worker.create("lines", source(file, topic))
        before = read(at, topic, LINES, worker)
        worker.kill()
        write_lines(file, LINES, MORE)
        worker.stop()
        worker = Worker(at, topic, **EXACTLY_ONCE)
        after = read(at, topic, LINES + MORE, worker)
    finally:
        worker.stop()
    at_last = read(at, topic)
    return {"before the kill": is_count(before, LINES), "after it": is_count(after, LINES + MORE), "at last": is_count(at_last, LINES + MORE)}


def zombie(at):
    """A worker that stands still is taken for dead; when it goes on, another one has its work, and it writes nothing more."""
    topic, file = at.name("zombie"), at.folder / "lines"
    create(at.bootstrap, topic)
    write_lines(file, 0, LINES)
    first = Worker(at, topic, **EXACTLY_ONCE)
    second = None
    try:
        first.create("lines", source(file, topic))
        read(at, topic, LINES, first)
        first.pause()
        write_lines(file, LINES, MORE)
        second = Worker(at, topic, **EXACTLY_ONCE)
        read(at, topic, LINES + MORE, second)
        first.resume()
        write_lines(file, LINES + MORE, MORE)
        first.wait_until("the zombie is in the cluster again", lambda: first.ask("GET", "/connectors/lines/status") is not None)
        read(at, topic, LINES + 2 * MORE, second)
    finally:
        for worker in filter(None, (first, second)):
            worker.stop()
    return {"each line once": is_count(read(at, topic), LINES + 2 * MORE)}


def restarted_connector(at):
    """A connector that is deleted and made again goes on where its offsets say."""
    topic, file = at.name("again"), at.folder / "lines"
    create(at.bootstrap, topic)
    write_lines(file, 0, LINES)
    worker = Worker(at, topic, **EXACTLY_ONCE)
    try:
        worker.create("again", source(file, topic))
        read(at, topic, LINES, worker)
        worker.delete("again")
        write_lines(file, LINES, MORE)
        worker.create("again", source(file, topic))
        read(at, topic, LINES + MORE, worker)
    finally:
        worker.stop()
    return {"each line once": is_count(read(at, topic), LINES + MORE)}


def sink(at):
    """A topic into a file, by a sink that is a consumer group."""
    topic, lines, copy = at.name("sink"), at.folder / "lines", at.folder / "copy"
    create(at.bootstrap, topic)
    write_lines(lines, 0, LINES)
    worker = Worker(at, topic)
    try:
        worker.create("in", source(lines, topic))
        worker.create("out", {"connector.class": SINK, "topics": topic, "file": str(copy), "tasks.max": "1"})
        copied = follow(copy, LINES, worker)
    finally:
        worker.stop()
    return {"copied": is_count(copied, LINES)}


def poll_is_commit(at):
    """One poll is one transaction is one commit; a sink copies the feed's sealed records."""
    topic, file, copy = at.name("polls"), at.folder / "lines", at.folder / "copy"
    create(at.bootstrap, topic)
    write_lines(file, 0, POLL)
    worker = Worker(at, topic, **EXACTLY_ONCE)
    try:
        worker.create("polls", {**source(file, topic), "transaction.boundary": "poll"})
        for poll in range(1, POLLS):
            # Not before the last lines were polled: so each poll finds so many.
            read(at, topic, poll * POLL, worker)
            write_lines(file, poll * POLL, POLL)
        read(at, topic, POLLS * POLL, worker)
        out = {"connector.class": SINK, "topics": f"{topic}..feed", "file": str(copy), "tasks.max": "1"}
        worker.create("polled", out)
        copied = follow(copy, POLLS * POLL, worker)
    finally:
        worker.stop()
    history = manifests(at.bootstrap, topic)
    return {
        "commits": len(history),
        "numbers are dense": [m["commit"] for m in history] == list(range(len(history))),
        "kinds": sorted({m["kind"] for m in history}),
        "records of each": sorted({m["records"] for m in history}),
        "the sink got them in order": is_count(copied, POLLS * POLL),
    }


def interval_is_commit(at):
    """Transactions that end by the clock: each holds what was polled meanwhile, so there are fewer of them than polls."""
    topic, file = at.name("intervals"), at.folder / "lines"
    create(at.bootstrap, topic)
    file.touch()
    worker = Worker(at, topic, **EXACTLY_ONCE)
    try:
        boundary = {"transaction.boundary": "interval", "transaction.boundary.interval.ms": str(INTERVAL_MS)}
        worker.create("intervals", {**source(file, topic), **boundary})
        for first in range(0, LINES, POLL):
            # Each of them is polled by itself, and several within an interval.
            write_lines(file, first, POLL)
            time.sleep(PACE_S)
        read(at, topic, LINES, worker)
    finally:
        worker.stop()
    history = manifests(at.bootstrap, topic)
    return {
        "each line once": is_count(read(at, topic), LINES),
        "records": sum(m["records"] for m in history),
        "numbers are dense": [m["commit"] for m in history] == list(range(len(history))),
        "kinds": sorted({m["kind"] for m in history}),
        "fewer than polls": 0 < len(history) < LINES // POLL,
    }


def filtered(at):
    """Sinks of views that leave records out: each writes what its view holds, and after a restart of the worker what is new only."""
    topic = at.name("filtered")
    create(at.bootstrap, topic, **BY_HAND)
    create(at.bootstrap, at.name("changes"), **{"streamstack.view": f"{topic}..changed"})
    keyed(at, topic, "a1", "b1", "a1")
    keyed(at, topic, "a1", "a2", "b1")
    sinks = {"dedup": f"{topic}..dedup", "changed": at.name("changes"), "latest": f"{topic}..commits-0-1..latest"}
    connectors = {name: {"connector.class": SINK, "topics": view, "file": str(at.folder / name)} for name, view in sinks.items()}
    answer = {}
    for step, counts in (("first", {"dedup": 3, "changed": 3, "latest": 2}), ("again", {"dedup": 4, "changed": 5, "latest": 2})):
        worker = Worker(at, topic)
        try:
            for name, connector in connectors.items():
                worker.create(at.name(name), connector)
            for name, count in counts.items():
                follow(at.folder / name, count, worker)
        finally:
            # It commits what it has written before it ends.
            worker.stop()
        answer[step] = {name: [(at.folder / name).read_text().splitlines(), position(at, name, view)] for name, view in sinks.items()}
        keyed(at, topic, "b1", "b2", "a1")
    return answer


def position(at, name, view):
    """Of the group of a sink."""
    consumer = Consumer({"bootstrap.servers": at.bootstrap, "group.id": f"connect-{at.name(name)}"})
    try:
        return consumer.committed([TopicPartition(view, 0)], timeout=WAIT_S)[0].offset
    finally:
        consumer.close()


def keyed(at, topic, *values):
    """A commit of records whose key is the first letter of their value."""
    write(at.bootstrap, topic, [(value[0], value) for value in values])
    seal(at.bootstrap, topic, "by hand")


def source(file, topic):
    return {
        "connector.class": SOURCE,
        "tasks.max": "1",
        "file": str(file),
        "topic": topic,
        "exactly.once.support": "requested",
    }


def write_lines(file, first, count):
    """In one write, so that a poll finds all of them or none."""
    text = "".join(f"line {number}\n" for number in range(first, first + count))
    with open(file, "ab", buffering=0) as lines:
        lines.write(text.encode())


def is_count(values, count):
    return values == [f"line {number}" for number in range(count)]


def follow(file, count, worker):
    """The lines of a file that is being written, once there are enough."""

    def lines():
        return file.read_text().splitlines() if file.exists() else []

    worker.wait_until(f"{count} lines in the file", lambda: len(lines()) >= count)
    return lines()


def read(at, topic, count=0, worker=None):
    """All committed records, once there are enough."""
    with Reader(at.bootstrap, topic) as reader:
        reader.until(f"{count} records", lambda rows: len(rows) >= count, worker.must_live if worker else lambda: None)
        return values(reader.to_end())


run({
    "kafka": {
        "connect.source.exactly_once": exactly_once,
        "connect.source.zombie": zombie,
        "connect.source.made_again": restarted_connector,
        "connect.sink": sink,
    },
    "feed": {
        "feed.connect.poll_is_commit": poll_is_commit,
        "feed.connect.interval_is_commit": interval_is_commit,
        "feed.connect.filtered": filtered,
    },
})
