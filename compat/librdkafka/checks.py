"""checks.py BOOTSTRAP kafka|feed PREFIX [PART OF A NAME]: confluent-kafka against a broker."""

import sys

import confluent_kafka

import admin_checks
import feed_checks
import fetch_checks
import produce_checks
from client import Client
from harness import Suite

SUITES = {"kafka": [produce_checks, fetch_checks, admin_checks], "feed": [feed_checks]}


def main():
    if sys.argv[1:] == ["--version"]:
        print(f"confluent-kafka {confluent_kafka.__version__} (librdkafka {confluent_kafka.libversion()[0]})")
        return
    bootstrap, name, prefix = sys.argv[1:4]
    suite = Suite()
    for module in SUITES[name]:
        module.declare(suite)
    suite.run(Client(bootstrap, prefix), sys.argv[4] if len(sys.argv) > 4 else None)


main()
