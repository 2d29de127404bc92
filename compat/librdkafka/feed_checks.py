"""Views of a feed: every kind of name in raw mode, before, at and after its seal."""

import threading
import time
from datetime import datetime, timedelta, timezone

from confluent_kafka import TopicPartition

import story
from admin_checks import alter, described
from client import digest, text, values
from harness import outcome
from story import BY_HAND, content, seal

# As in SEMANTICS' table of names, on the story.
NAMES = [
    "feed", "commit-0", "commit-1", "commit-2", "commit-3", "commits-0-1", "commits-1-3", "commits-2-2", "since-0",
    "since-1", "since-3", "since-4", "upto-0", "upto-1", "upto-3", "stream-0", "stream-1", "stream-2", "stream-3",
    "named-first", "named-second", "named-nothing", "named-fourth",
]
MALFORMED = [
    "bogus", "commit-", "commit-x", "commit-01", "commits-3-1", "commits-1", "since-", "upto-x", "stream-x",
    "sealed-20260101T0900Z", "sealed-20260101T1000Z-20260101T0900Z", "hour-20260101", "day-20261301", "named-",
    "feed..best", "live", "stream-0..latest", "commits..dedup",
]


def minute(time):
    return time.strftime("%Y%m%dT%H%MZ")


def declare(suite):
    declare_names(suite)
    declare_history(suite)
    declare_bounds(suite)
    declare_cuts(suite)
    declare_refusals(suite)


def declare_names(suite):
    for name in NAMES:

        @suite.check(f"feed.name.{name}")
        def named(c, name=name):
            return content(c, f"{story.feed(c)}..{name}")

    @suite.check("feed.name.stream-4_open")
    def open_stream(c):
        view = f"{story.feed(c)}..stream-4"
        return {
            "read_uncommitted": content(c, view),
            "read_committed": content(c, view, **{"isolation.level": "read_committed"}),
        }

    @suite.check("feed.name.isolation_changes_nothing")
    def isolation(c):
        return content(c, f"{story.feed(c)}..feed", **{"isolation.level": "read_committed"})

    @suite.check("feed.name.plain_topic_shows_the_open_stream")
    def plain(c):
        return content(c, story.feed(c))

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

    @suite.check("feed.name.original_bytes")
    def original(c):
        topic = story.feed(c)
        shown = [[[text(m.key()), text(m.value()), m.headers(), m.timestamp()] for m in c.read(f"{topic}{view}", 0)]
                 for view in ("", "..commit-1")]
        return {"as_on_the_plain_topic": shown[0][3:5] == shown[1], "headers": headers(c.read(f"{topic}..commit-1", 0))}

    @suite.check("feed.name.read_from_the_middle")
    def middle(c):
        return values(c.read(f"{story.feed(c)}..feed", 1, start=3))

    @suite.check("feed.name.above_the_end")
    def above(c):
        return outcome(lambda: c.read(f"{story.feed(c)}..commit-0", 0, start=4, **{"auto.offset.reset": "error"}))

    @suite.check("feed.name.large")
    def large(c):
        topic = c.create(c.name("large"), 2, BY_HAND)
        for p in range(2):
            records = [{"key": f"k{n}", "value": f"{n} " + "x" * 300} for n in range(3000)]
            c.produce(topic, p, records, flush_every=500, **{"compression.type": "lz4"})
        seal(c, topic, "large", None)
        same = [digest(c.read(topic, p)) == digest(c.read(f"{topic}..commit-0", p)) for p in range(2)]
        return {"same": same, "bounds": [c.bounds(f"{topic}..feed", p) for p in range(2)]}


def headers(messages):
    return [[[k, text(v)] for k, v in m.headers() or []] for m in messages]


def declare_history(suite):
    @suite.check("feed.history.commits")
    def commits(c):
        found = c.read(f"{story.feed(c)}..commits")
        return [[m.offset(), text(m.key())] for m in found]

    @suite.check("feed.history.manifests")
    def manifests(c):
        keys = ["commit", "stream", "label", "kind", "reason", "records", "metadata"]
        return [{k: m.get(k) for k in keys} for m in story.manifests(c, story.feed(c))]

    @suite.check("feed.history.manifests_count_what_is_read")
    def counts(c):
        topic = story.feed(c)
        told = [[p["count"] for p in full(m)] for m in story.manifests(c, topic)]
        read = [[len(c.read(f"{topic}..commit-{n}", p)) for p in range(2)] for n in range(4)]
        return {"told": told, "read": read}

    @suite.check("feed.history.seal_times_rise")
    def rising(c):
        times = story.seal_times(c, story.feed(c))
        told = [m["sealed"] for m in story.manifests(c, story.feed(c))]
        now = time.time() * 1000
        return {"rising": times == sorted(times), "manifest": told == times, "now": all(now - 600_000 < t <= now for t in times)}

    @suite.check("feed.history.streams")
    def streams(c):
        found = c.read(f"{story.feed(c)}..streams")
        return [text(m.key()) for m in found]

    @suite.check("feed.history.for_times")
    def for_times(c):
        topic, consumer = story.feed(c), c.consumer()
        times = story.seal_times(c, topic)

        def first(view, partition, t):
            found = consumer.offsets_for_times([TopicPartition(f"{topic}..{view}", partition, t)], timeout=20)[0].offset
            return found

        answer = {
            "feed": [[first("feed", p, t) for t in (0, *times, times[-1] + 1)] for p in range(2)],
            "commits": [first("commits", 0, t) for t in (0, *times, times[-1] + 1)],
            "since-1": first("since-1", 0, 0),
        }
        consumer.close()
        return answer

    @suite.check("feed.history.seal_topic_is_empty")
    def seal_topic(c):
        return values(c.read(f"{story.feed(c)}..seal"))


def full(manifest, partitions=2):
    """A row for each partition, also those in which the commit has nothing."""
    rows = {row["partition"]: row for row in manifest["partitions"]}
    return [rows.get(p, {"count": 0}) for p in range(partitions)]


def declare_bounds(suite):
    @suite.check("feed.bounded.before_waits")
    def before(c):
        topic = story.feed(c)
        names = ["commit-9", "commits-3-9", "upto-9", "since-9", "stream-9", "named-nobody"]
        return {name: outcome(lambda: c.partitions(f"{topic}..{name}")) for name in names}

    @suite.check("feed.bounded.at_and_after")
    def at(c):
        topic = c.create(c.name("bounded"), 1, BY_HAND)
        view, found = f"{topic}..commit-0", []
        c.produce(topic, 0, ["a", "b", "c"])
        waiting = outcome(lambda: c.partitions(view))

        def wait_and_read():
            c.wait_for(lambda: c.partitions(view) == 1)
            found.extend(content(c, view, 1))

        reader = threading.Thread(target=wait_and_read)
        reader.start()
        time.sleep(0.5)
        seal(c, topic, "now", None)
        reader.join()
        c.produce(topic, 0, ["d"])
        seal(c, topic, "later", None)
        return {"before": waiting, "at": found, "after": content(c, view, 1)}

    @suite.check("feed.bounded.a_waiting_reader_gets_it_whole")
    def waiting(c):
        topic = c.create(c.name("patient"), 1, BY_HAND)
        found = []
        reader = threading.Thread(target=lambda: found.extend(c.read(f"{topic}..upto-1", start=0, until=5)))
        reader.start()
        for label, batch in (("one", ["a", "b"]), ("two", ["c", "d", "e"])):
            time.sleep(0.5)
            c.produce(topic, 0, batch)
            seal(c, topic, label, None)
        reader.join()
        return values(found)

    @suite.check("feed.follow")
    def follow(c):
        topic = c.create(c.name("followed"), 1, BY_HAND)
        found = []
        reader = threading.Thread(target=lambda: found.extend(c.read(f"{topic}..feed", start=0, until=3)))
        reader.start()
        for batch in (["a"], ["b", "c"]):
            time.sleep(0.3)
            c.produce(topic, 0, batch)
            seal(c, topic, "next", None)
        reader.join()
        return values(found)

    @suite.check("feed.name.sealed_window")
    def window(c):
        topic = c.create(c.name("window"), 1, BY_HAND)
        begin = datetime.now(timezone.utc)
        c.produce(topic, 0, ["in the window"])
        seal(c, topic, "in", None)
        end = datetime.now(timezone.utc) + timedelta(minutes=1)
        view = f"{topic}..sealed-{minute(begin)}-{minute(end)}"
        before = outcome(lambda: c.partitions(view))
        c.wait_for(lambda: c.partitions(view) == 1, 75)
        c.produce(topic, 0, ["after it"])
        seal(c, topic, "out", None)
        return {"before": before, "after": content(c, view, 1), "feed": content(c, f"{topic}..feed", 1)}


def declare_cuts(suite):
    @suite.check("feed.cut.records")
    def records(c):
        topic = c.create(c.name("cut-records"), 1, {**BY_HAND, "streamstack.seal.records": "5"})
        c.produce(topic, 0, [f"n{n}" for n in range(12)], flush_every=1)
        return cut(c, topic, 2)

    @suite.check("feed.cut.bytes")
    def sized(c):
        topic = c.create(c.name("cut-bytes"), 1, {**BY_HAND, "streamstack.seal.bytes": "1000"})
        c.produce(topic, 0, ["x" * 400 for _ in range(7)], flush_every=1)
        return cut(c, topic, 2)

    @suite.check("feed.cut.time")
    def timed(c):
        topic = c.create(c.name("cut-time"), 1, {"streamstack.seal.ms": "300"})
        c.produce(topic, 0, ["a", "b", "c"], **{"linger.ms": 50})
        first = cut(c, topic, 1)
        time.sleep(1)
        return {"first": first, "no_empty_commit": len(story.manifests(c, topic))}


def cut(c, topic, commits):
    c.wait_for(lambda: c.bounds(f"{topic}..commits")[1] >= commits)
    found = story.manifests(c, topic)
    return {"commits": [[m["reason"], m["records"]] for m in found], "feed": c.bounds(f"{topic}..feed")}


def declare_refusals(suite):
    @suite.check("feed.refused.unknown_feed")
    def unknown(c):
        return outcome(lambda: c.partitions(c.name("nosuch") + "..feed"))

    @suite.check("feed.refused.malformed")
    def malformed(c):
        topic = story.feed(c)
        return {name: outcome(lambda: c.partitions(f"{topic}..{name}")) for name in MALFORMED}

    @suite.check("feed.refused.writes")
    def writes(c):
        view, begin = f"{story.feed(c)}..feed", time.monotonic()
        answer = {
            "produce": outcome(lambda: c.produce(view, 0, ["v"])),
            "produce_to_commits": outcome(lambda: c.produce(f"{story.feed(c)}..commits", 0, ["v"])),
            "create": outcome(lambda: c.create(view)),
            "create_unknown": outcome(lambda: c.create(c.name("fresh") + "..feed")),
            "create_partitions": outcome(lambda: c.grow(view, 9)),
            "alter_configs": outcome(lambda: alter(c, view, [("retention.ms", "SET", "1")])),
            "delete": outcome(lambda: c.delete(view)),
        }
        return {**answer, "without_retry": time.monotonic() - begin < 10}

    @suite.check("feed.hidden_from_all_topics")
    def hidden(c):
        story.feed(c)
        return [t for t in c.admin.list_topics(timeout=20).topics if ".." in t]

    @suite.check("feed.described")
    def shapes(c):
        topic = story.feed(c)
        return {name: len(described(c, f"{topic}..{name}").partitions) for name in ("feed", "commit-0", "commits", "streams", "seal")}

    @suite.check("feed.deleted")
    def deleted(c):
        topic = c.create(c.name("gone"), 1, BY_HAND)
        c.produce(topic, 0, ["v"])
        seal(c, topic, "only", None)
        before = content(c, f"{topic}..commit-0", 1)
        c.delete(topic)
        return {"before": before, "after": outcome(lambda: c.partitions(f"{topic}..commit-0"))}
