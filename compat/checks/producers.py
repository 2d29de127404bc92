"""Producers that write in transactions, and what readers see of them."""

import contextlib
import itertools

from client import LATEST
from harness import Refused

TIMEOUT_MS = 60_000
START_WAIT_S = 60
NUMBERS = itertools.count()


class Producer:
    def __init__(self, program, transactional_id, timeout_ms=TIMEOUT_MS):
        self.program = program
        self.name = f"p{next(NUMBERS)}"
        self.ask("open_producer", START_WAIT_S, transactional_id=transactional_id, timeout_ms=timeout_ms)

    def ask(self, do, *wait_s, **how):
        return self.program.ask(do, *wait_s, producer=self.name, **how)

    def begin(self):
        self.ask("begin", START_WAIT_S)

    def send(self, topic, *values, partition=0):
        """The offsets, once all are answered."""
        batch = [value if isinstance(value, dict) else {"value": value} for value in values]
        return self.ask("send", topic=topic, partition=partition, batches=[batch])

    def send_positions(self, group, positions, member=None):
        self.ask("send_positions", group=group, positions=positions, member=member)

    def commit(self):
        self.ask("end", START_WAIT_S, commit=True)

    def abort(self):
        self.ask("end", START_WAIT_S, commit=False)

    def commits(self, topic, *values, partition=0):
        """A whole transaction."""
        self.begin()
        self.send(topic, *values, partition=partition)
        self.commit()

    def aborts(self, topic, *values, partition=0):
        self.begin()
        self.send(topic, *values, partition=partition)
        self.abort()


@contextlib.contextmanager
def producers(program):
    """Makes producers, and closes them."""
    made = []

    def make(*how, **more):
        made.append(Producer(program, *how, **more))
        return made[-1]

    try:
        yield make
    finally:
        for producer in made:
            # One that is fenced may say so again when it is closed.
            with contextlib.suppress(Refused):
                producer.ask("close_producer")


def ends(c, topic, partition=0):
    """[end, end of what is decided]"""
    return [c.offset(topic, partition, LATEST, committed)[0] for committed in (False, True)]


def settle(c, topic, partitions=1):
    """Waits until no transaction is open, and puts a last record behind, by which readers know that they have all."""
    for p in range(partitions):

        def decided(p=p):
            end, stable = ends(c, topic, p)
            return end == stable

        if not c.wait_for(decided):
            raise TimeoutError(f"{topic}: a transaction stays open in partition {p}: {ends(c, topic, p)}")
        c.produce(topic, p, ["end"])


def seen(c, topic, partition=0):
    """What readers of both kinds find in a partition that is settled."""
    return {
        "committed": rows(c.read(topic, partition, committed=True)),
        "uncommitted": rows(c.read(topic, partition)),
    }


def rows(records):
    return [[r["offset"], r["value"]] for r in records]


def decided_so_far(c, topic, partition=0):
    """What a reader of committed records gets while a transaction is open at the very beginning: nothing."""
    return rows(c.read(topic, partition, start=0, end=0, committed=True))
