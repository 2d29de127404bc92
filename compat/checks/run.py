"""run.py BOOTSTRAP SUITE PREFIX PART_OF_A_NAME COMMAND...: the checks, asked of the client that COMMAND starts."""

import sys

import config_checks
import feed_bounds
import feed_groups
import feed_history
import feed_modes
import feed_names
import feed_refusals
import feed_transactions
import fetch_checks
import group_checks
import produce_checks
import restart_checks
import topic_checks
import transaction_checks
import transaction_restart
import wire_checks
from client import Client
from harness import Suite

SUITES = {
    "kafka": [produce_checks, fetch_checks, topic_checks, config_checks, wire_checks],
    "feed": [feed_names, feed_history, feed_bounds, feed_refusals],
    "feed-modes": [feed_modes],
    "groups": [group_checks],
    "feed-groups": [feed_groups],
    "restart": [restart_checks],
    "transactions": [transaction_checks],
    "feed-transactions": [feed_transactions],
    "transactions-restart": [transaction_restart],
}

# Checks of groups wait more than they work.
LANES = {"groups": 3, "feed-groups": 3, "feed-modes": 3, "transactions": 3}


def main():
    bootstrap, name, prefix, part, *command = sys.argv[1:]
    suite = Suite()
    for module in SUITES[name]:
        module.declare(suite)
    if name == "groups" and prefix.startswith("sarama"):
        group_checks.declare_exporter(suite)
    # Both protocols in one group: Java's is the client that Kafka's own move is made with.
    if name == "groups" and prefix.startswith(("java", "librdkafka")):
        group_checks.declare_migration(suite, moves_again=prefix.startswith("java"))
    with Client([*command, bootstrap], prefix) as client:
        # Each member of Java's is a JVM, and a few of them at once are work enough.
        suite.run(client, part, 1 if prefix.startswith("java") else LANES.get(name, 1))


main()
