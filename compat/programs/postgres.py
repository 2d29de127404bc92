"""A PostgreSQL of Debian's package in a folder of its own, on a free port of 127.0.0.1, run by its unprivileged user."""

import os
import pathlib
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time

import psycopg

USER = "postgres"
PATIENCE_S = 60


class Postgres:
    def __init__(self, *configs):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="compat-postgres-"))
        self.port = free_port()
        self.dsn = f"host=127.0.0.1 port={self.port} user={USER} dbname=postgres"
        self.log = open(self.folder / "log", "w")
        data = self.folder / "data"
        data.mkdir(0o700)
        if os.getuid() == 0:
            user = pwd.getpwnam(USER)
            self.folder.chmod(0o711)
            os.chown(data, user.pw_uid, user.pw_gid)
        self.run([program("initdb"), "-D", data, "-U", USER, "-A", "trust", "--no-instructions"])
        settings = [f"port={self.port}", "listen_addresses=127.0.0.1", "unix_socket_directories=", *configs]
        command = [program("postgres"), "-D", data, *(flag for setting in settings for flag in ("-c", setting))]
        self.process = subprocess.Popen(as_user(command), stdout=self.log, stderr=self.log, cwd="/")
        self.wait()

    def run(self, command):
        subprocess.run(as_user(command), stdout=self.log, stderr=self.log, cwd="/", check=True)

    def wait(self):
        give_up_at = time.monotonic() + PATIENCE_S
        while True:
            try:
                return self.connect().close()
            except psycopg.OperationalError:
                if self.process.poll() is not None or time.monotonic() > give_up_at:
                    raise
                time.sleep(0.1)

    def connect(self):
        return psycopg.connect(self.dsn, autocommit=True)

    def stop(self):
        # SIGINT is its fast shutdown.
        self.process.send_signal(signal.SIGINT)
        self.process.wait(PATIENCE_S)
        self.log.close()
        shutil.rmtree(self.folder)


def program(name):
    found = sorted(pathlib.Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    if not found:
        raise SystemExit(f"no {name} of PostgreSQL under /usr/lib/postgresql: install the package postgresql")
    return found[-1]


def as_user(command):
    """PostgreSQL refuses to run as root."""
    command = [str(word) for word in command]
    if os.getuid() != 0:
        return command
    return ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", *command]


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]
