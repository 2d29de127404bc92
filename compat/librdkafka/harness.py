"""How a check is named, run and printed: one JSON line each, {"check": name, "answer": value}."""

import json
import sys
import traceback

from confluent_kafka import KafkaException

# Where librdkafka's name for a broker's error differs from the protocol's.
PROTOCOL_NAMES = {
    "UNKNOWN_TOPIC_OR_PART": "UNKNOWN_TOPIC_OR_PARTITION",
    "MSG_SIZE_TOO_LARGE": "MESSAGE_TOO_LARGE",
    "TOPIC_EXCEPTION": "INVALID_TOPIC_EXCEPTION",
    "NOT_LEADER_FOR_PARTITION": "NOT_LEADER_OR_FOLLOWER",
    "_UNKNOWN_TOPIC": "UNKNOWN_TOPIC_OR_PARTITION",
    "_AUTO_OFFSET_RESET": "OFFSET_OUT_OF_RANGE",
    "_UNKNOWN_PARTITION": "UNKNOWN_TOPIC_OR_PARTITION",
}


class Suite:
    """Checks in the order in which they were declared."""

    def __init__(self):
        self.checks = []

    def check(self, name):
        def declare(function):
            self.checks.append((name, function))
            return function

        return declare

    def run(self, client, only):
        for name, function in self.checks:
            if only and only not in name:
                continue
            print(json.dumps({"check": name, "answer": answer_of(function, client)}, sort_keys=True), flush=True)


def answer_of(function, client):
    try:
        return function(client)
    except KafkaException as error:
        return {"error": code(error.args[0])}
    except Exception as error:  # a fault of the program or of the client: never an answer
        traceback.print_exc(file=sys.stderr)
        return {"crash": f"{type(error).__name__}: {error}"}


def code(error):
    """The protocol's name of an error."""
    return PROTOCOL_NAMES.get(error.name(), error.name())


def outcome(action):
    """"ok", or the code with which the action was refused."""
    try:
        action()
        return "ok"
    except KafkaException as error:
        return code(error.args[0])
