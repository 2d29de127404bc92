"""The broker is restarted while a transaction is open: what was acknowledged stays, and its producer goes on and commits."""

from client import Client, values
from producers import producers, settle
from ready import Ready


def declare(suite):
    @suite.check("restart.transaction", waits_for_the_clock=True)
    def restart(c):
        with Ready(c.program_name, "transaction") as ready, producers(c) as producer:
            topic = c.create(c.name("txn-restart"))
            p = producer(c.name("restart"))
            p.commits(topic, "committed before")
            p.aborts(topic, "aborted before")
            p.begin()
            p.send(topic, "open before")
            ready.wait_for_the_restart()
            p.send(topic, "open after")
            p.commit()
            p.commits(topic, "committed after")
            # The connections of its reader may not have outlived the broker.
            with Client(c.command, c.prefix) as again:
                settle(again, topic)
                return values(again.read(topic, committed=True))
