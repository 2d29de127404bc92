"""A member whose client is polled: one thread owns the consumer, and does between polls what others ask of it."""

import queue
import threading
import traceback
from concurrent.futures import Future


class Poller:
    """`poll(consumer)` gives [topic, partition, offset, value] rows; what it raises ends the member."""

    def __init__(self):
        self.lock = threading.Lock()
        self.tasks = queue.Queue()
        self.partitions, self.read, self.taken, self.error = [], [], [], None
        self.running, self.failure = True, None

    def start(self, consumer, poll, close):
        self.thread = threading.Thread(target=self.run, args=(consumer, poll, close), daemon=True)
        self.thread.start()

    def run(self, consumer, poll, close):
        try:
            while self.running:
                rows = poll(consumer)
                with self.lock:
                    self.read += rows
                while not self.tasks.empty():
                    future, task = self.tasks.get()
                    try:
                        future.set_result(task(consumer))
                    except Exception as error:
                        future.set_exception(error)
            close(consumer)
        except Exception as error:
            traceback.print_exc()
            self.error, self.failure = f"{type(error).__name__}: {error}", error
            while not self.tasks.empty():
                self.tasks.get()[0].set_exception(error)

    def ask(self, task, wait_s=30):
        if self.failure:
            raise self.failure
        future = Future()
        self.tasks.put((future, task))
        return future.result(timeout=wait_s)

    def stop(self):
        self.running = False
        self.thread.join(timeout=30)

    def gained(self, partitions):
        with self.lock:
            self.partitions += [p for p in partitions if p not in self.partitions]

    def lost(self, partitions):
        with self.lock:
            self.taken += partitions
            self.partitions = [p for p in self.partitions if p not in partitions]

    def told(self, **more):
        with self.lock:
            return {"partitions": self.partitions, "read": self.read, "taken": self.taken, "error": self.error, **more}
