"""Offsets, and records read by an assigned consumer, asked in JSON lines."""

from confluent_kafka import TopicPartition

from adapter import CannotDo, text

EARLIEST, LATEST = -2, -1


def record_asks(client):
    def offset(topic, partition, at, committed=False):
        if at == LATEST or at == EARLIEST:
            return [client.bounds(topic, partition, **isolation(committed))[at == LATEST], None]
        raise CannotDo("ask for offsets by time here")

    def read(topic, partition, start, end, count, committed=False):
        """To the end of the partition, which the consumer tells, or until there are so many."""
        found = client.read(topic, partition, start, count, **isolation(committed))
        return [shown(m) for m in found]

    return {"offset": offset, "read": read}


def isolation(committed):
    return {"isolation.level": "read_committed" if committed else "read_uncommitted"}


def shown(m):
    headers = [[name, text(value)] for name, value in m.headers() or []]
    return {"offset": m.offset(), "key": text(m.key()), "value": text(m.value()), "headers": headers, "timestamp": m.timestamp()[1]}


def offsets_of(positions):
    return [TopicPartition(topic, partition, offset, metadata) for topic, partition, offset, metadata in positions]
