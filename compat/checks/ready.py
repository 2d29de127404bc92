"""A check's part in the restart of a broker. Whoever runs the checks restarts it once all are ready, as files in COMPAT_RESTART tell."""

import os
import pathlib
import time

RESTART_WAIT_S = 180


class Ready:
    """A file when it is ready, or will never be."""

    def __init__(self, name, mark):
        self.folder = pathlib.Path(os.environ["COMPAT_RESTART"])
        self.mark = self.folder / f"ready.{name}.{mark}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.mark.touch()

    def wait_for_the_restart(self):
        self.mark.touch()
        deadline = time.monotonic() + RESTART_WAIT_S
        while not (self.folder / "restarted").exists():
            if time.monotonic() > deadline:
                raise TimeoutError("the broker was not restarted")
            time.sleep(0.1)
