"""A program in a process of its own, whose output is kept; it can be ended, and killed as by a loss of power."""

import signal
import subprocess
import time

from suite import PATIENCE_S, waited

STOP_S = 60


class Process:
    def __init__(self, command, log, **how):
        self.log = log
        self.file = open(log, "a", encoding="utf-8")
        self.process = subprocess.Popen([str(word) for word in command], stdout=self.file, stderr=self.file, **how)

    def wait_until(self, what, condition):
        began = time.monotonic()
        while not condition():
            self.must_live()
            if time.monotonic() - began > PATIENCE_S:
                raise TimeoutError(f"not in {PATIENCE_S} s: {what}: {self.end_of_log()}")
            time.sleep(0.1)
        waited(what, began)

    def must_live(self):
        if self.process.poll() is not None:
            raise RuntimeError(f"the program ended with {self.process.returncode}: {self.end_of_log()}")

    def end_of_log(self):
        return self.log.read_text(encoding="utf-8", errors="replace")[-3000:]

    def pause(self):
        """It stands still, and does not know it."""
        self.process.send_signal(signal.SIGSTOP)

    def resume(self):
        self.process.send_signal(signal.SIGCONT)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        """Asks it to end, as often as one likes."""
        if self.process.poll() is None:
            self.resume()
            self.process.terminate()
            try:
                self.process.wait(STOP_S)
            except subprocess.TimeoutExpired:
                self.kill()
        self.file.close()
