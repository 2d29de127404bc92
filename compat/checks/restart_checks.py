"""The broker is restarted while groups read."""

from client import Client
from group_checks import PROTOCOLS, more
from members import LONG_SESSION_MS, group
from ready import Ready

RECONNECT_WAIT_S = 120

# Whose members keep their generation over a restart. The others may join anew when a connection breaks.
CALM = {"java", "librdkafka", "rdkafka"}


def declare(suite):
    for protocol in PROTOCOLS:

        @suite.check(f"restart.{protocol}", waits_for_the_clock=True)
        def restart(c, protocol=protocol):
            with Ready(c.program_name, protocol) as ready:
                topic = c.create(c.name(f"restart-{protocol}"), 4)
                with group(c, f"restart-{protocol}", [topic], protocol, session_ms=LONG_SESSION_MS) as g:
                    return over_a_restart(g, topic, ready)


def over_a_restart(g, topic, ready):
    members = [g.join(), g.join()]
    answer = {"before": g.shares(4)}
    more(g.c, topic, "first")
    g.reads(8)
    g.commit_all("before")
    g.look()
    had = [told(member) for member in members]
    ready.wait_for_the_restart()
    with Client(g.c.command, g.c.prefix) as c:
        g.c = c  # its own connections may not have outlived the broker
        more(c, topic, "second")
        g.reads(16, RECONNECT_WAIT_S)
        answer["after"] = g.shares(4)
        g.commit_all("after")
        more(c, topic, "third")
        g.reads(24)
    answer["each once"] = g.read_each_once(24)
    if c.program_name in CALM:
        answer["no rebalance"] = [told(member) for member in members] == had
    else:
        answer["no rebalance"] = "cannot: tell that nobody was rebalanced, for it joins again by itself"
    return answer


def told(member):
    return [member.partitions, member.taken, member.generation]
