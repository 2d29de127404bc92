"""Instances of a Streams application, each a JVM of its own."""

import contextlib
import itertools

from jvm import java
from process import Process

NUMBERS = itertools.count()


class Instance(Process):
    """It runs once its part of the work is given to it, and its stores and global tables are restored."""

    def __init__(self, at, application, topology, state=None):
        number = next(NUMBERS)
        state = at.folder / (state or f"state-{number}")
        arguments = [at.bootstrap, application, topology, at.prefix, state]
        super().__init__(java("streams", "App", *arguments), at.folder / f"instance-{number}.log")

    def wait_until_it_runs(self):
        self.wait_until("the instance runs", lambda: "RUNNING" in self.states())
        return self

    def states(self):
        return self.log.read_text(encoding="utf-8", errors="replace").splitlines()


@contextlib.contextmanager
def instances():
    """What is started by it is ended at last."""
    started = []

    def start(*how):
        started.append(Instance(*how))
        return started[-1]

    try:
        yield start
    finally:
        for instance in started:
            instance.stop()
