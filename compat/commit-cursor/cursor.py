"""cursor.py BOOTSTRAP FEED GROUP DSN: writes every commit of a feed to PostgreSQL exactly once, whenever it is killed.

The position of GROUP on FEED..commits is the number of the next commit. For each manifest that comes from there, the
commit's records are read from FEED..commit-N, which is whole and never changes, and written in one transaction together
with N. Then the position is committed. Killed before the transaction ends: nothing of the commit is in the database, and
it is read again. Killed after it, before the position is committed: the commit comes again, N is known, and it is skipped.
"""

import json
import sys

import psycopg
from confluent_kafka import Consumer, KafkaException, TopicPartition

TABLES = """
CREATE TABLE IF NOT EXISTS applied_commits (feed text, commit bigint, records bigint, PRIMARY KEY (feed, commit));
CREATE TABLE IF NOT EXISTS records (feed text, commit bigint, partition int, feed_offset bigint, key bytea, value bytea);
"""


def main():
    bootstrap, feed, group, dsn = sys.argv[1:]
    settings = {
        "bootstrap.servers": bootstrap,
        "group.id": group,
        "enable.auto.commit": False,
        "auto.offset.reset": "earliest",
        "allow.auto.create.topics": False,
    }
    cursor = Consumer(settings)
    # Nothing comes after the end of a commit, so there is no use in waiting there.
    reader = Consumer({**settings, "fetch.wait.max.ms": 10})
    # It goes on at the group's position. One process at a time runs this: nobody has to share.
    position = TopicPartition(f"{feed}..commits", 0)
    (committed,) = cursor.committed([position], timeout=30)
    due = committed.offset if committed.offset >= 0 else None
    cursor.assign([position])
    with psycopg.connect(dsn, autocommit=True) as database:
        database.execute(TABLES)
        while True:
            message = cursor.poll(1.0)
            if message is None:
                continue
            if message.error():
                raise KafkaException(message.error())
            manifest = json.loads(message.value())
            if due not in (None, manifest["commit"]):
                raise SystemExit(f"commits {due} to {manifest['commit'] - 1} were deleted before they were read")
            due = manifest["commit"] + 1
            applied = apply(database, manifest, records_of(reader, manifest))
            cursor.commit(message=message, asynchronous=False)
            print(f"commit {manifest['commit']} {'applied' if applied else 'was applied before'}", flush=True)


def records_of(reader, manifest):
    """All records of a commit, partition by partition as they come."""
    if manifest["state"] != "live":
        raise SystemExit(f"commit {manifest['commit']} was deleted before it was read: see streamstack.retain")
    view = f"{manifest['feed']}..commit-{manifest['commit']}"
    reader.assign([TopicPartition(view, part["partition"], part["feed_base"]) for part in manifest["partitions"]])
    # librdkafka asks for a new topic's partitions once a second by itself.
    reader.list_topics(view)
    records = []
    while len(records) < manifest["records"]:
        record = reader.poll(1.0)
        if record is None:
            continue
        if record.error():
            raise KafkaException(record.error())
        records.append((record.partition(), record.offset(), record.key(), record.value()))
    return records


def apply(database, manifest, records):
    """Writes a commit, unless it is written; says whether it was new."""
    feed, commit = manifest["feed"], manifest["commit"]
    with database.transaction():
        known = "INSERT INTO applied_commits VALUES (%s, %s, %s) ON CONFLICT DO NOTHING"
        if database.execute(known, (feed, commit, len(records))).rowcount == 0:
            return False
        with database.cursor() as rows:
            insert = "INSERT INTO records VALUES (%s, %s, %s, %s, %s, %s)"
            rows.executemany(insert, [(feed, commit, *record) for record in records])
        return True


main()
