"""checks.py BOOTSTRAP SUITE PREFIX [PART OF A NAME]: Flink's way of committing, by its own producer, one JSON line a check.

A writer prepares a transaction for a checkpoint, which remembers producer id and epoch, and dies. The committer of another
process takes them up and commits. After a failure Flink does so again, for all that it does not know to be committed.
"""

import subprocess

from jvm import java
from ready import Ready
from suite import run, wait_until
from topics import create, manifests, read_all, values, write

BY_HAND = {"streamstack.seal.ms": "86400000"}
TIMEOUT_MS = 600_000
SHORT_TIMEOUT_MS = 1_000
# Flink sets fields of the client that are not its own.
OPTIONS = ["--add-opens=java.base/java.lang=ALL-UNNAMED"]


class Sink:
    def __init__(self, at, **config):
        self.at, self.topic = at, at.name("written")
        create(at.bootstrap, self.topic, 1, **config)

    def ask(self, *arguments):
        command = java("flink", "Sink", self.at.bootstrap, *arguments, options=OPTIONS)
        return subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE, text=True).stdout.split("\n")[:-1]

    def prepare(self, subtask, *written, timeout_ms=TIMEOUT_MS):
        """What the checkpoint remembers of it."""
        name = self.at.name(subtask)
        return [name, *self.ask("prepare", name, timeout_ms, self.topic, *written)]

    def commit(self, *remembered):
        return self.ask("commit", *(word for one in remembered for word in one))

    def begin(self, subtask):
        self.ask("begin", self.at.name(subtask))

    def seen(self):
        return values(read_all(self.at.bootstrap, self.topic))


def with_sink(check, **config):
    return lambda at: check(Sink(at, **config))


def resumed(sink):
    """Two writers; one committer for both. What Flink does not know to be committed it commits once more."""
    remembered = [sink.prepare("first", "a", "b"), sink.prepare("second", "c")]
    answer = {"prepared": sink.seen()}
    answer["committed"] = sink.commit(*remembered)
    answer["then"] = sink.seen()
    answer["committed again"] = sink.commit(*remembered)
    return {**answer, "at last": sink.seen()}


def goes_on(sink):
    """The next checkpoint of the same writer; then a late committer knows the one before only."""
    first = sink.prepare("writer", "a")
    answer = {"committed": sink.commit(first)}
    second = sink.prepare("writer", "b")
    answer["the one before again"] = sink.commit(first)
    answer["open meanwhile"] = sink.seen()
    answer["the next one"] = sink.commit(second)
    return {**answer, "then": sink.seen()}


def taken_over(sink):
    """A writer that takes the id anew aborts what was prepared, and so it cannot be committed any more."""
    remembered = sink.prepare("writer", "a")
    sink.begin("writer")
    answer = {"committed": sink.commit(remembered)}
    write(sink.at.bootstrap, sink.topic, [(None, "of nobody's transaction")])
    return {**answer, "then": sink.seen()}


def timed_out(sink):
    """It was prepared too long ago."""
    remembered = sink.prepare("writer", "a", timeout_ms=SHORT_TIMEOUT_MS)
    write(sink.at.bootstrap, sink.topic, [(None, "of nobody's transaction")])
    # What came after an open transaction can be read once that has ended.
    wait_until("the transaction is aborted", lambda: sink.seen() != [])
    return {"committed": sink.commit(remembered), "then": sink.seen()}


def nothing_written(sink):
    """A transaction without records leaves nothing to commit; one that was never there neither."""
    remembered = sink.prepare("writer")
    answer = {"committed": sink.commit(remembered)}
    answer["never there"] = sink.commit([sink.at.name("nobody"), *remembered[1:]])
    return {**answer, "then": sink.seen()}


def as_commits(sink):
    """Each of them is one commit of the feed, once it is resumed."""
    remembered = [sink.prepare("first", "a", "b"), sink.prepare("second", "c")]
    answer = {"prepared": len(manifests(sink.at.bootstrap, sink.topic))}
    answer["committed"] = sink.commit(*remembered)
    answer["committed again"] = sink.commit(remembered[0])
    history = manifests(sink.at.bootstrap, sink.topic)
    answer["commits"] = [[m["commit"], m["kind"], m["records"], m["label"].removeprefix(sink.at.prefix)] for m in history]
    return {**answer, "content": values(read_all(sink.at.bootstrap, f"{sink.topic}..feed"))}


def restarted(at):
    """The broker is killed between the checkpoint and the commit."""
    with Ready(at.program_name, "transaction") as ready:
        sink = Sink(at)
        remembered = [sink.prepare("first", "a", "b"), sink.prepare("second", "c")]
        ready.wait_for_the_restart()
        answer = {"prepared": sink.seen(), "committed": sink.commit(*remembered), "committed again": sink.commit(remembered[0])}
        return {**answer, "then": sink.seen(), "commits": [m["records"] for m in manifests(at.bootstrap, sink.topic)]}


run({
    "transactions": {f"flink.{check.__name__}": with_sink(check) for check in (resumed, goes_on, taken_over, timed_out, nothing_written)},
    "feed-transactions": {"feed.flink.resumed": with_sink(as_commits, **BY_HAND)},
    "transactions-restart": {"restart.flink": restarted},
})
