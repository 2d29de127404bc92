"""The loop of a client's program that is written in Python: asks in, answers out, each in a thread of its own."""

import json
import sys
import threading
import traceback
from concurrent.futures import ThreadPoolExecutor

WRITING = threading.Lock()


def serve(asks, cannot, code_of):
    """`asks`: functions by name; `cannot`: reasons by name; `code_of`: the broker's code in an exception, or None."""
    with ThreadPoolExecutor(32) as pool:
        for line in sys.stdin:
            pool.submit(reply, json.loads(line), asks, cannot, code_of)


def reply(ask, asks, cannot, code_of):
    number, do = ask.pop("id"), ask.pop("do")
    answer = {"cannot": cannot[do]} if do in cannot else answered(asks[do], ask, code_of)
    with WRITING:
        print(json.dumps({"id": number, **answer}), flush=True)


def answered(function, how, code_of):
    try:
        return {"ok": function(**how)}
    except CannotDo as reason:
        return {"cannot": str(reason)}
    except Exception as error:
        code = code_of(error)
        if code is not None:
            return {"refused": code}
        traceback.print_exc(file=sys.stderr)
        return {"crash": f"{type(error).__name__}: {error}"}


class CannotDo(Exception):
    """The client has no way to do this."""


def data(text):
    return None if text is None else text.encode()


def text(data):
    return None if data is None else bytes(data).decode()
