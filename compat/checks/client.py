"""A client under test: a program that is asked in JSON lines. compat/README.md has the table of asks."""

import hashlib
import itertools
import json
import subprocess
import threading
import time
from concurrent.futures import Future

from harness import Cannot, Refused

WAIT_S = 20
LATEST, EARLIEST, NEWEST = -1, -2, -3


class Client:
    def __init__(self, command, prefix):
        self.command = command
        self.prefix = prefix
        # Its name; what it makes at a second look has another prefix.
        self.program_name = prefix.removesuffix("-again")
        self.numbers = itertools.count()
        self.waiting = {}
        self.lock = threading.Lock()
        self.program = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        threading.Thread(target=self.listen, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.program.stdin.close()
        try:
            self.program.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self.program.kill()

    def listen(self):
        for line in self.program.stdout:
            answer = json.loads(line)
            self.waiting.pop(answer["id"]).set_result(answer)
        with self.lock:
            for future in self.waiting.values():
                future.set_result({"crash": "the program has ended"})

    def ask(self, do, wait_s=2 * WAIT_S, **how):
        """The client's answer. Threads may ask at the same time."""
        future = Future()
        with self.lock:
            if self.program.poll() is not None:
                raise RuntimeError(f"{do}: the program has ended")
            number = next(self.numbers)
            self.waiting[number] = future
            self.program.stdin.write(json.dumps({"id": number, "do": do, **how}) + "\n")
            self.program.stdin.flush()
        try:
            answer = future.result(timeout=wait_s)
        except TimeoutError:
            raise RuntimeError(f"{do}: no answer in {wait_s} s") from None
        if "refused" in answer:
            raise Refused(answer["refused"])
        if "cannot" in answer:
            raise Cannot(answer["cannot"])
        if "crash" in answer:
            raise RuntimeError(f"{do}: {answer['crash']}")
        return answer["ok"]

    def name(self, topic):
        return f"{self.prefix}-{topic}"

    def create(self, topic, partitions=1, configs=None, replicas=1, wait=True, **how):
        """Creates a topic; `wait` until it can be written to."""
        self.ask("create", topic=topic, partitions=partitions, replicas=replicas, configs=configs or {}, **how)
        if wait:
            self.wait_for(lambda: self.partitions(topic) == partitions)
        return topic

    def delete(self, topic):
        self.ask("delete", topic=topic)

    def grow(self, topic, total, **how):
        self.ask("grow", topic=topic, total=total, **how)

    def delete_records(self, topic, before, partition=0):
        """Where the partition then begins, or None if the client does not tell."""
        return self.ask("delete_records", topic=topic, partition=partition, before=before)

    def partitions(self, topic):
        """How many partitions metadata tells; refused with the topic's error. Creates nothing."""
        return self.ask("partitions", topic=topic)

    def shape(self, topic):
        """Per partition: its number, replicas, in-sync replicas, and whether it has a leader."""
        return sorted(self.ask("shape", topic=topic))

    def produce(self, topic, partition, records, batch_of=None, **how):
        """Sends values or dicts of value, key, headers, timestamp, one batch after the other; returns the offsets."""
        records = [record if isinstance(record, dict) else {"value": record} for record in records]
        size = batch_of or len(records)
        batches = [records[n : n + size] for n in range(0, len(records), size)]
        return self.ask("produce", topic=topic, partition=partition, batches=batches, **how)

    def offset(self, topic, partition, at, committed=False):
        """[offset, timestamp] of the first record at or after a time, or of a special time."""
        return self.ask("offset", topic=topic, partition=partition, at=at, committed=committed)

    def bounds(self, topic, partition=0, committed=False):
        return [self.offset(topic, partition, at, committed)[0] for at in (EARLIEST, LATEST)]

    def read(self, topic, partition=0, start=None, count=None, committed=False, end=None, **how):
        """Records from `start` (or the earliest) to the end of the partition, or to `end`, or until there are `count`."""
        if start is None:
            start = self.offset(topic, partition, EARLIEST, committed)[0]
        if count is None and end is None:
            end = self.offset(topic, partition, LATEST, committed)[0]
        how = {"topic": topic, "partition": partition, "start": start, "end": end, "count": count, "committed": committed, **how}
        return self.ask("read", **how)

    def wait_for(self, condition, wait_s=WAIT_S):
        deadline = time.monotonic() + wait_s
        while True:
            try:
                if condition():
                    return True
            except Refused:
                pass  # not yet: asked again below
            if time.monotonic() > deadline:
                return False
            time.sleep(0.05)


def values(records):
    return [r["value"] for r in records]


def digest(records):
    """Offsets, keys and values of many records in a few characters."""
    state = hashlib.sha256()
    for r in records:
        state.update(f"{r['offset']}|{r['key']}|{r['value']}\n".encode())
    return f"{len(records)} records {state.hexdigest()[:16]}"
