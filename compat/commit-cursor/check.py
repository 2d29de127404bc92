"""check.py BOOTSTRAP SUITE PREFIX [PART OF A NAME]: cursor.py killed 100 times at random points while commits come in.

Afterwards the database must hold each commit of the feed once, with exactly its records.
"""

import collections
import json
import pathlib
import random
import signal
import subprocess
import sys
import threading
import time
import traceback

import postgres
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

CURSOR = pathlib.Path(__file__).with_name("cursor.py")
CHECK = "feed.commit_cursor.killed_100_times"
FEED, GROUP = "cursor-orders", "cursor-warehouse"
KILLS = 100
# Of its life after the first commit, and of one that may not have come so far.
WORK_S, LIFE_S = (0, 0.15), (0, 0.8)
PATIENCE_S = 60


def main():
    bootstrap, suite, _prefix, *only = sys.argv[1:]
    if suite != "feed" or (only and only[0] not in CHECK):
        return
    # Ended from outside, it takes its PostgreSQL along.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        answer = killed_again_and_again(bootstrap)
    except Exception as error:  # a fault of the program: never an answer
        traceback.print_exc(file=sys.stderr)
        answer = {"crash": f"{type(error).__name__}: {error}"}
    print(json.dumps({"check": CHECK, "answer": answer}), flush=True)


def killed_again_and_again(bootstrap):
    seed = random.randrange(1 << 32)
    print(f"seed {seed}", file=sys.stderr)
    database = postgres.Postgres()
    try:
        feeder = Feeder(bootstrap, random.Random(seed))
        try:
            kill_while_feeding(bootstrap, database, feeder, random.Random(seed + 1))
        finally:
            feeder.stop()
        return result(bootstrap, database, feeder)
    finally:
        database.stop()


def kill_while_feeding(bootstrap, database, feeder, chance):
    repeated = 0
    for kill in range(KILLS):
        cursor = start(bootstrap, database)
        if kill % 4 == 0:
            time.sleep(chance.uniform(*LIFE_S))
        else:
            repeated += cursor.stdout.readline().count("was applied before")
            time.sleep(chance.uniform(*WORK_S))
        if cursor.poll() is not None:
            raise RuntimeError(f"cursor.py ended by itself with {cursor.returncode}")
        cursor.kill()
        repeated += cursor.communicate()[0].count("was applied before")
    feeder.stop()
    cursor = start(bootstrap, database)
    wait_until(lambda: num_applied(database) >= feeder.num_commits and position(bootstrap) >= feeder.num_commits)
    cursor.kill()
    repeated += cursor.communicate()[0].count("was applied before")
    print(f"{feeder.num_commits} commits, {repeated} of them came again after a kill", file=sys.stderr)


def start(bootstrap, database):
    command = [sys.executable, CURSOR, bootstrap, FEED, GROUP, database.dsn]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def result(bootstrap, database, feeder):
    with database.connect() as connection:
        commits = [row[0] for row in connection.execute("SELECT commit FROM applied_commits ORDER BY commit")]
        rows = connection.execute("SELECT commit, partition, key, value FROM records").fetchall()
    written = collections.Counter((commit, part, bytes(key), bytes(value)) for commit, part, key, value in rows)
    return {
        "kills": KILLS,
        "each commit is there once": commits == list(range(feeder.num_commits)),
        "records twice": sum(count - 1 for count in written.values()),
        "records of each commit are those that were sent": set(written) == feeder.sent,
        "the position is the end": position(bootstrap) == feeder.num_commits,
        "enough came": feeder.num_commits >= KILLS,
    }


def num_applied(database):
    with database.connect() as connection:
        return connection.execute("SELECT count(*) FROM applied_commits").fetchone()[0]


def position(bootstrap):
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": GROUP})
    try:
        return consumer.committed([TopicPartition(f"{FEED}..commits", 0)], timeout=PATIENCE_S)[0].offset
    finally:
        consumer.close()


def wait_until(condition):
    give_up_at = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > give_up_at:
            raise RuntimeError("the commits were not applied in time")
        time.sleep(0.1)


class Feeder:
    """Sends records and seals them, commit after commit, until it is stopped."""

    def __init__(self, bootstrap, chance):
        self.chance = chance
        self.num_commits = 0
        self.sent = set()
        self.failure = None
        self.stopping = threading.Event()
        admin = AdminClient({"bootstrap.servers": bootstrap})
        topic = NewTopic(FEED, 2, config={"streamstack.seal.ms": "86400000"})
        admin.create_topics([topic])[FEED].result()
        self.producer = Producer({"bootstrap.servers": bootstrap, "enable.idempotence": True, "linger.ms": 1})
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        try:
            while not self.stopping.is_set():
                self.commit()
                # Less than the loop can take, but some wait for each start of it.
                time.sleep(0.04)
        except Exception as error:
            self.failure = error

    def commit(self):
        # Now and then nothing: an empty commit is one too.
        for n in range(self.chance.randrange(20)):
            partition, key = self.chance.randrange(2), b"k%d" % n
            value = b"commit %d record %d" % (self.num_commits, n)
            self.producer.produce(FEED, value, key, partition)
            self.sent.add((self.num_commits, partition, key, value))
        self.flush()
        self.producer.produce(f"{FEED}..seal", b"{}", b"c%d" % self.num_commits)
        self.flush()
        self.num_commits += 1

    def flush(self):
        if self.producer.flush(PATIENCE_S) > 0:
            raise RuntimeError("records were not acknowledged in time")

    def stop(self):
        self.stopping.set()
        self.thread.join()
        if self.failure:
            raise self.failure


main()
