"""What the checks ask of confluent-kafka, in a few words."""

import hashlib
import time

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewPartitions, NewTopic

WAIT_S = 20


class Client:
    def __init__(self, bootstrap, prefix):
        self.bootstrap = bootstrap
        self.prefix = prefix
        self.admin = AdminClient({"bootstrap.servers": bootstrap})

    def name(self, topic):
        return f"{self.prefix}-{topic}"

    def create(self, topic, partitions=1, config=None, replicas=1, wait=True, **options):
        """Creates a topic; `wait` until it can be written to."""
        new = NewTopic(topic, num_partitions=partitions, replication_factor=replicas, config=config or {})
        only(self.admin.create_topics([new], **options))
        if wait:
            self.wait_for(lambda: self.partitions(topic) == partitions)
        return topic

    def grow(self, topic, total, **options):
        only(self.admin.create_partitions([NewPartitions(topic, total)], **options))

    def delete(self, topic):
        only(self.admin.delete_topics([topic]))

    def partitions(self, topic):
        """How many partitions metadata tells; refused with the topic's error. Creates nothing."""
        meta = Consumer({"bootstrap.servers": self.bootstrap, "group.id": "none"})
        try:
            found = meta.list_topics(topic, timeout=WAIT_S).topics[topic]
        finally:
            meta.close()
        if found.error is not None:
            raise KafkaException(found.error)
        for partition in found.partitions.values():
            if partition.error is not None:
                raise KafkaException(partition.error)
        return len(found.partitions)

    def produce(self, topic, partition, records, flush_every=None, **config):
        """Sends (value | dict(value, key, headers, timestamp)) and returns the offsets; a flush ends a batch."""
        offsets, errors = [], []

        def delivered(error, message):
            errors.append(error) if error else offsets.append(message.offset())

        defaults = {"bootstrap.servers": self.bootstrap, "enable.idempotence": True, "message.timeout.ms": WAIT_S * 1000}
        producer = Producer({**defaults, **config})
        for n, record in enumerate(records):
            if flush_every and n % flush_every == 0:
                producer.flush(WAIT_S)
            record = record if isinstance(record, dict) else {"value": record}
            producer.produce(topic, partition=partition, on_delivery=delivered, **record)
            producer.poll(0)
        if producer.flush(WAIT_S) > 0:
            raise TimeoutError(f"records to {topic} were not answered")
        if errors:
            raise KafkaException(errors[0])
        return offsets

    def consumer(self, **config):
        defaults = {
            "bootstrap.servers": self.bootstrap,
            "group.id": f"{self.prefix}-unused",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "auto.offset.reset": "error",
            "isolation.level": "read_uncommitted",
            "fetch.wait.max.ms": 100,
            "allow.auto.create.topics": False,
        }
        return Consumer({**defaults, **config})

    def bounds(self, topic, partition=0, **config):
        """(earliest, latest)."""
        consumer = self.consumer(**config)
        try:
            return consumer.get_watermark_offsets(TopicPartition(topic, partition), timeout=WAIT_S)
        finally:
            consumer.close()

    def read(self, topic, partition=0, start=None, until=None, wait_s=WAIT_S, **config):
        """Messages from `start` (earliest) to the end of the partition, or until there are `until`."""
        consumer = self.consumer(**config)
        try:
            if start is None:
                start = consumer.get_watermark_offsets(TopicPartition(topic, partition), timeout=WAIT_S)[0]
            consumer.assign([TopicPartition(topic, partition, start)])
            return self.drain(consumer, until, wait_s)
        finally:
            consumer.close()

    def drain(self, consumer, until, wait_s):
        messages, deadline = [], time.monotonic() + wait_s
        while until is None or len(messages) < until:
            message = consumer.poll(0.2)
            if time.monotonic() > deadline:
                raise TimeoutError(f"{len(messages)} records, then nothing")
            if message is None:
                continue
            if message.error() is None:
                messages.append(message)
            elif message.error().code() != KafkaError._PARTITION_EOF:
                raise KafkaException(message.error())
            elif until is None:
                break
        return messages

    def wait_for(self, condition, wait_s=WAIT_S):
        deadline = time.monotonic() + wait_s
        while True:
            try:
                if condition():
                    return True
            except KafkaException:
                pass
            if time.monotonic() > deadline:
                return False
            time.sleep(0.05)


def only(futures):
    """The result of the one thing that was asked."""
    (future,) = futures.values()
    return future.result(timeout=WAIT_S)


def values(messages):
    return [text(m.value()) for m in messages]


def text(data):
    return None if data is None else data.decode()


def digest(messages):
    """Offsets, keys and values of many records in a few characters."""
    state = hashlib.sha256()
    for m in messages:
        state.update(f"{m.offset()}|{text(m.key())}|{text(m.value())}\n".encode())
    return f"{len(messages)} records {state.hexdigest()[:16]}"
