"""A distributed Connect worker, in a process of its own, asked over its REST interface."""

import json
import os
import pathlib
import socket
import urllib.error
import urllib.request

from process import Process

RUN = pathlib.Path(__file__).parent.parent / "kafka/kafka-run.sh"
MAIN = "org.apache.kafka.connect.cli.ConnectDistributed"
# It lives for a minute at most: what it takes to start is most of what it takes.
QUICK = {"KAFKA_JVM_OPTS": "-XX:TieredStopAtLevel=1"}


class Worker(Process):
    """Its cluster is `group`; workers of one group share connectors, offsets and internal topics."""

    def __init__(self, at, group, **settings):
        self.port = free_port()
        properties = {
            "bootstrap.servers": at.bootstrap,
            "group.id": group,
            "listeners": f"http://127.0.0.1:{self.port}",
            "plugin.discovery": "service_load",
            "key.converter": "org.apache.kafka.connect.storage.StringConverter",
            "value.converter": "org.apache.kafka.connect.storage.StringConverter",
            "offset.flush.interval.ms": "500",
            "scheduled.rebalance.max.delay.ms": "0",
            "session.timeout.ms": "6000",
            "heartbeat.interval.ms": "1000",
            **{f"{kind}.storage.topic": f"{group}-{kind}s" for kind in ("config", "offset")},
            "status.storage.topic": f"{group}-status",
            **{f"{kind}.storage.replication.factor": "1" for kind in ("config", "offset", "status")},
            "offset.storage.partitions": "2",
            "status.storage.partitions": "1",
            **settings,
        }
        path = at.folder / f"worker-{self.port}.properties"
        path.write_text("".join(f"{name}={value}\n" for name, value in properties.items()))
        super().__init__([RUN, MAIN, path], at.folder / f"worker-{self.port}.log", env={**os.environ, **QUICK})
        try:
            self.wait_until("the worker answers", lambda: self.ask("GET", "/connectors") is not None)
        except BaseException:
            self.stop()
            raise

    def create(self, name, config):
        self.wait_until("the connector is taken", lambda: self.ask("PUT", f"/connectors/{name}/config", config) is not None)
        self.wait_until("the connector runs", lambda: self.must_run(name))

    def must_run(self, name):
        """Whether it does; a task that failed does not come back by itself."""
        self.must_live()
        tasks = (self.ask("GET", f"/connectors/{name}/status") or {"tasks": []})["tasks"]
        for task in tasks:
            if task["state"] == "FAILED":
                raise RuntimeError(f"a task of {name} failed: {task['trace'][:3000]}")
        return bool(tasks) and all(task["state"] == "RUNNING" for task in tasks)

    def delete(self, name):
        self.wait_until("the connector is deleted", lambda: self.ask("DELETE", f"/connectors/{name}") is not None)

    def ask(self, method, path, body=None):
        """The answer; None while the worker cannot give one."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return json.loads(answer.read() or b"{}")
        except urllib.error.HTTPError as error:
            # Not found yet, or a rebalance: it is to be asked again.
            if error.code in (404, 409, 500, 503):
                return None
            raise RuntimeError(f"{method} {path}: {error.code} {error.read().decode()}") from error
        except OSError:
            return None


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]
