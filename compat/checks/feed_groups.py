"""Groups on views: `..feed` shared by members, and `..commits`, where a position is a commit number."""

from group_checks import PROTOCOLS, more, positions_of
from members import group
from story import BY_HAND, seal


def declare(suite):
    for protocol in PROTOCOLS:
        declare_views(suite, protocol)
    declare_operators(suite)


def feed_of(c, name, partitions, commits):
    """Each commit has two records in every partition."""
    topic = c.create(c.name(name), partitions, BY_HAND)
    for n in range(commits):
        more(c, topic, f"commit {n}", partitions=partitions)
        seal(c, topic, f"label {n}")
    return topic


def declare_views(suite, protocol):
    @suite.check(f"feed.group.{protocol}.feed")
    def feed(c):
        topic = feed_of(c, f"group-feed-{protocol}", 4, 2)
        with group(c, f"feed-{protocol}", [f"{topic}..feed"], protocol) as g:
            g.join()
            answer = {"alone": g.shares(4)}
            g.reads(16)
            g.commit_all()
            second = g.join()
            answer["two"] = g.shares(4)
            more(c, topic, "commit 2")
            seal(c, topic, "label 2")
            g.reads(24)
            g.commit_all()
            g.kill(second)
            answer["after the kill"] = g.shares(4)
            more(c, topic, "commit 3")
            seal(c, topic, "label 3")
            more(c, topic, "unsealed")
            g.reads(32)
            g.commit_all()
            answer["each once"] = g.read_each_once(32)
        positions = positions_of(c, g.name, f"{topic}..feed")
        answer["positions"] = sorted([row[0].removeprefix(topic), *row[1:3]] for row in positions)
        return answer

    @suite.check(f"feed.group.{protocol}.commits")
    def commits(c):
        topic = feed_of(c, f"group-commits-{protocol}", 2, 4)
        view = f"{topic}..commits"
        with group(c, f"commits-{protocol}", [view], protocol) as g:
            first = g.join()
            g.shares(1)
            g.reads(4)
            read = [row[2] for row in first.look().read]
            first.commit([[view, 0, 2, ""]])
            g.leave(first)
            again = g.join()
            g.shares(1)
            g.reads(4)
            c.wait_for(lambda: len(again.look().read) == 2)
            return {"read": read, "then from its position": [row[2] for row in again.read]}


def declare_operators(suite):
    @suite.check("feed.group.commits.redo")
    def redo(c):
        """The position of an empty group is set back to a commit, and that one and all after it are read again."""
        topic = feed_of(c, "group-redo", 1, 3)
        view = f"{topic}..commits"
        c.ask("move", group=c.name("redo"), positions=[[view, 0, 1, ""]])
        with group(c, "redo", [view]) as g:
            member = g.join()
            g.shares(1)
            c.wait_for(lambda: len(member.look().read) == 2)
            return [row[2] for row in member.read]

    @suite.check("feed.group.metadata")
    def metadata(c):
        topic = feed_of(c, "group-notes", 1, 2)
        view = f"{topic}..commits"
        with group(c, "notes", [view]) as g:
            member = g.join()
            g.shares(1)
            member.commit([[view, 0, 2, "batch 17"]])
            return [row[2:] for row in member.committed([[view, 0]])]
