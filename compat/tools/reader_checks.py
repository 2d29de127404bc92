"""The tools that read in groups: kafka-console-consumer, kafka-consumer-perf-test, kafka-verifiable-producer and -consumer,
kafka-e2e-latency.
"""

import itertools
import json
import re

from group_checks import GROUPS, filled

READ = "kafka-console-consumer --timeout-ms 4000"


def console_consumer(t):
    filled(t, "tools-n")
    show = "--formatter-property print.partition=true --formatter-property print.offset=true"
    group = f"{READ} --topic tools-n --group tools-console"
    answers = {
        command: sorted(lines)
        for command, lines in t.answers(
            f"{group} --from-beginning {show} --max-messages 8",
            f"{group} --from-beginning",
            f"{READ} --topic tools-n --group tools-console-late --max-messages 1",
            f"{READ} --include tools-[n] --group tools-console-new --from-beginning --max-messages 8"
            " --command-property group.protocol=consumer",
            f"{READ} --topic tools-n --from-beginning --max-messages 8",
        ).items()
    }
    return {**answers, **t.answers(f"{GROUPS} --describe --group tools-console", f"{GROUPS} --describe --group tools-console-new")}


def perf(t):
    """How many were read; the other columns are times and rates."""
    _, lines = t.run("kafka-consumer-perf-test --topic tools-n --group tools-perf --num-records 8 --timeout 20000")
    *heads, row = [[column.strip() for column in line.split(",")] for line in lines]
    return {"head": heads, "columns": len(row), "records": row[4], "positions": t.run(f"{GROUPS} --describe --group tools-perf")}


def events(t, command):
    """The tool's JSON lines without times."""
    told = []
    for line in t.raw(command)[1].splitlines():
        event = json.loads(line)
        told.append({key: value for key, value in event.items() if key not in ("timestamp", "avg_throughput", "target_throughput")})
    return told


def verifiable(t):
    t.do("kafka-topics --create --topic tools-v --partitions 1")
    send = "kafka-verifiable-producer --topic tools-v --max-messages 5 --throughput -1 --value-prefix 7 --repeating-keys 2"
    answers = {"producer": events(t, send)}
    read = "kafka-verifiable-consumer --topic tools-v --max-messages 5"
    for protocol in ("classic", "consumer"):
        answers[protocol] = whole(events(t, f"{read} --group-id tools-verifiable-{protocol} --group-protocol {protocol} --verbose"))
        answers[f"{protocol} positions"] = t.run(f"{GROUPS} --describe --group tools-verifiable-{protocol}")
    return answers


def whole(told):
    """The events in order, but those of records as one: how many come with one poll is chance. So is whether an assignment
    comes with one heartbeat or with two."""
    records = [e for e in told if e["name"] == "record_data"]
    # The producer before, in the same JVM, may say its last while the consumer starts.
    others = ("record_data", "records_consumed", "offsets_committed", "producer_send_success")
    names = [e["name"] for e in told if e["name"] not in others]
    names = [name for name, _ in itertools.groupby(names)]
    committed = [e for e in told if e["name"] == "offsets_committed"]
    return {"events": names, "records": records, "committed": committed[-1:]}


def latency(t):
    """Each record is read before the next is sent; how long that took is no answer."""
    t.do("kafka-topics --create --topic tools-e --partitions 1")
    exit_code, lines = t.run("kafka-e2e-latency tools-e 20 all 100")
    masked = [re.sub(r"\d+([.,]\d+)?", "N", line) for line in lines if not re.match(r"\d+\s", line)]
    return {"exit": exit_code, "lines": masked, "offsets": t.run("kafka-get-offsets --topic tools-e")}


CHECKS = [
    ("tools.console_consumer.group", console_consumer),
    ("tools.consumer_perf_test", perf),
    ("tools.verifiable", verifiable),
    ("tools.e2e_latency", latency),
]
