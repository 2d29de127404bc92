"""Checks of whole programs: `checks.py BOOTSTRAP SUITE PREFIX [PART OF A NAME]` prints one JSON line a check."""

import json
import pathlib
import signal
import sys
import tempfile
import time
import traceback

# A small machine that runs everything at once is slow; whoever waits for an event gets on as soon as it has come.
PATIENCE_S = 180


class Place:
    """Where a check works: a broker, names of its own there, and a folder that is gone afterwards."""

    def __init__(self, bootstrap, client, check, folder):
        self.bootstrap, self.folder = bootstrap, pathlib.Path(folder)
        # A second look has other names.
        self.program_name = client.removesuffix("-again")
        self.prefix = f"{client}-{check.rpartition('.')[2].replace('_', '-')}"

    def name(self, name):
        return f"{self.prefix}-{name}"


def run(suites):
    """`suites`: by the suite's name its checks by name; each takes a place and gives its answer."""
    bootstrap, suite, client, *only = sys.argv[1:]
    # Ended from outside, a check ends what it has started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    for name, check in suites.get(suite, {}).items():
        if not only or only[0] in name:
            began = time.monotonic()
            print(json.dumps({"check": name, "answer": answer(check, bootstrap, client, name)}, sort_keys=True), flush=True)
            print(f"{time.monotonic() - began:.1f} s {name}", file=sys.stderr)


def answer(check, bootstrap, client, name):
    try:
        with tempfile.TemporaryDirectory() as folder:
            return held(check(Place(bootstrap, client, name, folder)))
    except Exception as error:  # a fault of the program: never an answer
        traceback.print_exc(file=sys.stderr)
        return {"crash": f"{type(error).__name__}: {error}"}


def held(found):
    """The answer, all of which must be so: what is wrong at both brokers would pass for equal."""
    if wrong := [what for what, is_so in found.items() if is_so is False]:
        raise RuntimeError(f"not so: {', '.join(wrong)}; found: {found}")
    return found


def wait_until(what, condition):
    began = time.monotonic()
    while not condition():
        if time.monotonic() - began > PATIENCE_S:
            raise TimeoutError(f"not in {PATIENCE_S} s: {what}")
        time.sleep(0.1)
    waited(what, began)


def waited(what, began):
    """Who looks for what takes long finds it in the log."""
    if time.monotonic() - began > 1:
        print(f"  {time.monotonic() - began:.1f} s until {what}", file=sys.stderr)
