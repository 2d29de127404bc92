"""Bounded names before, at and after their seal, and names that follow."""

import story
from client import values
from harness import beside, outcome
from story import BY_HAND, content, seal, sealed_batch


def declare(suite):
    @suite.check("feed.bounded.before_waits")
    def before(c):
        topic = story.feed(c)
        names = ["commit-9", "commits-3-9", "upto-9", "since-9", "stream-9", "named-nobody"]
        return {name: outcome(lambda: c.partitions(f"{topic}..{name}")) for name in names}

    @suite.check("feed.bounded.at_and_after")
    def at(c):
        topic = c.create(c.name("bounded"), 1, BY_HAND)
        view = f"{topic}..commit-0"
        before = outcome(lambda: c.partitions(view))

        def wait_and_read():
            c.wait_for(lambda: c.partitions(view) == 1)
            return content(c, view, 1)

        found = beside(wait_and_read, lambda: sealed_batch(c, topic, ["a", "b", "c"]))
        c.produce(topic, 0, ["d"])
        seal(c, topic, "later")
        return {"before": before, "at": found, "after": content(c, view, 1)}

    @suite.check("feed.bounded.a_waiting_reader_gets_it_whole")
    def waiting(c):
        topic = c.create(c.name("patient"), 1, BY_HAND)

        def write():
            sealed_batch(c, topic, ["a", "b"])
            sealed_batch(c, topic, ["c", "d", "e"])

        return beside(lambda: values(c.read(f"{topic}..upto-1", start=0, count=5)), write)

    @suite.check("feed.follow")
    def follow(c):
        topic = c.create(c.name("followed"), 1, BY_HAND)

        def write():
            sealed_batch(c, topic, ["a"])
            sealed_batch(c, topic, ["b", "c"])

        return beside(lambda: values(c.read(f"{topic}..feed", start=0, count=3)), write)
