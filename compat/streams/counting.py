"""A word count and a join of two tables that are fed on and on. Each word and each balance must show in the output once.

A round is one line that holds every word once, and a new balance for each user. So after n rounds the counts of a word are
1 to n, and the balances of a user are 1 to n, each of them once and in this order.
"""

import threading
import time
from collections import defaultdict

from instance import instances
from topics import Reader, create, flush, producer, read_all, text, write

WORDS = [f"word{n}" for n in range(12)]
USERS = [f"user{n}" for n in range(12)]
# More than the instances can take with two cores would pile up, and less would leave them idle when they are killed.
ROUND_S = 0.05
TOPOLOGY = "counts"


class Counting:
    """The application with its topics; `start()` starts an instance of it."""

    def __init__(self, at):
        self.at, self.application = at, at.name("counting")
        self.rounds = 0
        for topic in ("lines", "counts", "users", "balances", "joined"):
            create(at.bootstrap, at.name(topic), 2)
        # An order of users and first balances is not asked for: until both have met, nothing else comes.
        write(at.bootstrap, at.name("users"), [(user, f"name of {user}") for user in USERS])
        self.sender = producer(at.bootstrap)

    def __enter__(self):
        self.made = instances()
        self.start_instance = self.made.__enter__()
        self.reader = Reader(self.at.bootstrap, self.at.name("counts"), self.at.name("joined"))
        return self

    def __exit__(self, *fault):
        self.reader.consumer.close()
        self.made.__exit__(*fault)

    def start(self):
        return self.start_instance(self.at, self.application, TOPOLOGY)

    def round(self):
        self.rounds += 1
        self.sender.produce(self.at.name("lines"), " ".join(WORDS), str(self.rounds))
        for user in USERS:
            self.sender.produce(self.at.name("balances"), str(self.rounds), user)
        flush(self.sender)

    def wait_for_all(self, look=lambda: None):
        """Until every round has come out."""
        expected = self.rounds * (len(WORDS) + len(USERS))
        self.reader.until(f"{expected} records of output", lambda rows: len(rows) >= expected, look)

    def wait_for_more(self, look=lambda: None):
        seen = len(self.reader.rows)
        self.reader.until("more output", lambda rows: len(rows) > seen, look)

    def answer(self):
        """Once no instance runs any more, so that nothing can come after it."""
        return {
            "counts": self.told("counts", {word: self.numbers() for word in WORDS}),
            "balances": self.told("joined", {user: self.balances(user) for user in USERS}),
        }

    def numbers(self):
        return [str(n) for n in range(1, self.rounds + 1)]

    def balances(self, user):
        return [f"name of {user} {n}" for n in self.numbers()]

    def told(self, topic, expected):
        found = by_key(read_all(self.at.bootstrap, self.at.name(topic)))
        if wrong := [key for key in expected | found if found.get(key) != expected.get(key)]:
            faults = {key: fault(expected.get(key, []), found.get(key, [])) for key in wrong[:3]}
            raise RuntimeError(f"{len(wrong)} of {len(expected)} keys of {topic} are wrong: {faults}")
        return "each once, in order"


def by_key(messages):
    found = defaultdict(list)
    for message in messages:
        found[text(message.key())].append(text(message.value()))
    return dict(found)


def fault(expected, found):
    """Where the two part first."""
    same = next((n for n, pair in enumerate(zip(expected, found)) if pair[0] != pair[1]), min(len(expected), len(found)))
    return f"{len(found)} of {len(expected)}; from number {same} on: {found[same:same + 3]}"


class Feeder:
    """Feeds round after round beside what is done meanwhile."""

    def __init__(self, counting):
        self.counting, self.stopping, self.failure = counting, threading.Event(), None
        self.thread = threading.Thread(target=self.run)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stopping.set()
        self.thread.join()
        if self.failure:
            raise self.failure

    def run(self):
        try:
            while not self.stopping.is_set():
                self.counting.round()
                time.sleep(ROUND_S)
        except Exception as error:
            self.failure = error
