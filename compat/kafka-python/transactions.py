"""Producers that write in transactions."""

from kafka import KafkaProducer

from groups import offsets_of

WAIT_S = 20


def transaction_asks(bootstrap, members, send_record):
    producers = {}

    def open_producer(producer, transactional_id, timeout_ms):
        made = producers[producer] = KafkaProducer(
            bootstrap_servers=bootstrap,
            transactional_id=transactional_id,
            transaction_timeout_ms=timeout_ms,
            linger_ms=20,
            delivery_timeout_ms=WAIT_S * 1000,
            request_timeout_ms=5000,
            max_block_ms=WAIT_S * 1000,
            allow_auto_create_topics=False,
        )
        made.init_transactions()

    def send(producer, topic, partition, batches):
        made = producers[producer]
        sent = [send_record(made, topic, partition, record) for batch in batches for record in batch]
        made.flush(WAIT_S)
        return [future.get(WAIT_S).offset for future in sent]

    def send_positions(producer, group, positions, member):
        metadata = members[member].ask(lambda consumer: consumer.group_metadata()) if member else group
        producers[producer].send_offsets_to_transaction(offsets_of(positions), metadata)

    def end(producer, commit):
        made = producers[producer]
        made.commit_transaction() if commit else made.abort_transaction()

    return {
        "open_producer": open_producer,
        "begin": lambda producer: producers[producer].begin_transaction(),
        "send": send,
        "send_positions": send_positions,
        "end": end,
        "close_producer": lambda producer: producers.pop(producer).close(timeout=0),
    }
