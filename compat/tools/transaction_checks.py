"""Transactions as operators see them: kafka-transactions list, describe, describe-producers, find-hanging and abort, on one that is
open because its producer was killed, and what kafka-console-consumer reads then.
"""

import contextlib
import os
import re
import subprocess
import time

from host import KAFKA

TRANSACTIONS = "kafka-transactions"
COMMITTED = "kafka-console-consumer --timeout-ms 4000 --from-beginning --isolation-level read_committed"
WAIT_S = 40

# Columns that differ from run to run.
PASSING = {"ProducerId", "LastTimestamp", "CurrentTransactionStartTimeMs", "TransactionDurationMs", "LastSequence", "Duration(min)"}


def table(lines):
    """Rows by column, without what differs from run to run; or the lines, if they are no table."""
    heads = lines[0].split() if lines else []
    if not heads or heads[0] not in ("TransactionalId", "CoordinatorId", "ProducerId", "Topic"):
        return [re.sub(r"producerId=\d+", "producerId=ID", line) for line in lines]
    rows = (dict(zip(heads, line.split(), strict=False)) for line in lines[1:])
    # Without the transactional ids of others, which use the broker too.
    ours = (row for row in rows if row.get("TransactionalId", "tools-").startswith("tools-"))
    return [{head: cell for head, cell in row.items() if head not in PASSING} for row in ours]


def answers(t, *commands):
    return {command: table(lines) for command, lines in t.answers(*commands).items()}


@contextlib.contextmanager
def open_transaction(t, topic, name):
    """A transaction that is still open, whose producer lives until the end of the block."""
    command = [
        KAFKA / "kafka-run.sh", "kafka-producer-perf-test", "--bootstrap-server", t.bootstrap, "--topic", topic, "--transactional-id", name,
        "--transaction-duration-ms", "600000", "--num-records", "100000", "--record-size", "10", "--throughput", "5",
        "--command-property", "transaction.timeout.ms=600000", "linger.ms=0",
    ]  # fmt: skip
    writer = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, env=os.environ)
    try:
        deadline = time.monotonic() + WAIT_S
        while not is_open(t, topic, name):
            if time.monotonic() > deadline:
                raise TimeoutError(f"{name} has no open transaction")
        yield
    finally:
        writer.kill()
        writer.wait(timeout=WAIT_S)


def is_open(t, topic, name):
    _, listed = t.run(f"{TRANSACTIONS} list")
    _, producers = t.run(f"{TRANSACTIONS} describe-producers --topic {topic} --partition 0")
    known = any(row["TransactionalId"] == name and row["TransactionState"] == "Ongoing" for row in table(listed))
    return known and any(row["CurrentTransactionStartOffset"] == "0" for row in table(producers))


def hanging(t):
    topic, name = "tools-txn", "tools-hanging"
    t.do(f"kafka-topics --create --topic {topic} --partitions 1")
    of_partition = f"--topic {topic} --partition 0"
    look = [
        f"{TRANSACTIONS} describe --transactional-id {name}",
        f"{TRANSACTIONS} describe-producers {of_partition}",
        f"{TRANSACTIONS} list",
        f"{TRANSACTIONS} list --transactional-id-pattern tools-h.*",
        f"{TRANSACTIONS} list --transactional-id-pattern nobody.*",
        f"{TRANSACTIONS} list --duration-filter 86400000",
        f"{TRANSACTIONS} find-hanging --topic {topic}",
        f"{TRANSACTIONS} find-hanging --broker-id 1",
    ]
    with open_transaction(t, topic, name):
        pass
    told = {"open": answers(t, *look)}
    told["read while it is open"] = t.run(f"{COMMITTED} --topic {topic}")
    told["abort"] = answers(t, f"{TRANSACTIONS} abort {of_partition} --start-offset 0")
    told["then"] = answers(t, f"{TRANSACTIONS} describe-producers {of_partition}", f"{TRANSACTIONS} find-hanging --topic {topic}")
    t.do(f"kafka-console-producer --topic {topic}", given="after it\n")
    told["read after it"] = t.run(f"{COMMITTED} --topic {topic}")
    return told


def refused(t):
    t.do("kafka-topics --create --topic tools-txn-calm --partitions 1")
    return answers(
        t,
        f"{TRANSACTIONS} describe --transactional-id nobody",
        f"{TRANSACTIONS} abort --topic tools-txn-calm --partition 0 --start-offset 7",
        f"{TRANSACTIONS} abort --topic tools-txn-calm --partition 0 --producer-id 4711 --producer-epoch 0 --coordinator-epoch 0",
    )


def perf(t):
    """Many short transactions: how many records there are for each kind of reader."""
    t.do("kafka-topics --create --topic tools-txn-perf --partitions 1")
    load = "kafka-producer-perf-test --topic tools-txn-perf --num-records 200 --record-size 10 --throughput -1"
    t.do(f"{load} --transactional-id tools-perf --transaction-duration-ms 20")
    read = t.run(f"{COMMITTED} --topic tools-txn-perf --max-messages 200")
    (row,) = table(t.run(f"{TRANSACTIONS} describe --transactional-id tools-perf")[1])
    # How many transactions it were, its epoch tells.
    return {"exit": read[0], "last": read[1][-1:], "state": row["TransactionState"], "timeout": row["TransactionTimeoutMs"]}


CHECKS = [
    ("tools.transactions.hanging", hanging),
    ("tools.transactions.refused", refused),
    ("tools.transactions.perf_test", perf),
]
