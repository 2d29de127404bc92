"""Members of groups, and groups as operators see them."""

import asyncio
import traceback

from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener, TopicPartition
from aiokafka.coordinator.protocol import ConsumerProtocolMemberAssignment
from aiokafka.errors import for_code

from adapter import CannotDo, text

CANNOT = {
    "forget": "delete positions of a group",
    "delete_group": "delete a group",
}


class Member(ConsumerRebalanceListener):
    """Reads in a task of its own."""

    def __init__(self, consumer):
        self.consumer = consumer
        self.partitions, self.read, self.taken, self.error = [], [], [], None

    async def start(self, topics):
        self.consumer.subscribe(topics, listener=self)
        await self.consumer.start()
        self.task = asyncio.get_running_loop().create_task(self.poll())

    async def poll(self):
        try:
            while True:
                found = await self.consumer.getmany(timeout_ms=100)
                self.read += [[r.topic, r.partition, r.offset, text(r.value)] for rs in found.values() for r in rs]
        except Exception as error:
            traceback.print_exc()
            self.error = f"{type(error).__name__}: {error}"

    async def on_partitions_assigned(self, assigned):
        self.partitions = [[p.topic, p.partition] for p in assigned]

    async def on_partitions_revoked(self, revoked):
        self.taken += [[p.topic, p.partition] for p in revoked]
        self.partitions = []

    async def stop(self):
        self.task.cancel()
        await self.consumer.stop()

    def told(self):
        return {"partitions": self.partitions, "read": self.read, "taken": self.taken, "error": self.error}


def member_asks(bootstrap, admin):
    members = {}

    def consumer_of(group, **how):
        return AIOKafkaConsumer(bootstrap_servers=bootstrap, group_id=group, enable_auto_commit=False, auto_offset_reset="earliest", **how)

    async def join(member, group, topics, protocol, session_ms, assignor="", instance=None):
        if protocol != "classic":
            raise CannotDo("speak the consumer group protocol (KIP-848)")
        if assignor == "cooperative":
            raise CannotDo("rebalance cooperatively")
        made = Member(consumer_of(group, group_instance_id=instance, session_timeout_ms=session_ms, heartbeat_interval_ms=300))
        made.group = group
        await made.start(topics)
        members[member] = made

    async def told(member):
        return members[member].told()

    async def commit(member, positions):
        await members[member].consumer.commit(offsets_of(positions))

    async def committed(member, of):
        found = await admin.list_consumer_group_offsets(members[member].group, partitions=[TopicPartition(*p) for p in of])
        return [[*p, found[TopicPartition(*p)].offset, found[TopicPartition(*p)].metadata] for p in of]

    async def leave(member):
        await members[member].stop()

    async def move(group, positions):
        consumer = consumer_of(group)
        await consumer.start()
        try:
            consumer.assign([TopicPartition(*row[:2]) for row in positions])
            await consumer.commit(offsets_of(positions))
        finally:
            await consumer.stop()

    return {"join": join, "member": told, "commit": commit, "committed": committed, "leave": leave, "move": move}


def offsets_of(positions):
    return {TopicPartition(topic, partition): (offset, metadata) for topic, partition, offset, metadata in positions}


def admin_asks(admin):
    async def groups():
        return [[name, kind] for name, kind in await admin.list_consumer_groups()]

    async def described(group):
        (answer,) = await admin.describe_consumer_groups([group])
        (found,) = answer.to_object()["groups"]
        if found["error_code"]:
            raise for_code(found["error_code"])(group)
        return {
            "state": found["state"],
            "kind": found["protocol_type"],
            "protocol": found["protocol"],
            "members": [{"client": m["client_id"], "host": m["client_host"], "partitions": partitions_of(m)} for m in found["members"]],
        }

    async def positions(group, of):
        told = await admin.list_consumer_group_offsets(group)
        return [[at.topic, at.partition, p.offset, p.metadata] for at, p in told.items()]

    return {"groups": groups, "group": described, "group_positions": positions}


def partitions_of(member):
    if not member["member_assignment"]:
        return []
    assigned = ConsumerProtocolMemberAssignment.decode(member["member_assignment"]).assignment
    return [[topic, p] for topic, partitions in assigned for p in partitions]
