"""What no view may be asked for, and how views show in metadata."""

import time

import story
from config_checks import alter
from harness import outcome
from story import BY_HAND, content, seal

MALFORMED = [
    "bogus", "commit-", "commit-x", "commit-01", "commits-3-1", "commits-1", "since-", "upto-x", "stream-x",
    "sealed-20260101T0900Z", "sealed-20260101T1000Z-20260101T0900Z", "hour-20260101", "day-20261301", "named-",
    "feed..best", "live", "stream-0..latest", "commits..dedup",
]


def declare(suite):
    declare_names(suite)
    declare_writes(suite)
    declare_metadata(suite)


def declare_names(suite):
    @suite.check("feed.refused.unknown_feed")
    def unknown(c):
        return outcome(lambda: c.partitions(c.name("nosuch") + "..feed"))

    @suite.check("feed.refused.malformed")
    def malformed(c):
        topic = story.feed(c)
        return {name: outcome(lambda: c.partitions(f"{topic}..{name}")) for name in MALFORMED}


def declare_writes(suite):
    @suite.check("feed.refused.writes")
    def writes(c):
        view, begin = f"{story.feed(c)}..feed", time.monotonic()
        answer = {
            "produce": outcome(lambda: c.produce(view, 0, ["v"])),
            "produce_to_commits": outcome(lambda: c.produce(f"{story.feed(c)}..commits", 0, ["v"])),
            "create": outcome(lambda: c.create(view)),
            "create_unknown": outcome(lambda: c.create(c.name("fresh") + "..feed")),
            "create_partitions": outcome(lambda: c.grow(view, 9)),
            "alter_configs": outcome(lambda: alter(c, view, [["retention.ms", "SET", "1"]])),
            "delete": outcome(lambda: c.delete(view)),
        }
        return {**answer, "without_retry": time.monotonic() - begin < 10}


def declare_metadata(suite):
    @suite.check("feed.hidden_from_all_topics")
    def hidden(c):
        story.feed(c)
        return [t for t in c.ask("topics") if ".." in t]

    @suite.check("feed.described")
    def shapes(c):
        topic = story.feed(c)
        return {name: len(c.shape(f"{topic}..{name}")) for name in ("feed", "commit-0", "commits", "streams", "seal")}

    @suite.check("feed.topic_ids")
    def ids(c):
        names = ["..feed", "..feed", "..commit-0", ""]
        one, again, two, plain = (c.ask("topic_id", topic=story.feed(c) + name) for name in names)
        given = bool(one.replace("0", "").replace("-", ""))
        return {"given": given, "stable": one == again, "differ": one not in (two, plain)}

    @suite.check("feed.deleted")
    def deleted(c):
        topic = c.create(c.name("gone"), 1, BY_HAND)
        c.produce(topic, 0, ["v"])
        seal(c, topic, "only")
        before = content(c, f"{topic}..commit-0", 1)
        c.delete(topic)
        return {"before": before, "after": outcome(lambda: c.partitions(f"{topic}..commit-0"))}
