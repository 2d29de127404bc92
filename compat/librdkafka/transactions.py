"""Producers that write in transactions, asked in JSON lines."""

from confluent_kafka import KafkaException, Producer

from adapter import data
from client import WAIT_S
from records import offsets_of


def transaction_asks(client, members):
    producers = {}

    def open_producer(producer, transactional_id, timeout_ms):
        made = Producer({
            "bootstrap.servers": client.bootstrap,
            "transactional.id": transactional_id,
            "transaction.timeout.ms": timeout_ms,
            # It may not be longer than the transaction.
            "message.timeout.ms": min(timeout_ms, WAIT_S * 1000),
            "linger.ms": 20,
        })  # fmt: skip
        producers[producer] = made
        made.init_transactions(WAIT_S)

    def send(producer, topic, partition, batches):
        offsets, errors = [], []

        def delivered(error, message):
            errors.append(error) if error else offsets.append(message.offset())

        for record in (record for batch in batches for record in batch):
            headers = [(name, data(value)) for name, value in record.get("headers", [])]
            how = {"key": record.get("key"), "value": record["value"], "headers": headers}
            producers[producer].produce(topic, partition=partition, on_delivery=delivered, **how)
        if producers[producer].flush(WAIT_S) > 0:
            raise TimeoutError(f"records to {topic} were not answered")
        if errors:
            raise KafkaException(errors[0])
        return offsets

    def send_positions(producer, group, positions, member):
        if member:
            metadata = members[member].ask(lambda consumer: consumer.consumer_group_metadata())
        else:
            # A consumer that has not joined stands for the group as such.
            consumer = client.consumer(**{"group.id": group})
            metadata = consumer.consumer_group_metadata()
            consumer.close()
        producers[producer].send_offsets_to_transaction(offsets_of(positions), metadata, WAIT_S)

    def end(producer, commit):
        made = producers[producer]
        made.commit_transaction(WAIT_S) if commit else made.abort_transaction(WAIT_S)

    return {
        "open_producer": open_producer,
        "begin": lambda producer: producers[producer].begin_transaction(),
        "send": send,
        "send_positions": send_positions,
        "end": end,
        "close_producer": lambda producer: producers.pop(producer) and None,
    }
