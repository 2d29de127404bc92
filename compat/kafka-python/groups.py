"""Members of groups, and groups as operators see them."""

from kafka import ConsumerRebalanceListener, KafkaConsumer, TopicPartition, errors
from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.errors import NoError, for_code
from kafka.structs import OffsetAndMetadata

from adapter import CannotDo, text
from poller import Poller

ASSIGNORS = {"": RangePartitionAssignor, "cooperative": CooperativeStickyAssignor}


class Listener(ConsumerRebalanceListener):
    def __init__(self, member):
        self.member = member

    def on_partitions_assigned(self, assigned):
        self.member.gained(rows(assigned))

    def on_partitions_revoked(self, revoked):
        self.member.lost(rows(revoked))

    def on_partitions_lost(self, lost):
        self.member.lost(rows(lost))


def rows(partitions):
    return [[p.topic, p.partition] for p in partitions]


def poll(consumer):
    found = consumer.poll(timeout_ms=100)
    return [[r.topic, r.partition, r.offset, text(r.value)] for records in found.values() for r in records]


def member_asks(bootstrap, members):
    def join(member, group, topics, protocol, session_ms, assignor="", instance=None):
        if protocol != "classic":
            raise CannotDo("speak the consumer group protocol (KIP-848)")
        consumer = KafkaConsumer(
            bootstrap_servers=bootstrap,
            group_id=group,
            group_instance_id=instance,
            session_timeout_ms=session_ms,
            heartbeat_interval_ms=300,
            partition_assignment_strategy=[ASSIGNORS[assignor]],
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            allow_auto_create_topics=False,
        )
        made = members[member] = Poller()
        consumer.subscribe(topics, listener=Listener(made))
        made.start(consumer, poll, lambda consumer: consumer.close(autocommit=False))

    def commit(member, positions):
        members[member].ask(lambda consumer: consumer.commit(offsets_of(positions)))

    def committed(member, of):
        told = [members[member].ask(lambda consumer, p=p: consumer.committed(TopicPartition(*p), metadata=True)) for p in of]
        return [[*p, *([one.offset, one.metadata] if one else [-1, ""])] for p, one in zip(of, told)]

    return {
        "join": join,
        "member": lambda member: members[member].told(),
        "commit": commit,
        "committed": committed,
        "leave": lambda member: members[member].stop(),
    }


def offsets_of(positions):
    return {TopicPartition(topic, partition): OffsetAndMetadata(offset, metadata, -1) for topic, partition, offset, metadata in positions}


def raised(results):
    for error in results.values():
        if error is not NoError:
            raise error()


def admin_asks(admin):
    def described(group):
        found = admin.describe_groups([group])[group]
        if found["error"] is not None:
            raise for_code(int(found["error"].removeprefix("[Error ").partition("]")[0]))(found["error"])
        return {
            "state": found["group_state"],
            "kind": found["protocol_type"],
            "protocol": found["protocol_data"],
            "members": [{"client": m["client_id"], "host": m["client_host"], "partitions": partitions_of(m)} for m in found["members"]],
        }

    def positions(group, of):
        told = admin.list_group_offsets({group: None})[group]
        return [[at.topic, at.partition, p.offset, p.metadata] for at, p in told.items()]

    def delete(group):
        result = admin.delete_groups([group])[group]
        if result != "OK":
            raise getattr(errors, result)()

    return {
        "groups": lambda: [[g["group_id"], g["protocol_type"], g["group_state"], g["group_type"]] for g in admin.list_groups()],
        "group": described,
        "group_positions": positions,
        "move": lambda group, positions: raised(admin.alter_group_offsets(group, offsets_of(positions))),
        "forget": lambda group, of: raised(admin.delete_group_offsets(group, [TopicPartition(*p) for p in of])),
        "delete_group": delete,
    }


def partitions_of(member):
    assigned = (member["member_assignment"] or {}).get("assigned_partitions", [])
    return [[t["topic"], p] for t in assigned for p in t["partitions"]]
