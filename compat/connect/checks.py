"""checks.py BOOTSTRAP SUITE PREFIX [PART OF A NAME]: Kafka Connect against a broker, one JSON line a check."""

import json
import pathlib
import sys
import tempfile
import time
import traceback

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from worker import Worker

SOURCE = "org.apache.kafka.connect.file.FileStreamSourceConnector"
SINK = "org.apache.kafka.connect.file.FileStreamSinkConnector"
EXACTLY_ONCE = {"exactly.once.source.support": "enabled"}
LINES, MORE, POLL, POLLS = 200, 100, 20, 6
PATIENCE_S = 60


def main():
    bootstrap, suite, _prefix, *only = sys.argv[1:]
    for name, check in {"kafka": KAFKA, "feed": FEED}.get(suite, []):
        if not only or only[0] in name:
            print(json.dumps({"check": name, "answer": answer(check, bootstrap)}), flush=True)


def answer(check, bootstrap):
    try:
        with tempfile.TemporaryDirectory() as folder:
            return check(bootstrap, pathlib.Path(folder))
    except Exception as error:  # a fault of the program: never an answer
        traceback.print_exc(file=sys.stderr)
        return {"crash": f"{type(error).__name__}: {error}"}


def exactly_once(bootstrap, folder):
    """Each line of a file once and in order, though the worker is killed and another one goes on."""
    topic, file = "connect-once", folder / "lines"
    create(bootstrap, topic)
    write_lines(file, 0, LINES)
    worker = Worker(bootstrap, "connect-once", **EXACTLY_ONCE)
    try:
        worker.create("lines", source(file, topic))
        before = read(bootstrap, topic, LINES)
        worker.kill()
        write_lines(file, LINES, MORE)
        worker.stop()
        worker = Worker(bootstrap, "connect-once", **EXACTLY_ONCE)
        after = read(bootstrap, topic, LINES + MORE)
    finally:
        worker.stop()
    return {"before the kill": is_count(before, LINES), "after it": is_count(after, LINES + MORE)}


def restarted_connector(bootstrap, folder):
    """A connector that is deleted and made again goes on where its offsets say."""
    topic, file = "connect-again", folder / "lines"
    create(bootstrap, topic)
    write_lines(file, 0, LINES)
    worker = Worker(bootstrap, "connect-again", **EXACTLY_ONCE)
    try:
        worker.create("again", source(file, topic))
        read(bootstrap, topic, LINES)
        worker.delete("again")
        write_lines(file, LINES, MORE)
        worker.create("again", source(file, topic))
        values = read(bootstrap, topic, LINES + MORE)
    finally:
        worker.stop()
    return {"each line once": is_count(values, LINES + MORE)}


def sink(bootstrap, folder):
    """A topic into a file, by a sink that is a consumer group."""
    topic, lines, copy = "connect-sink", folder / "lines", folder / "copy"
    create(bootstrap, topic)
    write_lines(lines, 0, LINES)
    worker = Worker(bootstrap, "connect-sink")
    try:
        worker.create("in", source(lines, topic))
        worker.create("out", {"connector.class": SINK, "topics": topic, "file": str(copy), "tasks.max": "1"})
        values = follow(copy, LINES)
    finally:
        worker.stop()
    return {"copied": is_count(values, LINES)}


def poll_is_commit(bootstrap, folder):
    """One poll is one transaction is one commit; a sink copies the feed's sealed records."""
    topic, file, copy = "connect-polls", folder / "lines", folder / "copy"
    create(bootstrap, topic)
    write_lines(file, 0, POLL)
    worker = Worker(bootstrap, "connect-polls", **EXACTLY_ONCE)
    try:
        worker.create("polls", {**source(file, topic), "transaction.boundary": "poll"})
        for poll in range(1, POLLS):
            # Not before the last lines were polled: so each poll finds so many.
            read(bootstrap, topic, poll * POLL)
            write_lines(file, poll * POLL, POLL)
        read(bootstrap, topic, POLLS * POLL)
        out = {"connector.class": SINK, "topics": f"{topic}..feed", "file": str(copy), "tasks.max": "1"}
        worker.create("polled", out)
        copied = follow(copy, POLLS * POLL)
    finally:
        worker.stop()
    manifests = [json.loads(value) for value in read(bootstrap, f"{topic}..commits", POLLS)]
    return {
        "commits": len(manifests),
        "numbers are dense": [m["commit"] for m in manifests] == list(range(len(manifests))),
        "kinds": sorted({m["kind"] for m in manifests}),
        "records of each": sorted({m["records"] for m in manifests}),
        "the sink got them in order": is_count(copied, POLLS * POLL),
    }


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


def follow(file, count):
    """The lines of a file that is being written, once there are enough."""
    give_up_at = time.monotonic() + PATIENCE_S
    lines = []
    while len(lines) < count and time.monotonic() < give_up_at:
        time.sleep(0.2)
        lines = file.read_text().splitlines() if file.exists() else []
    return lines


def read(bootstrap, topic, count):
    """The committed records, once there are enough, and those that come within a second after."""
    config = {"bootstrap.servers": bootstrap, "group.id": "none", "isolation.level": "read_committed"}
    consumer = Consumer({**config, "enable.auto.commit": False, "enable.partition.eof": True})
    values, give_up_at = [], time.monotonic() + PATIENCE_S
    try:
        consumer.assign([TopicPartition(topic, 0, OFFSET_BEGINNING)])
        while time.monotonic() < give_up_at:
            message = consumer.poll(1.0)
            if message is None or message.error():
                if message and message.error().code() not in (KafkaError._PARTITION_EOF, KafkaError.UNKNOWN_TOPIC_OR_PART):
                    raise RuntimeError(str(message.error()))
                if len(values) >= count:
                    return values
                continue
            values.append(message.value().decode())
        return values
    finally:
        consumer.close()


def create(bootstrap, topic):
    admin = AdminClient({"bootstrap.servers": bootstrap})
    admin.create_topics([NewTopic(topic, 1, 1)])[topic].result(60)


KAFKA = [
    ("connect.source.exactly_once", exactly_once),
    ("connect.source.made_again", restarted_connector),
    ("connect.sink", sink),
]
FEED = [("feed.connect.poll_is_commit", poll_is_commit)]

main()
