"""checks.py BOOTSTRAP SUITE PREFIX [PART OF A NAME]: Debezium from a PostgreSQL into one feed, one JSON line a check.

The changes of all tables and the begin and end of each database transaction go to one topic, in the database's order.
"""

import contextlib
import json
import os
import random
import sys

import postgres
from shop import DELETE, Shop
from suite import run
from topics import Reader, create, manifests, read_all, text
from worker import Worker

# Each folder in it is a plug-in.
PLUGINS = os.environ["COMPAT_CACHE"] + "/debezium"
EXACTLY_ONCE = {"exactly.once.source.support": "enabled"}
TRANSACTIONS, LARGE, POLL = 60, 350, 100
# Many polls, so that a kill comes in the middle of it.
ENDLESS = 10_000
BEGIN, END = "BEGIN", "END"


class Capture:
    """A database with its worker, and the feed that its changes go to."""

    def __init__(self, at):
        self.at, self.feed, self.cluster = at, at.name("changes"), at.name("debezium")
        create(at.bootstrap, self.feed)
        seed = random.randrange(1 << 32)
        print(f"seed {seed}", file=sys.stderr)
        with contextlib.ExitStack() as started:
            # Of a worker that was killed the database should soon know.
            self.database = postgres.Postgres("wal_level=logical", "wal_sender_timeout=10s")
            started.callback(self.database.stop)
            self.shop = Shop(self.database, seed)
            self.start()
            started.callback(lambda: self.worker.stop())
            self.worker.create("shop", self.connector())
            self.started = started.pop_all()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.started.close()

    def start(self):
        self.worker = Worker(self.at, self.cluster, **EXACTLY_ONCE, **{"plugin.path": PLUGINS})

    def kill(self):
        self.worker.kill()
        self.worker.stop()

    def connector(self):
        converters = {f"{kind}.converter": "org.apache.kafka.connect.json.JsonConverter" for kind in ("key", "value")}
        return {
            "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
            "tasks.max": "1",
            "database.hostname": "127.0.0.1",
            "database.port": str(self.database.port),
            "database.user": postgres.USER,
            "database.password": "none",
            "database.dbname": "postgres",
            "plugin.name": "pgoutput",
            "topic.prefix": "shop",
            "table.include.list": "public.orders,public.lines",
            "snapshot.mode": "no_data",
            "provide.transaction.metadata": "true",
            "tombstones.on.delete": "false",
            "max.batch.size": str(POLL),
            "max.queue.size": str(4 * POLL),
            "poll.interval.ms": "50",
            "status.update.interval.ms": "1000",
            # The slot of a worker that was killed may be in use for a moment.
            "slot.max.retries": "60",
            "slot.retry.delay.ms": "1000",
            "exactly.once.support": "required",
            "transaction.boundary": "poll",
            **converters,
            **{f"{name}.schemas.enable": "false" for name in converters},
            "transforms": "one",
            "transforms.one.type": "org.apache.kafka.connect.transforms.RegexRouter",
            "transforms.one.regex": r"shop\..*",
            "transforms.one.replacement": self.feed,
        }

    def num_records(self):
        """Its changes, and a begin and an end for each transaction."""
        return sum(len(changes) + 2 for changes in self.shop.transactions)

    def wait_for(self, count):
        with Reader(self.at.bootstrap, self.feed) as reader:
            reader.until(f"{count} records", lambda rows: len(rows) >= count, lambda: self.worker.must_run("shop"))

    def content(self):
        return [shown(row) for row in read_all(self.at.bootstrap, self.feed)]


def shown(row):
    """[transaction, what, ...] of a record: a begin, an end with its count, or a change."""
    value = json.loads(row.value())
    if "status" in value:
        return [number(value), value["status"], value["event_count"]]
    table, operation = value["source"]["table"], value["op"]
    after = json.loads(text(row.key()))["id"] if operation == DELETE else value["after"]
    return [number(value["transaction"]), table, operation, after]


def number(transaction):
    """What PostgreSQL calls it; behind that stands a place in the log, which is another one in each record."""
    return transaction["id"].partition(":")[0]


def exactly_once(at):
    """Each transaction of the database once, whole and in order, though the worker is killed in the middle of one."""
    with Capture(at) as capture:
        capture.shop.work(TRANSACTIONS)
        capture.wait_for(capture.num_records())
        with Reader(at.bootstrap, capture.feed) as reader:
            enough = len(reader.to_end()) + 2 * POLL
            capture.shop.large(ENDLESS)
            reader.until("the first of many changes", lambda rows: len(rows) >= enough)
            capture.kill()
        capture.shop.work(TRANSACTIONS)
        capture.start()
        capture.wait_for(capture.num_records())
        capture.worker.stop()
        found = capture.content()
        expected = with_bounds(capture.shop.transactions)
    return {
        "each change once and in order": [row[1:] for row in found] == expected,
        "each between its begin and its end": bounded(found),
    }


def with_bounds(transactions):
    rows = []
    for changes in transactions:
        rows += [[BEGIN, None], *changes, [END, len(changes)]]
    return rows


def bounded(rows):
    """Each record is of the transaction that was last begun."""
    current = None
    for transaction, what, *_ in rows:
        if what == BEGIN:
            current = transaction
        if transaction != current:
            return False
    return True


def commits(at):
    """A transaction of the database is found in its commit, or in commits that follow one another."""
    with Capture(at) as capture:
        capture.shop.work(TRANSACTIONS)
        capture.shop.large(LARGE)
        capture.shop.work(TRANSACTIONS)
        capture.wait_for(capture.num_records())
        capture.worker.stop()
        found = capture.content()
        history = manifests(at.bootstrap, capture.feed)
        in_feed = [shown(row) for row in read_all(at.bootstrap, f"{capture.feed}..feed")]
        held = holders(history, in_feed)
        large = held[next(row[0] for row in found if row[1:] == [END, LARGE])]
        return {
            "numbers are dense": [m["commit"] for m in history] == list(range(len(history))),
            "kinds": sorted({m["kind"] for m in history}),
            "none is more than a poll": all(m["records"] <= POLL for m in history),
            "the feed has the order of the topic": in_feed == found,
            "the changes are those of the database": [row[1:] for row in in_feed] == with_bounds(capture.shop.transactions),
            "in commits that follow one another": all(commits == list(range(commits[0], commits[-1] + 1)) for commits in held.values()),
            "the large one in several": len(large) > LARGE // POLL,
        }


def holders(history, rows):
    """The numbers of the commits that hold records of each transaction, in order."""
    held = {}
    for manifest in history:
        for part in manifest["partitions"]:
            for transaction, *_ in rows[part["feed_base"] : part["feed_base"] + part["count"]]:
                numbers = held.setdefault(transaction, [])
                if manifest["commit"] not in numbers:
                    numbers.append(manifest["commit"])
    return held


run({
    "kafka": {"debezium.exactly_once": exactly_once},
    "feed": {"feed.debezium.commits": commits},
})
