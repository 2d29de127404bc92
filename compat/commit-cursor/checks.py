"""checks.py BOOTSTRAP SUITE PREFIX [PART OF A NAME]: cursor.py killed 100 times at random points while commits come in.

Afterwards the database must hold each commit of the feed once, with exactly its records.
"""

import collections
import pathlib
import random
import subprocess
import sys
import threading
import time

import postgres
from confluent_kafka import Consumer, TopicPartition
from suite import run, wait_until
from topics import WAIT_S, create, flush, producer

CURSOR = pathlib.Path(__file__).with_name("cursor.py")
KILLS = 100
# Of its life after the first commit, and of one that may not have come so far.
WORK_S, LIFE_S = (0, 0.15), (0, 0.8)


def killed_again_and_again(at):
    seed = random.randrange(1 << 32)
    print(f"seed {seed}", file=sys.stderr)
    database = postgres.Postgres()
    try:
        feeder = Feeder(at, random.Random(seed))
        try:
            kill_while_feeding(at, database, feeder, random.Random(seed + 1))
        finally:
            feeder.stop()
        return result(at, database, feeder)
    finally:
        database.stop()


def kill_while_feeding(at, database, feeder, chance):
    repeated = 0
    for kill in range(KILLS):
        cursor = start(at, database)
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
    cursor = start(at, database)
    num = feeder.num_commits
    wait_until("all commits are applied", lambda: num_applied(database) >= num and position(at) >= num)
    cursor.kill()
    repeated += cursor.communicate()[0].count("was applied before")
    print(f"{feeder.num_commits} commits, {repeated} of them came again after a kill", file=sys.stderr)


def start(at, database):
    command = [sys.executable, CURSOR, at.bootstrap, at.name("orders"), at.name("warehouse"), database.dsn]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def result(at, database, feeder):
    with database.connect() as connection:
        commits = [row[0] for row in connection.execute("SELECT commit FROM applied_commits ORDER BY commit")]
        rows = connection.execute("SELECT commit, partition, key, value FROM records").fetchall()
    written = collections.Counter((commit, part, bytes(key), bytes(value)) for commit, part, key, value in rows)
    return {
        "kills": KILLS,
        "each commit is there once": commits == list(range(feeder.num_commits)),
        "records twice": sum(count - 1 for count in written.values()),
        "records of each commit are those that were sent": set(written) == feeder.sent,
        "the position is the end": position(at) == feeder.num_commits,
        "enough came": feeder.num_commits >= KILLS,
    }


def num_applied(database):
    with database.connect() as connection:
        return connection.execute("SELECT count(*) FROM applied_commits").fetchone()[0]


def position(at):
    consumer = Consumer({"bootstrap.servers": at.bootstrap, "group.id": at.name("warehouse")})
    try:
        return consumer.committed([TopicPartition(f"{at.name('orders')}..commits", 0)], timeout=WAIT_S)[0].offset
    finally:
        consumer.close()


class Feeder:
    """Sends records and seals them, commit after commit, until it is stopped."""

    def __init__(self, at, chance):
        self.feed, self.chance = at.name("orders"), chance
        self.num_commits = 0
        self.sent = set()
        self.failure = None
        self.stopping = threading.Event()
        create(at.bootstrap, self.feed, 2, **{"streamstack.seal.ms": "86400000"})
        self.producer = producer(at.bootstrap)
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
            self.producer.produce(self.feed, value, key, partition)
            self.sent.add((self.num_commits, partition, key, value))
        flush(self.producer)
        self.producer.produce(f"{self.feed}..seal", b"{}", b"c%d" % self.num_commits)
        flush(self.producer)
        self.num_commits += 1

    def stop(self):
        self.stopping.set()
        self.thread.join()
        if self.failure:
            raise self.failure


run({"feed": {"feed.commit_cursor.killed_100_times": killed_again_and_again}})
