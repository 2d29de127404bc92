"""Groups on views through Kafka's tools: a position on `..commits` is the number of a commit, and its lag counts commits."""

from group_checks import GROUPS

FEED = "tools-shared"
KEYED = "--reader-property parse.key=true --reader-property key.separator=@"
SHOW = "--formatter-property print.value=false --formatter-property print.offset=true --formatter-property print.key=true"
READ = f"kafka-console-consumer --timeout-ms 4000 --from-beginning {SHOW}"


def told(t):
    """Three commits."""
    t.do(f"kafka-topics --create --topic {FEED}")
    t.do(f"kafka-configs --alter --entity-type topics --entity-name {FEED} --add-config streamstack.seal.ms=86400000")
    for n in range(3):
        t.do(f"kafka-console-producer --topic {FEED}", given=f"a{n}\nb{n}\n")
        t.do(f"kafka-console-producer --topic {FEED}..seal {KEYED}", given=f"label-{n}@{{}}\n")


def groups(t):
    told(t)
    commits = f"{READ} --topic {FEED}..commits --group tools-commits"
    reset = f"{GROUPS} --reset-offsets --group tools-commits --topic {FEED}..commits"
    return t.answers(
        f"{commits} --max-messages 2",
        f"{GROUPS} --describe --group tools-commits --offsets",
        f"{reset} --to-offset 1 --dry-run",
        f"{reset} --to-latest --dry-run",
        f"{reset} --to-datetime 2020-01-01T00:00:00.000 --dry-run",
        f"{reset} --to-datetime 2040-01-01T00:00:00.000 --dry-run",
        f"{reset} --shift-by -1 --execute",
        f"{commits} --max-messages 2 --command-property max.poll.records=10",
        f"{GROUPS} --describe --group tools-commits",
        f"{READ} --topic {FEED}..feed --group tools-feed --max-messages 6",
        f"{GROUPS} --describe --group tools-feed",
        f"{GROUPS} --delete-offsets --group tools-feed --topic {FEED}..feed",
        f"{GROUPS} --delete --group tools-feed --group tools-commits",
    )


CHECKS = [("feed.tools.groups", groups)]
