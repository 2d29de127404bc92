"""Views of a feed: every kind of name, read to the end."""

from datetime import datetime, timedelta, timezone

import story
from client import digest, values
from harness import outcome
from story import BY_HAND, content, seal

NAMES = [
    "feed", "commit-0", "commit-1", "commit-2", "commit-3", "commits-0-1", "commits-1-3", "commits-2-2", "since-0",
    "since-1", "since-3", "since-4", "upto-0", "upto-1", "upto-3", "stream-0", "stream-1", "stream-2", "stream-3",
    "named-first", "named-second", "named-nothing", "named-fourth",
]


def minute(time):
    return time.strftime("%Y%m%dT%H%MZ")


def declare(suite):
    for name in NAMES:

        @suite.check(f"feed.name.{name}")
        def named(c, name=name):
            return content(c, f"{story.feed(c)}..{name}")

    declare_isolation(suite)
    declare_times(suite)
    declare_reads(suite)


def declare_isolation(suite):
    @suite.check("feed.name.stream-4_open")
    def open_stream(c):
        view = f"{story.feed(c)}..stream-4"
        return {"read_uncommitted": content(c, view), "read_committed": content(c, view, committed=True)}

    @suite.check("feed.name.isolation_changes_nothing")
    def isolation(c):
        return content(c, f"{story.feed(c)}..feed", committed=True)

    @suite.check("feed.name.plain_topic_shows_the_open_stream")
    def plain(c):
        return content(c, story.feed(c))


def declare_times(suite):
    @suite.check("feed.name.finished_hour_and_day")
    def finished(c):
        topic, now = story.feed(c), datetime.now(timezone.utc)
        before = [now - timedelta(hours=3), now - timedelta(days=2)]
        names = [f"hour-{before[0]:%Y%m%d%H}", f"day-{before[1]:%Y%m%d}"]
        names.append(f"sealed-{minute(now - timedelta(minutes=9))}-{minute(now - timedelta(minutes=5))}")
        for name in names:
            c.wait_for(lambda: c.partitions(f"{topic}..{name}") == 2)
        return [content(c, f"{topic}..{name}") for name in names]

    @suite.check("feed.name.unfinished_hour_and_day_wait")
    def unfinished(c):
        topic, now = story.feed(c), datetime.now(timezone.utc)
        names = [f"hour-{now:%Y%m%d%H}", f"day-{now:%Y%m%d}"]
        names.append(f"sealed-{minute(now - timedelta(minutes=5))}-{minute(now + timedelta(minutes=5))}")
        return [outcome(lambda: c.partitions(f"{topic}..{name}")) for name in names]

    @suite.check("feed.name.sealed_window", waits_for_the_clock=True)
    def window(c):
        topic = c.create(c.name("window"), 1, BY_HAND)
        begin = datetime.now(timezone.utc)
        c.produce(topic, 0, ["in the window"])
        seal(c, topic, "in")
        end = datetime.now(timezone.utc) + timedelta(minutes=1)
        view = f"{topic}..sealed-{minute(begin)}-{minute(end)}"
        before = outcome(lambda: c.partitions(view))
        c.wait_for(lambda: c.partitions(view) == 1, 75)
        c.produce(topic, 0, ["after it"])
        seal(c, topic, "out")
        return {"before": before, "after": content(c, view, 1), "feed": content(c, f"{topic}..feed", 1)}


def declare_reads(suite):
    @suite.check("feed.name.original_bytes")
    def original(c):
        topic = story.feed(c)
        kept = ["key", "value", "headers", "timestamp"]
        plain, view = ([[r[k] for k in kept] for r in c.read(f"{topic}{view}", 0)] for view in ("", "..commit-1"))
        headers = [r[2] for r in view]
        headers[1] = [[name, value or ""] for name, value in headers[1]]  # some clients show an empty one as none
        if headers[0][2:] == [["kept", ""]]:
            headers = "cannot: send a header without a value, so it was sent with an empty one"
        return {"as_on_the_plain_topic": plain[3:5] == view, "headers": headers}

    @suite.check("feed.name.read_from_the_middle")
    def middle(c):
        return values(c.read(f"{story.feed(c)}..feed", 1, start=3))

    @suite.check("feed.name.above_the_end")
    def above(c):
        return outcome(lambda: c.read(f"{story.feed(c)}..commit-0", 0, start=4, count=1))

    @suite.check("feed.name.large")
    def large(c):
        topic = c.create(c.name("large"), 2, BY_HAND)
        for p in range(2):
            records = [{"key": f"k{n}", "value": f"{n} " + "x" * 300} for n in range(3000)]
            c.produce(topic, p, records, batch_of=500, codec="gzip")
        seal(c, topic, "large")
        same = [digest(c.read(topic, p)) == digest(c.read(f"{topic}..commit-0", p)) for p in range(2)]
        return {"same": same, "bounds": [c.bounds(f"{topic}..feed", p) for p in range(2)]}
