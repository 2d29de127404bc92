"""Topics, their configs and their records, by librdkafka: what a program wrote is read by a client that it has no part in."""

import functools
import json
import sys
import time

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException, Producer, TopicCollection, TopicPartition
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, NewTopic, ResourceType
from suite import PATIENCE_S, wait_until, waited

# Of a topic that a program is still to make, and of a broker that is being started.
NOT_YET = {KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC, KafkaError._UNKNOWN_PARTITION, KafkaError.LEADER_NOT_AVAILABLE}
WAIT_S = 60


@functools.cache
def admin(bootstrap):
    """One for all: it must outlive what it was asked."""
    return AdminClient({"bootstrap.servers": bootstrap})


def create(bootstrap, topic, partitions=1, **config):
    admin(bootstrap).create_topics([NewTopic(topic, partitions, 1, config=config)])[topic].result(WAIT_S)


def num_partitions(bootstrap, topic):
    """0 where there is no such topic, which this does not create."""
    try:
        told = admin(bootstrap).describe_topics(TopicCollection([topic]))[topic].result(WAIT_S)
    except KafkaException as error:
        if error.args[0].code() not in NOT_YET:
            raise
        return 0
    return len(told.partitions)


def partitions_of(bootstrap, topic):
    wait_until(f"there is {topic}", lambda: num_partitions(bootstrap, topic) > 0)
    return num_partitions(bootstrap, topic)


def configs(bootstrap, topic, names):
    resource = ConfigResource(ResourceType.TOPIC, topic)
    told = admin(bootstrap).describe_configs([resource])[resource].result(WAIT_S)
    return {name: told[name].value if name in told else None for name in names}


def alter(bootstrap, topic, name, value):
    entry = ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[entry])
    admin(bootstrap).incremental_alter_configs([resource])[resource].result(WAIT_S)


def producer(bootstrap, **config):
    """It sends each record once, and waits for a broker that is away."""
    return Producer({"bootstrap.servers": bootstrap, "enable.idempotence": True, "linger.ms": 1, **config})


def flush(sender):
    if sender.flush(PATIENCE_S) > 0:
        raise TimeoutError("records were not acknowledged in time")


def write(bootstrap, topic, records, partition=-1):
    """(key, value) pairs."""
    sender = producer(bootstrap)
    for key, value in records:
        sender.produce(topic, value, key, partition)
    flush(sender)


class Reader:
    """Reads the committed records of topics from the beginning on; what it has read stays in `rows`."""

    def __init__(self, bootstrap, *topics):
        config = {"bootstrap.servers": bootstrap, "group.id": "nobody", "isolation.level": "read_committed"}
        config |= {"enable.auto.commit": False, "enable.partition.eof": True, "fetch.wait.max.ms": 100}
        # A broker that is being restarted is no fault.
        self.consumer = Consumer({**config, "error_cb": lambda error: print(error, file=sys.stderr)})
        self.rows, self.at_end = [], set()
        self.partitions = [(topic, part) for topic in topics for part in range(partitions_of(bootstrap, topic))]
        self.consumer.assign([TopicPartition(topic, part, OFFSET_BEGINNING) for topic, part in self.partitions])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.consumer.close()

    def until(self, what, condition, look=lambda: None):
        """Reads until the condition holds for the rows; `look` may raise what makes it hopeless."""
        began = time.monotonic()
        while not condition(self.rows):
            if time.monotonic() - began > PATIENCE_S:
                raise TimeoutError(f"not in {PATIENCE_S} s: {what}; {len(self.rows)} records were read, the last: {values(self.rows[-3:])}")
            # Nobody has to be looked after while records come.
            if not self.poll():
                look()
        waited(what, began)
        return self.rows

    def to_end(self):
        """All that is there now: an open transaction is an end too."""
        return self.until("the end", lambda _: len(self.at_end) == len(self.partitions))

    def poll(self):
        """Whether there was a record."""
        message = self.consumer.poll(0.2)
        if message is None:
            return False
        place = (message.topic(), message.partition())
        if message.error() is None:
            self.at_end.discard(place)
            self.rows.append(message)
            return True
        if message.error().code() == KafkaError._PARTITION_EOF:
            self.at_end.add(place)
        elif message.error().code() not in NOT_YET:
            raise RuntimeError(f"{place}: {message.error()}")
        return False


def read_all(bootstrap, *topics):
    with Reader(bootstrap, *topics) as reader:
        return reader.to_end()


def values(messages):
    return [text(message.value()) for message in messages]


def text(content):
    return None if content is None else content.decode()


def manifests(bootstrap, feed):
    return [json.loads(message.value()) for message in read_all(bootstrap, f"{feed}..commits")]


def seal(bootstrap, feed, label):
    write(bootstrap, f"{feed}..seal", [(label, b"{}")])
