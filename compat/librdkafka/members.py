"""members.py BOOTSTRAP: confluent-kafka in groups and in transactions, and groups as operators see them, asked in JSON lines."""

import sys

from confluent_kafka import ConsumerGroupTopicPartitions, KafkaException, TopicPartition

from adapter import serve, text
from client import WAIT_S, Client, only
from harness import code
from poller import Poller
from records import offsets_of, record_asks
from transactions import transaction_asks

CANNOT = {
    "forget": "delete positions of a group",
}


def main():
    client, members = Client(sys.argv[1], ""), {}
    of_groups = {**member_asks(client, members), **admin_asks(client)}
    of_transactions = {**record_asks(client), **transaction_asks(client, members)}
    serve({**topic_asks(client), **of_groups, **of_transactions}, CANNOT, code_of)


def code_of(error):
    return code(error.args[0]) if isinstance(error, KafkaException) else None


def topic_asks(client):
    def create(topic, partitions, replicas, configs):
        client.create(topic, partitions, configs, replicas, wait=False)

    def produce(topic, partition, batches):
        return [offset for batch in batches for offset in client.produce(topic, partition, batch)]

    return {"create": create, "partitions": client.partitions, "produce": produce}


def poll(consumer):
    message = consumer.poll(0.1)
    if message is None:
        return []
    if message.error() is not None:
        raise KafkaException(message.error())
    return [[message.topic(), message.partition(), message.offset(), text(message.value())]]


def rows(partitions):
    return [[p.topic, p.partition] for p in partitions]


def position(p):
    return [p.topic, p.partition, max(p.offset, -1), p.metadata or ""]


def member_asks(client, members):
    def join(member, group, topics, protocol, session_ms, assignor="", instance=None):
        how = {"group.protocol": protocol, "group.id": group, "auto.offset.reset": "earliest", "enable.partition.eof": False}
        if protocol == "classic":
            how |= {"session.timeout.ms": session_ms, "heartbeat.interval.ms": 300}
            how |= {"partition.assignment.strategy": "cooperative-sticky" if assignor else "range"}
        if instance:
            how["group.instance.id"] = instance
        consumer, made = client.consumer(**how), Poller()
        members[member] = made
        consumer.subscribe(
            topics,
            on_assign=lambda _, partitions: made.gained(rows(partitions)),
            on_revoke=lambda _, partitions: made.lost(rows(partitions)),
            on_lost=lambda _, partitions: made.lost(rows(partitions)),
        )
        made.start(consumer, poll, lambda consumer: consumer.close())

    def told(member):
        return members[member].told(generation=members[member].ask(lambda consumer: consumer.memberid()))

    def commit(member, positions):
        members[member].ask(lambda consumer: consumer.commit(offsets=offsets_of(positions), asynchronous=False) and None)

    def committed(member, of):
        asked = [TopicPartition(*p) for p in of]
        return [position(p) for p in members[member].ask(lambda consumer: consumer.committed(asked, timeout=WAIT_S))]

    return {"join": join, "member": told, "commit": commit, "committed": committed, "leave": lambda member: members[member].stop()}


def admin_asks(client):
    admin = client.admin

    def groups():
        found = admin.list_consumer_groups().result(timeout=WAIT_S)
        if found.errors:
            raise found.errors[0]
        return [[g.group_id, g.state.name, g.type.name, g.is_simple_consumer_group] for g in found.valid]

    def described(group):
        found = only(admin.describe_consumer_groups([group]))
        return {
            "state": found.state.name,
            "kind": found.type.name,
            "protocol": found.partition_assignor,
            "simple": found.is_simple_consumer_group,
            "members": [member_of(m) for m in found.members],
        }

    def positions(group, of):
        found = only(admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)]))
        return [position(p) for p in found.topic_partitions]

    def move(group, positions):
        found = only(admin.alter_consumer_group_offsets([ConsumerGroupTopicPartitions(group, offsets_of(positions))]))
        for p in found.topic_partitions:
            if p.error is not None:
                raise KafkaException(p.error)

    return {
        "groups": groups,
        "group": described,
        "group_positions": positions,
        "move": move,
        "delete_group": lambda group: only(admin.delete_consumer_groups([group])),
    }


def member_of(m):
    assigned = m.assignment.topic_partitions if m.assignment else []
    return {"client": m.client_id, "host": m.host, "instance": m.group_instance_id, "partitions": rows(assigned)}


main()
