"""Runs Kafka's command line tools against one broker, and makes of their output what can be compared."""

import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).parent
KAFKA = HERE.parent / "kafka"

NO_BROKER = {"kafka-dump-log"}
BROKER_OPTION = {"kafka-replica-verification": "--broker-list"}
# It takes the broker as its first word.
BROKER_FIRST = {"kafka-e2e-latency"}
# Its sub-commands take the broker, the other tools themselves.
BROKER_AFTER_SUBCOMMAND = {"kafka-cluster"}

# What a tool says that was called wrongly: a fault of the check, never an answer.
MISUSE = re.compile(r"unrecognized arguments|is not a recognized option|Missing required argument|^usage:", re.MULTILINE)


class Host:
    """One JVM in which the tools run in turn. A tool that hangs takes it down, and the next run starts another."""

    def __init__(self):
        target = pathlib.Path(os.environ["KAFKA_PEER_TARGET"])
        classes = pathlib.Path(os.environ["COMPAT_CACHE"]) / "tools/classes"
        self.command = [
            "java", "-Xmx384M", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Djava.awt.headless=true",
            f"-Dlog4j2.configurationFile={KAFKA}/log4j2.properties", "-cp", f"{classes}:{target}/lib/*", "ToolHost",
        ]  # fmt: skip
        rows = (line.split() for line in (KAFKA / "tools.txt").read_text().splitlines() if line[:1] not in ("", "#"))
        self.mains = {row[0]: row[1] for row in rows}
        self.process = None

    def run(self, tool, args, given, patience_s=45):
        """(exit code, or None when it does not end; what it wrote)"""
        if self.process is None:
            self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        run = {"main": self.mains[tool], "args": args, "input": given, "patience_ms": 1000 * patience_s}
        self.process.stdin.write(json.dumps(run) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            self.process = None
            raise RuntimeError(f"{tool} ended the JVM: {args}")
        answer = json.loads(line)
        if answer["exit"] is None:
            self.close()
        return answer["exit"], answer["output"]

    def close(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


class Tools:
    """The tools against one broker."""

    def __init__(self, bootstrap, host):
        self.bootstrap = bootstrap
        self.host = host

    def run(self, command, given="", **patience):
        """(exit code, lines), comparable."""
        exit_code, output = self.raw(command, given, **patience)
        return exit_code, self.comparable(output)

    def raw(self, command, given="", **patience):
        tool, *args = shlex.split(command)
        if tool in BROKER_FIRST:
            args.insert(0, self.bootstrap)
        elif tool not in NO_BROKER:
            at = 1 if tool in BROKER_AFTER_SUBCOMMAND else 0
            args[at:at] = [BROKER_OPTION.get(tool, "--bootstrap-server"), self.bootstrap]
        begun = time.monotonic()
        exit_code, output = self.host.run(tool, args, given, **patience)
        print(f"{time.monotonic() - begun:.2f} s: {command}", file=sys.stderr, flush=True)
        if MISUSE.search(output):
            raise RuntimeError(f"{command}: {output}")
        return exit_code, output

    def do(self, command, given=""):
        """A step that must succeed; what it prints is no answer."""
        exit_code, output = self.raw(command, given)
        if exit_code != 0:
            raise RuntimeError(f"{command}: exit {exit_code}: {output}")

    def answers(self, *commands, given=""):
        """What each command answers, by the command as it was typed; its exit code first unless that is 0."""
        answers = {}
        for command in commands:
            exit_code, lines = self.run(command, given)
            answers[command] = lines if exit_code == 0 else [f"exit {exit_code}", *lines]
        return answers

    def comparable(self, output):
        text = output.replace(self.bootstrap, "BROKER")
        text = re.sub(rf"\b{self.bootstrap.rpartition(':')[2]}\b", "PORT", text)
        text = re.sub(r"(TopicId|Cluster ID|ClusterId): +\S{22}", r"\1: ID", text)
        text = re.sub(r"\b1[789]\d{11}\b", "TIME", text)
        lines = (" ".join(line.split()) for line in text.splitlines() if not is_trace(line))
        return [line for line in lines if line]


def is_trace(line):
    """A line of a Java stack: says where in the tool, not what."""
    return re.match(r"\s+(at [\w.$]+[./(]|\.\.\. \d+ more)", line) is not None
