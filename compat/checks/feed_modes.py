"""Views that leave records out: dedup, latest, live, changed; following, over ranges, by a plain name, and in groups."""

import threading

from client import values
from group_checks import positions_of
from harness import beside, outcome
from members import commit, group, when_settled
from story import BY_HAND, seal

TELLING = threading.Lock()

# A commit a line: per partition, keys and values. None: a tombstone, or no key.
COMMITS = [
    [[("k0", "a"), ("k1", "a"), ("k0", "a")], [("k2", "a")]],
    [[("k0", "b"), ("k1", "a")], [("k2", None)]],
    [[("k0", "a"), ("k1", "a")], []],
    [[("k1", None)], [("k3", "a"), (None, "x"), (None, "x")]],
    [[], []],
]

NAMES = [
    "dedup", "latest", "changed", "since-1..dedup", "since-1..latest", "since-2..changed", "commit-0..dedup", "commit-0..latest",
    "commit-2..dedup", "commit-2..changed", "commit-4..dedup", "commits-0-2..dedup", "commits-1-3..dedup", "commits-0-3..latest",
    "commits-0-2..live", "commits-0-3..live", "commits-0-3..changed", "upto-1..latest", "upto-3..live", "upto-4..changed",
]


def feed(c):
    """The feed of these checks, told on the first call."""
    topic = c.name("modes")
    with TELLING:
        if outcome(lambda: c.partitions(topic)) != "ok":
            c.create(topic, 2, BY_HAND)
            for number, commit in enumerate(COMMITS):
                tell(c, topic, commit, f"poll {number}")
    return topic


def tell(c, topic, commit, label):
    for partition, records in enumerate(commit):
        if records:
            c.produce(topic, partition, [{"key": key, "value": value} for key, value in records])
    seal(c, topic, label)


def content(c, view, partitions=2):
    """Per partition: bounds, and offset, key and value of what is read to the end."""
    # The first who asks has the feed indexed.
    c.wait_for(lambda: c.partitions(view) == partitions)
    found = []
    for partition in range(partitions):
        begin, end = c.bounds(view, partition)
        records = [[r["offset"], r["key"], r["value"]] for r in c.read(view, partition)]
        found.append([begin, end, records])
    return found


def declare(suite):
    for name in NAMES:

        @suite.check(f"feed.mode.{name}")
        def mode(c, name=name):
            return content(c, f"{feed(c)}..{name}")

    declare_following(suite)
    declare_names(suite)


def declare_following(suite):
    @suite.check("feed.mode.followed")
    def followed(c):
        topic = c.create(c.name("modes-followed"), 1, BY_HAND)
        view = f"{topic}..changed"
        tell(c, topic, [[("k", "a")]], "zero")
        c.wait_for(lambda: c.partitions(view) == 1)

        def write():
            for number, value in enumerate("aab"):
                tell(c, topic, [[("k", value)]], str(number))

        return beside(lambda: values(c.read(view, start=0, count=2)), write)

    @suite.check("feed.mode.position_is_shared")
    def shared(c):
        """A group's position on one of the views is good on the others: they share the offsets of feed space."""
        topic = feed(c)
        read = {}
        for view, count in (("feed", 9), ("dedup", 5), ("changed", 7)):
            name = f"{topic}..{view}"
            c.wait_for(lambda: c.partitions(name) == 2)
            c.ask("move", group=c.name(f"modes-{view}"), positions=[[name, 0, 3, ""], [name, 1, 1, ""]])
            with group(c, f"modes-{view}", [name]) as g:
                member = g.join()
                g.shares(2)
                c.wait_for(lambda: len(member.look().read) == count)
                # Some members show a tombstone as an empty value.
                read[view] = sorted([partition, offset, value or ""] for _, partition, offset, value in member.read)
        return read

    @suite.check("feed.mode.before_and_after_sealing")
    def sealing(c):
        """Bounded names are asked for again until what they end with is sealed; then they are read whole, and stay so."""
        topic = c.create(c.name("modes-sealing"), 1, BY_HAND)
        views = [f"{topic}..{name}" for name in ("commit-1..dedup", "commits-0-1..latest", "upto-1..changed", "commits-0-1..live")]
        tell(c, topic, [[("k0", "a"), ("k1", "a")]], "zero")
        answer = {"before": [outcome(lambda: c.partitions(view)) for view in views]}
        open_commit = [("k0", "a"), ("k0", "b"), ("k0", "b"), ("k1", None)]
        c.produce(topic, 0, [{"key": key, "value": value} for key, value in open_commit])
        answer["open"] = [outcome(lambda: c.partitions(view)) for view in views]
        seal(c, topic, "one")
        answer["sealed"] = [content(c, view, 1) for view in views]
        tell(c, topic, [[("k0", "c"), ("k1", "c")]], "two")
        answer["after"] = [content(c, view, 1) for view in views] == answer["sealed"]
        return answer

    @suite.check("feed.mode.group_is_shared")
    def group_is_shared(c):
        """A group leaves `..feed` for `..dedup` at the same position, and two members share what is left."""
        topic = feed(c)
        feed_view, view = f"{topic}..feed", f"{topic}..dedup"
        c.wait_for(lambda: c.partitions(view) == 2)
        with group(c, "modes-shared", [feed_view]) as g:
            member = g.join()
            g.shares(2)
            c.wait_for(lambda: len(member.look().read) >= 5)
            commit(c, member, [[feed_view, 0, 3, ""], [feed_view, 1, 1, ""]])
            g.leave(member)
        positions = [[view, *row[1:3], ""] for row in positions_of(c, g.name, feed_view, 2)]
        moved = when_settled(c, lambda: c.ask("move", group=g.name, positions=positions))
        with group(c, "modes-shared", [view]) as g:
            g.join()
            g.join()
            shares = g.shares(2)

            def read():
                """Some members show a tombstone as an empty value."""
                g.look()
                return sorted({(partition, offset, value or "") for m in g.members for _, partition, offset, value in m.read})

            c.wait_for(lambda: len(read()) >= 5)
            return {"moved": moved, "shares": shares, "read": read()}


def declare_names(suite):
    @suite.check("feed.mode.plain_name")
    def plain_name(c):
        topic = feed(c)
        name = c.create(c.name("modes-latest"), 2, {"streamstack.view": f"{topic}..latest"}, wait=False)
        found = content(c, name)
        return {"as the view": found == content(c, f"{topic}..latest"), "written to": outcome(lambda: c.produce(name, 0, ["x"]))}
