"""checks.py BOOTSTRAP SUITE PREFIX [PART OF A NAME]: Kafka's command line tools against a broker, one JSON line a check.

An answer is what the tools print, command by command, without what differs from run to run (ids, ports, times).
"""

import json
import sys
import traceback

import cluster_checks
import config_checks
import feed_checks
import feed_group_checks
import group_checks
import reader_checks
import record_checks
import topic_checks
import transaction_checks
from host import Host, Tools

GROUP_CHECKS = [*group_checks.CHECKS, *reader_checks.CHECKS]
KAFKA_CHECKS = [*topic_checks.CHECKS, *config_checks.CHECKS, *record_checks.CHECKS, *cluster_checks.CHECKS]


def main():
    bootstrap, suite, _prefix, *only = sys.argv[1:]
    host = Host()
    tools = Tools(bootstrap, host)
    if suite == "feed":
        run(feed_checks.CHECKS, tools, only)
    elif suite == "feed-groups":
        run(feed_group_checks.CHECKS, tools, only)
    elif suite == "groups":
        run(GROUP_CHECKS, tools, only)
    elif suite == "transactions":
        run(transaction_checks.CHECKS, tools, only)
    elif suite == "kafka":
        with config_checks.replicas_as_formatted(tools):
            run(KAFKA_CHECKS, tools, only)
    host.close()


def run(checks, tools, only):
    for name, check in checks:
        if not only or only[0] in name:
            print(json.dumps({"check": name, "answer": answer(check, tools)}), flush=True)


def answer(check, tools):
    try:
        return check(tools)
    except Exception as error:  # a fault of the program: never an answer
        traceback.print_exc(file=sys.stderr)
        return {"crash": f"{type(error).__name__}: {error}"}


main()
