"""client.py BOOTSTRAP: kafka-python, asked in JSON lines."""

import logging
import re
import sys
import time

from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import AlterConfigOp, ConfigResource, KafkaAdminClient
from kafka.errors import BrokerResponseError, KafkaError, for_code

from adapter import CannotDo, data, serve, text
from groups import admin_asks, member_asks
from transactions import transaction_asks

BOOTSTRAP = sys.argv[1]
WAIT_S = 20
TIMES = {0: "CreateTime", 1: "LogAppendTime"}
CANNOT = {
    "leader_epoch": "ask for the end of a leader epoch",
    "producer_id": "show the id of an idempotent producer",
}


def main():
    logging.disable(logging.ERROR)
    serve(asks(KafkaAdminClient(bootstrap_servers=BOOTSTRAP)), CANNOT, code_of)


def code_of(error):
    if isinstance(error, BrokerResponseError) and error.errno and error.errno > 0:
        return error.errno
    # Of transactions it tells the broker's code in words alone.
    code = re.search(r"\[Error (\d+)\]", str(error)) if isinstance(error, KafkaError) else None
    return int(code[1]) if code else None


def asks(admin):
    members = {}
    of_groups = {**member_asks(BOOTSTRAP, members), **admin_asks(admin)}
    of_records = {"produce": produce, "offset": offset(admin), "read": read, **transaction_asks(BOOTSTRAP, members, send)}
    return {**topic_asks(admin), **config_asks(admin), **of_groups, **of_records}


def described(admin, topic):
    """One topic of Metadata; raises its error or a partition's."""
    (found,) = admin.describe_topics([topic])
    for part in [found, *found["partitions"]]:
        if part["error_code"] != 0:
            raise for_code(part["error_code"])(topic)
    return found


def topic_asks(admin):
    def create(topic, partitions, replicas, configs, validate_only=False, assignment=None):
        new = {"num_partitions": partitions, "replication_factor": replicas, "configs": configs}
        if assignment:
            new["assignments"] = dict(enumerate(assignment))
        admin.create_topics({topic: new}, validate_only=validate_only)

    def shape(topic):
        parts = described(admin, topic)["partitions"]
        return [[p["partition_index"], len(p["replica_nodes"]), len(p["isr_nodes"]), p["leader_id"] >= 0] for p in parts]

    def cluster():
        found = admin.describe_cluster()
        nodes = [b["broker_id"] for b in found["brokers"]]
        return {"nodes": nodes, "controller": found["controller_id"], "id": bool(found["cluster_id"]), "host": found["brokers"][0]["host"]}

    def grow(topic, total, validate_only=False):
        admin.create_partitions({topic: total}, validate_only=validate_only)

    def delete_records(topic, partition, before):
        where = TopicPartition(topic, partition)
        return admin.delete_records({where: before})[where]["low_watermark"]

    def log_dirs(topic):
        (answer,) = admin.describe_log_dirs([topic])
        return [part["partition_size"] for one in answer["log_dirs"] for t in one["topics"] for part in t["partitions"]]

    return {
        "create": create,
        "delete_records": delete_records,
        "log_dirs": log_dirs,
        "delete": lambda topic: admin.delete_topics([topic]) and None,
        "grow": grow,
        "partitions": lambda topic: len(described(admin, topic)["partitions"]),
        "topics": admin.list_topics,
        "shape": shape,
        "topic_id": lambda topic: str(described(admin, topic)["topic_id"]),
        "cluster": cluster,
        "api_versions": lambda: {int(k): list(v) for k, v in admin.api_versions().items()},
        "coordinator": lambda group: admin._manager.run(admin._find_coordinator_id, group),
    }


def config_asks(admin):
    def configs(kind, name):
        found = admin.describe_configs([ConfigResource(kind, name)], include_synonyms=True, config_filter="all")
        return {key: told(entry) for key, entry in found[kind][name].items()}

    def alter(kind, name, changes, validate_only=False):
        if kind == "broker" and not name:
            raise CannotDo("name the cluster in a config request, only one broker")
        wanted = {key: (AlterConfigOp[operation], value) for key, operation, value in changes}
        resource = ConfigResource(kind, name, wanted)
        settled(admin.alter_configs([resource], validate_only=validate_only, raise_on_unknown=False, incremental=True))

    def alter_all(topic, configs):
        # As the client does it, with what is set already read first and sent along.
        settled(admin.alter_configs([ConfigResource("topic", topic, configs)], incremental=False))

    return {"configs": configs, "alter": alter, "alter_all": alter_all}


def told(entry):
    synonyms = [[s["name"], s["value"], s["source"]] for s in entry["synonyms"]]
    found = {"value": entry["value"], "source": entry["config_source"], "synonyms": synonyms}
    found |= {"read_only": entry["read_only"], "sensitive": entry["is_sensitive"]}
    return found | ({"type": entry["config_type"]} if "config_type" in entry else {})


def settled(answer):
    """alter_configs tells an error as text, "[Error 40] InvalidConfigurationError: ..."."""
    for kind in answer.values():
        for result in kind.values():
            if result != "OK":
                raise for_code(int(result.removeprefix("[Error ").partition("]")[0]))(result)


def produce(topic, partition, batches, codec="none", acks=-1, idempotent=True, max_bytes=1_000_000, auto_create=False):
    producer = KafkaProducer(
        bootstrap_servers=BOOTSTRAP,
        compression_type=None if codec == "none" else codec,
        acks="all" if acks == -1 else acks,
        enable_idempotence=idempotent,
        max_request_size=max_bytes + 1000,
        batch_size=max_bytes,
        linger_ms=50,
        delivery_timeout_ms=WAIT_S * 1000,
        request_timeout_ms=5000,
        max_block_ms=WAIT_S * 1000,
        allow_auto_create_topics=auto_create,
    )
    try:
        offsets = []
        for batch in batches:
            sent = [send(producer, topic, partition, r) for r in batch]
            producer.flush(WAIT_S)
            offsets += [future.get(WAIT_S).offset for future in sent]
        return offsets
    finally:
        producer.close(timeout=1)


def send(producer, topic, partition, r):
    if r.get("key") is None and r["value"] is None:
        raise CannotDo("send a record without key and value")
    if any(value is None for _, value in r.get("headers", [])):
        raise CannotDo("send a header without a value")
    try:
        return producer.send(topic, partition=partition, **record(r))
    except ValueError as error:
        if "did not assign a partition" in str(error):
            raise CannotDo("write to a topic that metadata marks as internal") from None
        raise


def record(r):
    return {
        "key": data(r.get("key")),
        "value": data(r["value"]),
        "headers": [(name, data(value)) for name, value in r.get("headers", [])],
        "timestamp_ms": r.get("timestamp"),
    }


def offset(admin):
    def asked(topic, partition, at, committed=False):
        where = TopicPartition(topic, partition)
        level = "READ_COMMITTED" if committed else "READ_UNCOMMITTED"
        found = admin.list_partition_offsets({where: at}, isolation_level=level, timeout_ms=5000)[where]
        return [found.offset, found.timestamp]

    return asked


def read(topic, partition, start, end, count, committed=False, max_bytes=1_048_576, max_wait_ms=100, reset="none"):
    where = TopicPartition(topic, partition)
    consumer = KafkaConsumer(
        bootstrap_servers=BOOTSTRAP,
        group_id=None,
        auto_offset_reset="none" if reset == "none" else reset,
        isolation_level="read_committed" if committed else "read_uncommitted",
        max_partition_fetch_bytes=max_bytes,
        fetch_max_wait_ms=max_wait_ms,
        metadata_max_age_ms=1000,
        allow_auto_create_topics=False,
    )
    try:
        consumer.assign([where])
        consumer.seek(where, start)
        return drained(consumer, where, start, end, count)
    finally:
        consumer.close()


def drained(consumer, where, start, end, count):
    found = []
    nothing_to_come = end is not None and start >= end
    deadline = time.monotonic() + (0.3 if nothing_to_come else WAIT_S)
    while time.monotonic() < deadline:
        for r in consumer.poll(timeout_ms=100).get(where, []):
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
