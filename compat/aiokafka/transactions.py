"""Producers that write in transactions."""

import asyncio

from aiokafka import AIOKafkaProducer

from groups import offsets_of

WAIT_S = 20


def asks(bootstrap, record):
    producers = {}

    async def open_producer(producer, transactional_id, timeout_ms):
        made = producers[producer] = AIOKafkaProducer(
            bootstrap_servers=bootstrap,
            transactional_id=transactional_id,
            transaction_timeout_ms=timeout_ms,
            linger_ms=20,
            request_timeout_ms=10_000,
        )
        await made.start()

    async def send(producer, topic, partition, batches):
        made = producers[producer]
        sent = [await made.send(topic, partition=partition, **record(r)) for batch in batches for r in batch]
        return [(await asyncio.wait_for(future, WAIT_S)).offset for future in sent]

    async def send_positions(producer, group, positions, member):
        # It names the group alone, whoever its member is.
        await producers[producer].send_offsets_to_transaction(offsets_of(positions), group)

    async def end(producer, commit):
        made = producers[producer]
        await asyncio.wait_for(made.commit_transaction() if commit else made.abort_transaction(), WAIT_S)

    return {
        "open_producer": open_producer,
        "begin": lambda producer: producers[producer].begin_transaction(),
        "send": send,
        "send_positions": send_positions,
        "end": end,
        "close_producer": lambda producer: producers.pop(producer).stop(),
    }
