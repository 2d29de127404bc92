"""Groups: kafka-consumer-groups and kafka-groups, with members and without."""

import contextlib
import os
import pathlib
import re
import subprocess
import tempfile
import time

from host import KAFKA

GROUPS = "kafka-consumer-groups"
FILL = "one\ntwo\nthree\nfour\n"
WAIT_S = 40

# Members' ids, which the client or the broker makes, and the name of the machine.
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?<= )[A-Za-z0-9_-]{22}(?= /127)")


def comparable(answers):
    return {command: [UUID.sub("ID", line) for line in lines] for command, lines in answers.items()}


def ours(answers):
    """Without the groups of others, which use the broker too."""
    heads = ("GROUP", "exit", "Error", "No consumer")
    return {command: sorted(line for line in lines if line.startswith(("tools-", *heads))) for command, lines in answers.items()}


def filled(t, topic, partitions=2):
    t.do(f"kafka-topics --create --if-not-exists --topic {topic} --partitions {partitions}")
    for p in range(partitions):
        # One partition after the other, by keys that are put there.
        t.do(f"kafka-console-producer --topic {topic} {KEYED}", given="".join(f"{KEYS[p]}:{line}\n" for line in FILL.split()))


KEYED = "--reader-property parse.key=true --reader-property key.separator=:"
KEYS = ["k3", "k1"]  # by the default partitioner, into partition 0 and 1 of two


@contextlib.contextmanager
def member(t, group, topic, protocol):
    """A console consumer that goes on reading in the group, in a process of its own."""
    command = [
        KAFKA / "kafka-run.sh", "kafka-console-consumer", "--bootstrap-server", t.bootstrap, "--topic", topic, "--group", group,
        "--from-beginning", "--command-property", f"group.protocol={protocol}", "--command-property", "auto.commit.interval.ms=100",
        "--command-property", "client.id=tools-reader",
    ]  # fmt: skip
    reader = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, env=os.environ)
    try:
        deadline = time.monotonic() + WAIT_S
        while not is_settled(t, group):
            if time.monotonic() > deadline:
                raise TimeoutError(f"{group} has no member that has read all")
        yield
    finally:
        reader.terminate()
        reader.wait(timeout=WAIT_S)


def is_settled(t, group):
    _, state = t.run(f"{GROUPS} --describe --group {group} --state")
    _, offsets = t.run(f"{GROUPS} --describe --group {group}")
    lags = [line.split()[5] for line in offsets if line.startswith(group)]
    return any(line.startswith(group) and "Stable" in line for line in state) and lags != [] and set(lags) == {"0"}


def described(t, protocol):
    group, topic = f"tools-{protocol}", "tools-g"
    filled(t, topic) if protocol == "classic" else None
    describe = f"{GROUPS} --describe --group {group}"
    with member(t, group, topic, protocol):
        answers = comparable(
            t.answers(
                describe,
                f"{describe} --offsets",
                f"{describe} --offsets --verbose",
                f"{describe} --members",
                f"{describe} --members --verbose",
                f"{describe} --state",
                f"{describe} --state --verbose",
                f"{GROUPS} --delete --group {group}",
                f"{GROUPS} --delete-offsets --group {group} --topic {topic}",
                f"{GROUPS} --reset-offsets --group {group} --topic {topic} --to-earliest --dry-run",
                f"{GROUPS} --reset-offsets --group {group} --topic {topic} --to-earliest --execute",
            )
        )
        answers |= ours(
            t.answers(
                f"{GROUPS} --list",
                f"{GROUPS} --list --state",
                f"{GROUPS} --list --state stable,preparingrebalance",
                f"{GROUPS} --list --state empty",
                f"{GROUPS} --list --type",
                f"{GROUPS} --list --type {protocol}",
                f"{GROUPS} --list --type {protocol} --state stable",
                "kafka-groups --list",
                "kafka-groups --list --consumer",
                f"kafka-groups --list --group-type {protocol}",
                "kafka-groups --list --protocol consumer",
                "kafka-groups --list --share",
            )
        )
    wait_for_state(t, group, "Empty")
    answers["empty"] = comparable(t.answers(describe, f"{describe} --members", f"{describe} --state"))
    return answers


def wait_for_state(t, group, state):
    deadline = time.monotonic() + WAIT_S
    while not any(line.startswith(group) and state in line for line in t.run(f"{GROUPS} --describe --group {group} --state")[1]):
        if time.monotonic() > deadline:
            raise TimeoutError(f"{group} does not become {state}")


def classic(t):
    return described(t, "classic")


def consumer(t):
    return described(t, "consumer")


def unknown(t):
    return t.answers(
        f"{GROUPS} --describe --group tools-nobody",
        f"{GROUPS} --describe --group tools-nobody --members",
        f"{GROUPS} --describe --group tools-nobody --state",
        f"{GROUPS} --delete --group tools-nobody",
        f"{GROUPS} --delete-offsets --group tools-nobody --topic tools-g",
        f"{GROUPS} --validate-regex 'tools-.*'",
        f"{GROUPS} --validate-regex '['",
        "kafka-groups --list --group-type rock",
    )


def reset(t):
    """Positions of a group that was never there: each form shows its plan, and carries it out when told to."""
    filled(t, "tools-r")
    reset = f"{GROUPS} --reset-offsets --group tools-reset --topic tools-r"
    with tempfile.TemporaryDirectory() as folder:
        plan = pathlib.Path(folder, "plan.csv")
        plan.write_text('"tools-r",0,1\n"tools-r",1,3\n')
        answers = t.answers(
            f"{reset} --to-earliest --dry-run",
            f"{reset} --to-offset 2 --execute",
            f"{reset} --to-current --dry-run",
            f"{reset} --to-latest --dry-run",
            f"{reset} --to-offset 99 --dry-run",
            f"{reset} --shift-by -1 --dry-run",
            f"{reset} --shift-by 1 --execute",
            f"{reset} --shift-by -99 --dry-run",
            f"{reset} --by-duration P1D --dry-run",
            f"{reset} --to-datetime 2020-01-01T00:00:00.000 --dry-run",
            f"{reset} --to-datetime 2040-01-01T00:00:00.000 --dry-run",
            f"{reset} --to-datetime yesterday --dry-run",
            f"{reset}:1 --to-earliest --execute",
            f"{reset}:7 --to-earliest --dry-run",
            f"{reset} --to-earliest --export",
            f"{reset} --to-current --export --dry-run",
            f"{GROUPS} --reset-offsets --group tools-reset --from-file {plan} --dry-run",
            f"{GROUPS} --reset-offsets --group tools-reset --from-file {plan} --execute",
            f"{GROUPS} --reset-offsets --group tools-reset --all-topics --to-latest --dry-run",
            f"{GROUPS} --reset-offsets --group tools-reset --topic tools-zz --to-latest --dry-run",
            f"{GROUPS} --reset-offsets --group tools-reset --group tools-reset-two --topic tools-r --to-earliest --execute",
            f"{GROUPS} --describe --group tools-reset",
            f"{GROUPS} --describe --group tools-reset --group tools-reset-two --offsets",
        )
    return {re.sub(r"/\S*/plan.csv", "PLAN", command): [re.sub(r"/\S*/plan.csv", "PLAN", line) for line in lines] for command, lines in answers.items()}


def delete(t):
    """Of what the checks before have made."""
    return t.answers(
        f"{GROUPS} --delete-offsets --group tools-reset --topic tools-r:0",
        f"{GROUPS} --describe --group tools-reset",
        f"{GROUPS} --delete-offsets --group tools-reset --topic tools-r",
        f"{GROUPS} --delete-offsets --group tools-reset-two --topic tools-r:0 --topic tools-r:9",
        f"{GROUPS} --delete --group tools-reset-two",
        f"{GROUPS} --delete --group tools-reset-two --group tools-classic",
        f"{GROUPS} --describe --group tools-reset-two",
    )


CHECKS = [
    ("tools.groups.classic", classic),
    ("tools.groups.consumer", consumer),
    ("tools.groups.unknown", unknown),
    ("tools.groups.reset", reset),
    ("tools.groups.delete", delete),
]
