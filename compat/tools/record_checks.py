"""Records and offsets: kafka-console-producer, kafka-producer-perf-test, kafka-get-offsets, kafka-delete-records,
kafka-dump-log, kafka-log-dirs.
"""

import json
import pathlib
import re
import tempfile

LINES = "k1:one\nk2:two\nk1:three\n"
KEYED = "--reader-property parse.key=true --reader-property key.separator=:"


def console_producer(t):
    t.do("kafka-topics --create --topic tools-k --partitions 3")
    t.do("kafka-topics --create --topic tools-p")
    produce = "kafka-console-producer --topic tools-p"
    plain = "--command-property enable.idempotence=false"
    return {
        **t.answers(f"kafka-console-producer --topic tools-k {KEYED}", given=LINES),
        **t.answers(f"{produce} --request-required-acks 0 {plain}", given="no key\n"),
        **t.answers(f"{produce} --request-required-acks 1 {plain} --compression-codec zstd", given="one ack\n"),
        **t.answers(f"{produce} --request-required-acks all --compression-codec lz4 --sync", given="all acks\n"),
        **t.answers(
            f"{produce} --reader-property parse.headers=true --reader-property headers.delimiter=| {KEYED}",
            given="h1:v1,h2:v2,h1:again|k1:with headers\n",
        ),
        **t.answers("kafka-get-offsets --topic tools-k", "kafka-get-offsets --topic tools-p"),
    }


def read_back(t):
    """Without a group: the partition is named."""
    read = "kafka-console-consumer --partition 0 --timeout-ms 1500"
    show = " ".join(f"--formatter-property print.{what}=true" for what in ("key", "headers", "offset", "partition"))
    return t.answers(
        f"{read} --topic tools-p --offset earliest {show} --max-messages 4",
        f"{read} --topic tools-p --offset 2 --max-messages 1",
        f"{read} --topic tools-p --offset latest",
        f"{read} --topic tools-p --offset earliest --isolation-level read_committed --max-messages 4",
    )


def get_offsets(t):
    times = ["earliest", "latest", "max-timestamp", "earliest-local", "latest-tiered", "earliest-pending-upload",
             "-1", "-2", "-3", "-4", "-5", "-6", "0", "4000000000000"]  # fmt: skip
    return t.answers(
        *(f"kafka-get-offsets --topic tools-d --time {time}" for time in times),
        "kafka-get-offsets --topic tools-d --partitions 0",
        "kafka-get-offsets --topic-partitions tools-d:0,tools-a:1-3",
        "kafka-get-offsets --topic tools-zz",
        "kafka-get-offsets --topic tools-d --time soon",
        "kafka-get-offsets --topic tools-[ad] --exclude-internal-topics",
    )


def perf(t):
    # On a loaded machine the tool may run out of its own time; the next topic gets another try.
    for topic in ("tools-l", "tools-l2", "tools-l3"):
        t.do(f"kafka-topics --create --topic {topic} --partitions 2")
        load = f"kafka-producer-perf-test --topic {topic} --throughput -1 --record-size 100 --num-records 5000"
        _, lines = t.run(f"{load} --command-property acks=all --print-metrics")
        last = [re.sub(r"[\d.]+", "N", line) for line in lines if "records sent" in line and "99.9th" in line]
        if last:
            break
    errors = [line for line in lines if line.startswith("producer-metrics:record-error-total")]
    _, offsets = t.run(f"kafka-get-offsets --topic {topic}")
    return {
        "line": last[-1:],
        "errors": sorted({line.rpartition(":")[2].strip() for line in errors}),
        "records": sum(int(line.rpartition(":")[2]) for line in offsets),
    }


def files_of(t, topic, marker):
    """The segment files that hold the marker, found from what kafka-log-dirs tells."""
    data = pathlib.Path(log_dirs(t, f"--topic-list {topic}")["brokers"][0]["logDirs"][0]["logDir"])
    return [path for path in sorted(data.rglob("*.log")) if marker in path.read_bytes()]


# What depends on the producer's id, on the time between two records, and on how well that compresses.
VARIABLE = r"\b(producerId|crc|size|position): \d+"


def dump_log(t):
    t.do("kafka-topics --create --topic tools-d")
    produce = "kafka-console-producer --topic tools-d"
    t.do(f"{produce} {KEYED}", given="k1:dump-me-0001\nk2:dump-me-0002\n")
    gzip = "--command-property enable.idempotence=false --compression-codec gzip"
    t.do(f"{produce} {gzip}", given="packed\npacked too\n")
    answers = {}
    for path in files_of(t, "tools-d", b"dump-me-0001"):
        for options in ("", " --deep-iteration --print-data-log", " --verify-index-only"):
            exit_code, lines = t.run(f"kafka-dump-log --files {path}{options}")
            lines = [re.sub(VARIABLE, r"\1: N", line.replace(str(path), "SEGMENT")) for line in lines]
            answers[f"kafka-dump-log --files SEGMENT{options}"] = [exit_code, *lines]
    return answers


def log_dirs(t, options):
    exit_code, output = t.raw(f"kafka-log-dirs --describe {options}")
    if exit_code != 0:
        raise RuntimeError(output)
    return json.loads(output.splitlines()[-1])


def told_log_dirs(t):
    """The sizes are those of the segment files."""
    stored = sum(path.stat().st_size for path in files_of(t, "tools-d", b"dump-me-0001"))
    answers = {}
    for options in ("--topic-list tools-d", "--topic-list tools-d,tools-zz --broker-list 1", "--topic-list tools-zz"):
        told = log_dirs(t, options)
        for broker in told["brokers"]:
            for directory in broker["logDirs"]:
                directory["logDir"] = "DATA"
                for partition in directory["partitions"]:
                    partition["size"] = "as stored" if partition["size"] == stored else partition["size"]
        answers[options] = told
    answers["all topics"] = "tools-a-0" in {
        partition["partition"] for partition in log_dirs(t, "")["brokers"][0]["logDirs"][0]["partitions"]
    }
    answers.update(t.answers("kafka-log-dirs --describe --broker-list 7"))
    return answers


def delete_records(t):
    with tempfile.TemporaryDirectory() as folder:
        wanted, config = pathlib.Path(folder, "offsets"), pathlib.Path(folder, "config")
        # The tool asks for a partition that is not there until its time is over.
        config.write_text("default.api.timeout.ms=1500\nrequest.timeout.ms=1500\n")

        def delete(*partitions):
            rows = [{"topic": topic, "partition": number, "offset": offset} for topic, number, offset in partitions]
            wanted.write_text(json.dumps({"partitions": rows, "version": 1}))
            exit_code, lines = t.run(f"kafka-delete-records --offset-json-file {wanted} --command-config {config}")
            return [exit_code, *sorted(re.sub(r"(TimeoutException): .*", r"\1", line) for line in lines)]

        return {
            "two of four": delete(("tools-d", 0, 2)),
            "earliest then": t.run("kafka-get-offsets --topic tools-d --time earliest"),
            "below the start": delete(("tools-d", 0, 1)),
            "two at once": delete(("tools-k", 0, 0), ("tools-k", 1, 0)),
            "past the end": delete(("tools-d", 0, 99)),
            "unknown": delete(("tools-zz", 0, 1)),
            "no such partition": delete(("tools-d", 5, 1)),
            "all": delete(("tools-d", 0, -1)),
            "earliest at last": t.run("kafka-get-offsets --topic tools-d --time earliest"),
            "latest still": t.run("kafka-get-offsets --topic tools-d --time latest"),
        }


CHECKS = [
    ("tools.console_producer", console_producer),
    ("tools.console_consumer.partition", read_back),
    ("tools.dump_log", dump_log),
    ("tools.get_offsets", get_offsets),
    ("tools.producer_perf_test", perf),
    ("tools.log_dirs", told_log_dirs),
    ("tools.delete_records", delete_records),
]
