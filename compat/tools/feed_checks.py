"""Our views through Kafka's tools: what they show of a feed with one commit and a record after it."""

from record_checks import log_dirs

FEED = "tools-orders"
READ = "kafka-console-consumer --partition 0 --offset earliest --timeout-ms 1500"
KEYED = "--reader-property parse.key=true --reader-property key.separator=@"


def story(t):
    t.do(f"kafka-topics --create --topic {FEED}")
    # kafka-topics itself refuses the names of configs that are not Kafka's.
    t.do(f"kafka-configs --alter --entity-type topics --entity-name {FEED} --add-config streamstack.seal.ms=86400000")
    produce = "kafka-console-producer --topic"
    t.do(f"{produce} {FEED}", given="one\ntwo\n")
    answers = t.answers(f"{produce} {FEED}..seal {KEYED}", given='first@{"poll": 1}\n')
    t.do(f"{produce} {FEED}", given="three\n")
    return answers


def records(t):
    return t.answers(
        f"{READ} --topic {FEED}..commit-0 --formatter-property print.offset=true --max-messages 2",
        f"{READ} --topic {FEED}..named-first --max-messages 2",
        f"{READ} --topic {FEED}..feed --max-messages 2",
        f"{READ} --topic {FEED} --max-messages 3",
    )


def shown(t):
    told = log_dirs(t, f"--topic-list {FEED},{FEED}..feed")["brokers"][0]["logDirs"][0]
    producers = t.answers(f"kafka-transactions describe-producers --topic {FEED}..feed --partition 0")
    return {
        "log dirs": [partition["partition"] for partition in told["partitions"]],
        # The tool says it twice.
        **{command: list(dict.fromkeys(lines)) for command, lines in producers.items()},
        **t.answers(
            f"kafka-topics --list --topic {FEED}.*",
            f"kafka-leader-election --election-type preferred --topic {FEED}..commits --partition 0",
        ),
    }


CHECKS = [
    ("feed.tools.seal", story),
    ("feed.tools.read", records),
    ("feed.tools.shown", shown),
]
