"""checks.py BOOTSTRAP SUITE PREFIX [PART OF A NAME]: Kafka's command line tools against a broker, one JSON line a check.

An answer is what the tools print, command by command, without what differs from run to run (ids, ports, times).
"""

import json
import sys
import traceback

import cluster_checks
import config_checks
import record_checks
import topic_checks
from host import Host, Tools

CHECKS = [*topic_checks.CHECKS, *config_checks.CHECKS, *record_checks.CHECKS, *cluster_checks.CHECKS]


def main():
    bootstrap, suite, _prefix, *only = sys.argv[1:]
    if suite != "kafka":
        return
    host = Host()
    tools = Tools(bootstrap, host)
    with config_checks.replicas_as_formatted(tools):
        for name, check in CHECKS:
            if only and only[0] not in name:
                continue
            print(json.dumps({"check": name, "answer": answer(check, tools)}), flush=True)
    host.close()


def answer(check, tools):
    try:
        return check(tools)
    except Exception as error:  # a fault of the program: never an answer
        traceback.print_exc(file=sys.stderr)
        return {"crash": f"{type(error).__name__}: {error}"}


main()
