"""..commits and ..streams, offsets by time on views, and the cuts that the broker makes by itself."""

import time

import story
from client import values
from harness import Cannot
from story import BY_HAND


def declare(suite):
    declare_commits(suite)
    declare_offsets(suite)
    declare_cuts(suite)


def declare_commits(suite):
    @suite.check("feed.history.commits")
    def commits(c):
        return [[r["offset"], r["key"]] for r in c.read(f"{story.feed(c)}..commits")]

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
        return [r["key"] for r in c.read(f"{story.feed(c)}..streams")]

    @suite.check("feed.history.seal_topic_is_empty")
    def seal_topic(c):
        return values(c.read(f"{story.feed(c)}..seal"))


def full(manifest, partitions=2):
    """A row for each partition, also those in which the commit has nothing."""
    rows = {row["partition"]: row for row in manifest["partitions"]}
    return [rows.get(p, {"count": 0}) for p in range(partitions)]


def declare_offsets(suite):
    @suite.check("feed.history.for_times")
    def for_times(c):
        topic = story.feed(c)
        times = story.seal_times(c, topic)

        def first(view, partition):
            return [c.offset(f"{topic}..{view}", partition, t)[0] for t in (0, *times, times[-1] + 1)]

        return {
            "feed": [first("feed", p) for p in range(2)],
            "commits": first("commits", 0),
            "since-1": first("since-1", 0)[0],
        }

    @suite.check("feed.history.for_times_tell_the_seal_time")
    def seal_time(c):
        topic = story.feed(c)
        times = story.seal_times(c, topic)
        first, second = (c.offset(f"{topic}..feed", 0, t)[1] for t in (0, times[0] + 1))
        if first is None:
            raise Cannot("tell the time of the record that it found by time")
        return [first == times[0], second == times[1]]


def declare_cuts(suite):
    @suite.check("feed.cut.records")
    def records(c):
        topic = c.create(c.name("cut-records"), 1, {**BY_HAND, "streamstack.seal.records": "5"})
        c.produce(topic, 0, [f"n{n}" for n in range(12)], batch_of=1)
        return cut(c, topic, 2)

    @suite.check("feed.cut.bytes")
    def sized(c):
        topic = c.create(c.name("cut-bytes"), 1, {**BY_HAND, "streamstack.seal.bytes": "1000"})
        c.produce(topic, 0, ["x" * 400 for _ in range(7)], batch_of=1, codec="none")
        return cut(c, topic, 2)

    @suite.check("feed.cut.time")
    def timed(c):
        topic = c.create(c.name("cut-time"), 1, {"streamstack.seal.ms": "300"})
        c.produce(topic, 0, ["a", "b", "c"])
        first = cut(c, topic, 1)
        time.sleep(1)
        return {"first": first, "no_empty_commit": len(story.manifests(c, topic))}


def cut(c, topic, commits):
    c.wait_for(lambda: c.bounds(f"{topic}..commits")[1] >= commits)
    found = story.manifests(c, topic)
    return {"commits": [[m["reason"], m["records"]] for m in found], "feed": c.bounds(f"{topic}..feed")}
