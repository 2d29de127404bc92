"""A distributed Connect worker, in a process of its own, asked over its REST interface."""

import json
import pathlib
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

RUN = pathlib.Path(__file__).parent.parent / "kafka/kafka-run.sh"
MAIN = "org.apache.kafka.connect.cli.ConnectDistributed"
PATIENCE_S = 90


class Worker:
    """Its cluster is `group`; workers of one group share connectors, offsets and internal topics."""

    def __init__(self, bootstrap, group, **settings):
        self.port = free_port()
        self.folder = tempfile.TemporaryDirectory()
        properties = {
            "bootstrap.servers": bootstrap,
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
        path = pathlib.Path(self.folder.name) / "worker.properties"
        path.write_text("".join(f"{name}={value}\n" for name, value in properties.items()))
        self.log = open(pathlib.Path(self.folder.name) / "log", "w+", encoding="utf-8")
        self.process = subprocess.Popen([RUN, MAIN, path], stdout=self.log, stderr=self.log)
        self.wait_until("the worker answers", lambda: self.ask("GET", "/connectors") is not None)

    def create(self, name, config):
        self.wait_until("the connector is taken", lambda: self.ask("PUT", f"/connectors/{name}/config", config) is not None)
        self.wait_until("the connector runs", lambda: self.is_running(name))

    def is_running(self, name):
        status = self.ask("GET", f"/connectors/{name}/status")
        return bool(status and status["tasks"]) and all(task["state"] == "RUNNING" for task in status["tasks"])

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

    def wait_until(self, what, condition):
        give_up_at = time.monotonic() + PATIENCE_S
        while not condition():
            if self.process.poll() is not None:
                raise RuntimeError(f"the worker ended with {self.process.returncode}: {self.end_of_log()}")
            if time.monotonic() > give_up_at:
                raise RuntimeError(f"not in {PATIENCE_S} s: {what}: {self.end_of_log()}")
            time.sleep(0.2)

    def end_of_log(self):
        self.log.seek(0)
        return self.log.read()[-2000:]

    def kill(self):
        """As a machine that loses its power."""
        self.process.kill()
        self.process.wait()

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
        self.log.close()
        self.folder.cleanup()


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]
