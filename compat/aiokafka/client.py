"""client.py BOOTSTRAP: aiokafka, asked in JSON lines."""

import asyncio
import logging
import sys
import threading
import time

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewPartitions, NewTopic, RecordsToDelete
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.errors import BrokerResponseError, CommitFailedError, KafkaTimeoutError, ProducerFenced, for_code
from aiokafka.protocol.metadata import MetadataRequest

import groups
import transactions
from adapter import CannotDo, data, serve, text

BOOTSTRAP = sys.argv[1]
WAIT_S = 20
TIMES = {0: "CreateTime", 1: "LogAppendTime"}
EARLIEST, LATEST = -2, -1
CANNOT = {
    "alter": "change configs one by one (IncrementalAlterConfigs)",
    "api_versions": "show the versions that a broker told",
    "log_dirs": "describe the log directories",
    "leader_epoch": "ask for the end of a leader epoch",
    "producer_id": "show the id of an idempotent producer",
    "topic_id": "show topic ids, which are above its version of Metadata",
}


def main():
    logging.disable(logging.CRITICAL)
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()

    def wait(coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, loop).result()

    admin = wait(started_admin())
    of_groups = {**groups.member_asks(BOOTSTRAP, admin), **groups.admin_asks(admin)}
    of_records = {"produce": produce, "offset": offset, "read": read, **transactions.asks(BOOTSTRAP, record)}
    asks = {**topic_asks(admin), **config_asks(admin), **of_groups, **of_records}
    serve({name: lambda ask=ask, **how: wait(ask(**how)) for name, ask in asks.items()}, {**CANNOT, **groups.CANNOT}, code_of)
    wait(admin.close())


async def started_admin():
    admin = AIOKafkaAdminClient(bootstrap_servers=BOOTSTRAP)
    await admin.start()
    return admin


def code_of(error):
    if isinstance(error, CommitFailedError):
        return code_of(error.__cause__)
    if isinstance(error, ProducerFenced):
        return "client: fenced"  # its own error, for several codes
    if isinstance(error, BrokerResponseError) and error.errno:
        return error.errno
    return "client: asked again until its time was over" if isinstance(error, KafkaTimeoutError) else None


def raised(code, what):
    if code != 0:
        raise for_code(code)(what)


def topic_asks(admin):
    async def described(topic):
        # As describe_topics, but for the flag: without it a topic would be made by asking for it.
        answer = await admin._send_request(MetadataRequest([topic], False))
        (found,) = answer.to_object()["topics"]
        for part in [found, *found["partitions"]]:
            raised(part["error_code"], topic)
        return found

    async def create(topic, partitions, replicas, configs, validate_only=False, assignment=None):
        if partitions == replicas == -1 and not assignment:
            raise CannotDo("leave the numbers of partitions and replicas to the broker")
        assigned = dict(enumerate(assignment)) if assignment else None
        new = NewTopic(topic, partitions, replicas, replica_assignments=assigned, topic_configs=configs)
        answer = await admin.create_topics([new], validate_only=validate_only)
        raised(answer.topic_errors[0][1], topic)

    async def delete(topic):
        answer = await admin.delete_topics([topic])
        raised(answer.topic_error_codes[0][1], topic)

    async def grow(topic, total, validate_only=False):
        await admin.create_partitions({topic: NewPartitions(total)}, validate_only=validate_only)

    async def delete_records(topic, partition, before):
        where = TopicPartition(topic, partition)
        return (await admin.delete_records({where: RecordsToDelete(before)}))[where]

    async def partitions(topic):
        return len((await described(topic))["partitions"])

    async def shape(topic):
        parts = (await described(topic))["partitions"]
        return [[p["partition"], len(p["replicas"]), len(p["isr"]), p["leader"] >= 0] for p in parts]

    async def cluster():
        found = await admin.describe_cluster()
        nodes = [b["node_id"] for b in found["brokers"]]
        return {"nodes": nodes, "controller": found["controller_id"], "id": bool(found["cluster_id"]), "host": found["brokers"][0]["host"]}

    return {
        "create": create, "delete": delete, "delete_records": delete_records, "grow": grow, "partitions": partitions,
        "topics": admin.list_topics, "shape": shape, "cluster": cluster, "coordinator": lambda group: admin.find_coordinator(group),
    }


def config_asks(admin):
    async def configs(kind, name):
        resource = ConfigResource(ConfigResourceType[kind.upper()], name)
        (answer,) = await admin.describe_configs([resource], include_synonyms=True)
        (found,) = answer.to_object()["resources"]
        raised(found["error_code"], name)
        return {entry["config_names"]: told(entry) for entry in found["config_entries"]}

    async def alter_all(topic, configs):
        answers = await admin.alter_configs([ConfigResource(ConfigResourceType.TOPIC, topic, configs)])
        (found,) = answers[0].to_object()["resources"]
        raised(found["error_code"], topic)

    return {"configs": configs, "alter_all": alter_all}


def told(entry):
    synonyms = [[s["config_name"], s["config_value"], s["config_source"]] for s in entry["config_synonyms"]]
    return {
        "value": entry["config_value"],
        "source": entry["config_source"],
        "read_only": entry["read_only"],
        "sensitive": entry["is_sensitive"],
        "synonyms": synonyms,
    }


async def produce(topic, partition, batches, codec="none", acks=-1, idempotent=True, max_bytes=1_000_000, auto_create=False):
    producer = AIOKafkaProducer(
        bootstrap_servers=BOOTSTRAP,
        compression_type=None if codec == "none" else codec,
        acks=acks,
        enable_idempotence=idempotent,
        max_request_size=max_bytes + 1000,
        max_batch_size=max_bytes,
        linger_ms=20,
        request_timeout_ms=10_000,
    )
    await producer.start()
    try:
        offsets = []
        for batch in batches:
            sent = [await producer.send(topic, partition=partition, **record(r)) for r in batch]
            done = [await asyncio.wait_for(future, WAIT_S) for future in sent]
            offsets += [one.offset if one else -1 for one in done]
        return offsets
    finally:
        await producer.stop()


def record(r):
    if r.get("key") is None and r["value"] is None:
        raise CannotDo("send a record without key and value")
    return {
        "key": data(r.get("key")),
        "value": data(r["value"]),
        "headers": [(name, data(value)) for name, value in r.get("headers", [])],
        "timestamp_ms": r.get("timestamp"),
    }


def consumer_of(committed, **how):
    isolation = "read_committed" if committed else "read_uncommitted"
    return AIOKafkaConsumer(bootstrap_servers=BOOTSTRAP, group_id=None, isolation_level=isolation, **how)


async def offset(topic, partition, at, committed=False):
    if at < 0 and at not in (EARLIEST, LATEST):
        raise CannotDo("ask for special times other than the earliest and the latest")
    where, consumer = TopicPartition(topic, partition), consumer_of(committed, request_timeout_ms=3000)
    await consumer.start()
    try:
        if at == EARLIEST:
            return [(await consumer.beginning_offsets([where]))[where], None]
        if at == LATEST:
            return [(await consumer.end_offsets([where]))[where], None]
        found = (await consumer.offsets_for_times({where: at}))[where]
        return [found.offset, found.timestamp] if found else [-1, -1]
    finally:
        await consumer.stop()


async def read(topic, partition, start, end, count, committed=False, max_bytes=1_048_576, max_wait_ms=100, reset="none"):
    where = TopicPartition(topic, partition)
    how = {"max_partition_fetch_bytes": max_bytes, "fetch_max_wait_ms": max_wait_ms, "metadata_max_age_ms": 500}
    consumer = consumer_of(committed, auto_offset_reset=reset, **how)
    await consumer.start()
    try:
        consumer.assign([where])
        consumer.seek(where, start)
        return await drained(consumer, where, start, end, count)
    finally:
        await consumer.stop()


async def drained(consumer, where, start, end, count):
    found = []
    nothing_to_come = end is not None and start >= end
    deadline = time.monotonic() + (0.3 if nothing_to_come else WAIT_S)
    while time.monotonic() < deadline:
        for r in (await consumer.getmany(where, timeout_ms=100)).get(where, []):
            found.append(shown(r))
        if count is not None and len(found) >= count:
            return found[:count]
        if end is not None and found and found[-1]["offset"] >= end - 1:
            return found
    if not nothing_to_come:
        raise TimeoutError(f"{len(found)} records, then nothing")
    return found


def shown(r):
    return {
        "offset": r.offset,
        "key": text(r.key),
        "value": text(r.value),
        "headers": [[name, text(value)] for name, value in r.headers],
        "timestamp": r.timestamp,
        "timestamp_type": TIMES[r.timestamp_type],
    }


main()
