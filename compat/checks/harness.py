"""How a check is named, run and printed: one JSON line each, {"check": name, "answer": value}."""

import json
import sys
import threading
import time
import traceback
from concurrent.futures import ThreadPoolExecutor

from codes import CODES


class Refused(Exception):
    """The broker answered with an error."""

    def __init__(self, code):
        super().__init__(code)
        self.code = CODES.get(code, code)


class Cannot(Exception):
    """The client has no way to do this; the reason is in its words."""


class Suite:
    """Checks in the order in which they were declared; those that wait for the clock start first and print last."""

    def __init__(self):
        self.checks = []

    def check(self, name, waits_for_the_clock=False):
        def declare(function):
            self.checks.append((name, function, waits_for_the_clock))
            return function

        return declare

    def run(self, client, part, lanes=1):
        """`lanes` checks run at the same time; answers are shown in order."""
        chosen = [check for check in self.checks if part in check[0]]
        waiting = [(name, answer_later(function, client)) for name, function, slow in chosen if slow]

        def timed(check):
            began = time.monotonic()
            answer = answer_of(check[1], client)
            print(f"{time.monotonic() - began:.2f} s {check[0]}", file=sys.stderr)
            return check[0], answer

        with ThreadPoolExecutor(lanes) as pool:
            for name, answer in pool.map(timed, [check for check in chosen if not check[2]]):
                show(name, answer)
        for name, later in waiting:
            show(name, later())


def show(name, answer):
    print(json.dumps({"check": name, "answer": answer}, sort_keys=True), flush=True)


def answer_of(function, client):
    try:
        return function(client)
    except Refused as refused:
        return {"error": refused.code}
    except Cannot as reason:
        return {"cannot": str(reason)}
    except Exception as error:  # a fault of the program or of the client: never an answer
        traceback.print_exc(file=sys.stderr)
        return {"crash": f"{type(error).__name__}: {error}"}


def answer_later(function, client):
    """Starts now; the value is a function that waits for the answer."""
    answers = []
    thread = threading.Thread(target=lambda: answers.append(answer_of(function, client)))
    thread.start()

    def wait():
        thread.join()
        return answers[0]

    return wait


def outcome(action):
    """"ok", or the code with which the action was refused, or why the client cannot ask for it."""
    try:
        action()
        return "ok"
    except Refused as refused:
        return refused.code
    except Cannot as reason:
        return f"cannot: {reason}"


def beside(action, others):
    """The value of `action`, run beside `others`, which start a little later."""
    later = answer_later(lambda _: action(), None)
    others()
    return later()
