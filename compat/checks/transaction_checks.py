"""Transactions: what readers see of them, who is fenced, positions that move along, and timeouts."""

import contextlib
import itertools

from client import values
from group_checks import PROTOCOLS, four_partitions, positions_of
from harness import Cannot, Refused, outcome
from members import LONG_SESSION_MS, group
from producers import Producer, decided_so_far, ends, producers, seen, settle

SHORT_TIMEOUT_MS = 1_000
# Longer than any broker lets a transaction stay open: 24 days.
ENDLESS_MS = 2**31 - 1


def declare(suite):
    declare_readers(suite)
    declare_fencing(suite)
    declare_positions(suite)
    for protocol in PROTOCOLS:
        declare_loop(suite, protocol)


def declare_readers(suite):
    @suite.check("transactions.commit")
    def commit(c):
        topic = c.create(c.name("txn-commit"), 2)
        with producers(c) as producer:
            p = producer(c.name("commits"))
            p.begin()
            sent = [p.send(topic, "a", "b"), p.send(topic, "c", partition=1)]
            answer = {"sent": sent, "open": [ends(c, topic, p) for p in range(2)], "decided": decided_so_far(c, topic)}
            p.commit()
        settle(c, topic, 2)
        return {**answer, "then": [seen(c, topic, p) for p in range(2)]}

    @suite.check("transactions.abort")
    def abort(c):
        topic = c.create(c.name("txn-abort"))
        with producers(c) as producer:
            p = producer(c.name("aborts"))
            p.commits(topic, "first")
            p.aborts(topic, "second", "third")
            p.commits(topic, "fourth")
            p.aborts(topic, "fifth")
        settle(c, topic)
        return seen(c, topic)

    @suite.check("transactions.open")
    def still_open(c):
        """An open transaction holds up whoever reads committed records only, whoever wrote them."""
        topic = c.create(c.name("txn-open"))
        with producers(c) as producer:
            slow, quick = producer(c.name("slow")), producer(c.name("quick"))
            slow.begin()
            slow.send(topic, "of the open one")
            quick.commits(topic, "of another")
            c.produce(topic, 0, ["of none"])
            answer = {"decided": decided_so_far(c, topic), "all": values(c.read(topic, start=0, count=3)), "end": ends(c, topic)[1]}
            slow.abort()
        settle(c, topic)
        return {**answer, "then": seen(c, topic)}

    @suite.check("transactions.many")
    def many(c):
        """One after the other by one producer: each begins while the one before may still be ending."""
        topic = c.create(c.name("txn-many"), 2)
        with producers(c) as producer:
            p = producer(c.name("many"))
            for n in range(20):
                (p.aborts if n % 3 == 0 else p.commits)(topic, f"{n} a", f"{n} b", partition=n % 2)
        settle(c, topic, 2)
        return [seen(c, topic, p) for p in range(2)]

    @suite.check("transactions.empty")
    def empty(c):
        topic = c.create(c.name("txn-empty"))
        with producers(c) as producer:
            answer = {}
            for end in ("commit", "abort"):
                p = producer(c.name(f"empty-{end}"))
                p.begin()
                answer[end] = outcome(p.commit if end == "commit" else p.abort)
            producer(c.name("empty-commit")).commits(topic, "one")
        settle(c, topic)
        return {**answer, "then": seen(c, topic)}


def declare_fencing(suite):
    for what, zombie in {
        "send": lambda p, topic: p.send(topic, "by the zombie"),
        "commit": lambda p, _: p.commit(),
        "abort": lambda p, _: p.abort(),
    }.items():

        @suite.check(f"transactions.fenced.{what}")
        def fenced(c, what=what, zombie=zombie):
            topic = c.create(c.name(f"txn-fenced-{what}"))
            with producers(c) as producer:
                first = producer(c.name(f"fenced-{what}"))
                first.begin()
                first.send(topic, "before")
                second = producer(c.name(f"fenced-{what}"))
                second.begin()
                second.send(topic, "after")
                answer = {"zombie": outcome(lambda: zombie(first, topic))}
                answer["heir"] = [outcome(second.commit), outcome(lambda: second.commits(topic, "again"))]
            settle(c, topic)
            return {**answer, "then": values(c.read(topic, committed=True))}

    @suite.check("transactions.timeout")
    def timeout(c):
        """Whoever dies in a transaction does not hold up readers for ever."""
        topic = c.create(c.name("txn-timeout"))
        with producers(c) as producer:
            slow = producer(c.name("timeout"), timeout_ms=SHORT_TIMEOUT_MS)
            slow.begin()
            slow.send(topic, "too late")
            settle(c, topic)
            answer = {"late": outcome(slow.commit)}
            producer(c.name("timeout")).commits(topic, "in time")
        settle(c, topic)
        return {**answer, "then": seen(c, topic)}

    @suite.check("transactions.timeout.too_long")
    def too_long(c):
        with producers(c) as producer:
            return outcome(lambda: producer(c.name("endless"), timeout_ms=ENDLESS_MS).begin())


def declare_positions(suite):
    @suite.check("transactions.positions")
    def positions(c):
        """Positions move when the transaction that they were sent in commits, and only then."""
        topic, name = four_partitions(c, "txn-positions"), c.name("txn-positions-moved")
        with producers(c) as producer:
            p = producer(c.name("positions"))

            def sent(positions):
                p.begin()
                # One client has the calls for positions alone.
                with contextlib.suppress(Cannot):
                    p.send(topic, "moved")
                p.send_positions(name, positions)

            sent([[topic, 0, 1, ""], [topic, 1, 2, "a note"]])
            answer = {"open": while_open(c, name, topic)}
            p.commit()
            answer["committed"] = until_moved(c, name, topic, 2)
            sent([[topic, 0, 2, ""], [topic, 2, 1, ""]])
            p.abort()
            sent([[topic, 3, 1, ""]])
            p.commit()
            answer["aborted, then another"] = until_moved(c, name, topic, 3)
        return answer


def read_by(c, name, topic):
    """Positions without metadata: not all clients send it in a transaction."""
    return [row[1:3] for row in positions_of(c, name, topic) if row[2] >= 0]


def while_open(c, name, topic):
    """Some clients ask for positions that are decided, and wait for them."""
    try:
        return read_by(c, name, topic)
    except Refused as waiting:
        return waiting.code


def until_moved(c, name, topic, count):
    c.wait_for(lambda: len(read_by(c, name, topic)) == count)
    return read_by(c, name, topic)


def declare_loop(suite, protocol):
    @suite.check(f"transactions.loop.{protocol}")
    def loop(c):
        """Consume, transform, produce: what is read, written and remembered is one thing, also over a kill and an abort."""
        source = four_partitions(c, f"txn-source-{protocol}")
        target = c.create(c.name(f"txn-target-{protocol}"))
        names = (c.name(f"loop-{protocol}-{n}") for n in itertools.count())
        with group(c, f"txn-loop-{protocol}", [source], protocol, session_ms=LONG_SESSION_MS) as g:
            member = g.join()
            g.shares(4)
            g.reads(8)
            p = Producer(member.program, next(names))
            transform(g, member, p, target, source, [0, 1])
            p.commit()
            transform(g, member, p, target, source, [2])
            p.abort()
            g.leave(member)
            heir = g.join()
            g.shares(4)
            # What was not committed is read again.
            c.wait_for(lambda: len(heir.look().read) >= 4)
            again = sorted(heir.values())
            p = Producer(heir.program, next(names))
            transform(g, heir, p, target, source, [2, 3])
            p.commit()
            settle(c, target)
            answer = {"read again": again, "written": sorted(values(c.read(target, committed=True)))}
            answer["positions"] = until_moved(c, g.name, source, 4)
        return answer


def transform(g, member, producer, target, source, partitions):
    """Begins a transaction that takes what the member has read of these partitions."""
    member.look()
    taken = [row for row in member.read if row[1] in partitions]
    producer.begin()
    producer.send(target, *(value.upper() for *_, value in taken))
    positions = [[source, p, max(row[2] for row in taken if row[1] == p) + 1, ""] for p in partitions]
    producer.send_positions(g.name, positions, member.name)
