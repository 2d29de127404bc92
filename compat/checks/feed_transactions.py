"""Transactions as streams: one commit on every feed that they touch, siblings by name; and feed readers who wait for none."""

from client import values
from group_checks import positions_of
from producers import decided_so_far, producers
from story import BY_HAND, manifests


def declare(suite):
    @suite.check("feed.transactions.siblings")
    def siblings(c):
        """Two feeds and positions in one transaction: a commit on each feed, which names the other."""
        orders, visits, source = (c.create(c.name(f"txn-{name}"), 1, BY_HAND) for name in ("orders", "visits", "source"))
        c.produce(source, 0, ["read", "read too"])
        with producers(c) as producer:
            p = producer(c.name("siblings"))
            p.begin()
            p.send(orders, "a", "b")
            p.send(visits, "c")
            p.send_positions(c.name("siblings-read"), [[source, 0, 2, ""]])
            before = [content(c, feed) for feed in (orders, visits)]
            p.commit()
        return {
            "before": before,
            "content": [content(c, feed) for feed in (orders, visits)],
            "commits": [[shown(c, m) for m in manifests(c, feed)] for feed in (orders, visits)],
            "positions": [row[1:3] for row in positions_of(c, c.name("siblings-read"), source, 1)],
        }

    @suite.check("feed.transactions.aborted")
    def aborted(c):
        """An aborted one takes no commit number and no feed offset."""
        topic = c.create(c.name("txn-feed-aborted"), 1, BY_HAND)
        with producers(c) as producer:
            p = producer(c.name("feed-aborted"))
            p.aborts(topic, "never")
            p.commits(topic, "once")
            p.aborts(topic, "never")
        return {"content": content(c, topic), "commits": [shown(c, m) for m in manifests(c, topic)]}

    @suite.check("feed.transactions.open")
    def still_open(c):
        """Who reads the feed gets every other commit at once; who reads the plain topic waits, as Kafka has it."""
        topic = c.create(c.name("txn-feed-open"), 1, BY_HAND)
        with producers(c) as producer:
            slow, quick = producer(c.name("feed-slow")), producer(c.name("feed-quick"))
            slow.begin()
            slow.send(topic, "of the open one")
            quick.commits(topic, "of another")
            quick.commits(topic, "and another")
            answer = {"plain": decided_so_far(c, topic), "feed": content(c, topic), "commits": len(manifests(c, topic))}
            slow.commit()
        return {**answer, "then": content(c, topic), "in all": len(manifests(c, topic))}

    @suite.check("feed.transactions.cut")
    def cut(c):
        """What was produced without a transaction before is a commit of its own, ahead of the transaction's."""
        topic = c.create(c.name("txn-feed-cut"), 1, BY_HAND)
        with producers(c) as producer:
            p = producer(c.name("feed-cut"))
            p.begin()
            p.send(topic, "of the transaction")
            c.produce(topic, 0, ["of none"])
            p.commit()
        return {"content": content(c, topic), "commits": [shown(c, m) for m in manifests(c, topic)]}


def content(c, topic):
    return values(c.read(f"{topic}..feed"))


def shown(c, manifest):
    """A manifest without what differs from run to run, and without the client's prefix."""
    keys = ["commit", "stream", "kind", "reason", "records"]
    named = [[row["feed"].removeprefix(f"{c.prefix}-"), row["commit"]] for row in manifest["siblings"]]
    transaction = (manifest.get("transaction") or {}).get("transactional_id", "")
    label = (manifest.get("label") or "").removeprefix(f"{c.prefix}-")
    return {**{key: manifest.get(key) for key in keys}, "label": label, "siblings": named, "of": transaction.removeprefix(f"{c.prefix}-")}
