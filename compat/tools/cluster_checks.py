"""The tools that look at the cluster, its replicas, its producers, its features and its security."""

import json
import pathlib
import re
import tempfile

# Everything that tools, producers and consumers send, in groups and without.
SERVED = """Produce Fetch ListOffsets Metadata FindCoordinator ApiVersions CreateTopics DeleteTopics DeleteRecords
InitProducerId OffsetForLeaderEpoch DescribeAcls CreateAcls DeleteAcls DescribeConfigs AlterConfigs DescribeLogDirs
CreatePartitions ElectLeaders IncrementalAlterConfigs AlterPartitionReassignments ListPartitionReassignments
DescribeClientQuotas DescribeUserScramCredentials UpdateFeatures DescribeCluster DescribeProducers ListConfigResources
DescribeTopicPartitions OffsetCommit OffsetFetch OffsetDelete JoinGroup Heartbeat LeaveGroup SyncGroup DescribeGroups ListGroups
DeleteGroups ConsumerGroupHeartbeat ConsumerGroupDescribe""".split()


def broker_api_versions(t):
    exit_code, lines = t.run("kafka-broker-api-versions")
    rows = dict(re.findall(r"^(\w+)\(\d+\): (.*?),?$", "\n".join(lines), re.MULTILINE))
    return {"exit": exit_code, "head": lines[0], **{name: rows.get(name) for name in SERVED}}


def cluster(t):
    return t.answers(
        "kafka-cluster cluster-id",
        "kafka-cluster list-endpoints",
        "kafka-cluster list-endpoints --include-fenced-brokers",
    )


def features(t):
    _, described = t.run("kafka-features describe")
    return {
        "describe": described,
        **t.answers(
            "kafka-features upgrade --feature no.such.feature=3",
            "kafka-features downgrade --feature no.such.feature=1",
        ),
    }


def reassign(t):
    """There is one broker to reassign to; every step of it is answered all the same."""
    with tempfile.TemporaryDirectory() as folder:

        def file(name, content):
            path = pathlib.Path(folder) / name
            path.write_text(json.dumps({"version": 1, **content}))
            return path

        def partition(number, *replicas):
            return {"topic": "tools-a", "partition": number, "replicas": replicas}

        topics = file("topics", {"topics": [{"topic": "tools-a"}]})
        stay = file("stay", {"partitions": [partition(0, 1)]})
        elsewhere = file("elsewhere", {"partitions": [partition(0, 7)]})
        tool = "kafka-reassign-partitions"
        answers = t.answers(
            f"{tool} --list",
            f"{tool} --generate --topics-to-move-json-file {topics} --broker-list 1",
            f"{tool} --execute --reassignment-json-file {stay}",
            f"{tool} --verify --reassignment-json-file {stay}",
            f"{tool} --cancel --reassignment-json-file {stay}",
            f"{tool} --execute --reassignment-json-file {elsewhere}",
        )
    return {
        command.replace(f"{folder}/", ""): [re.sub(r'"/[^"]*"', '"DATA"', line) for line in lines]
        for command, lines in answers.items()
    }


def leader_election(t):
    elect = "kafka-leader-election --election-type"
    return t.answers(
        f"{elect} preferred --topic tools-a --partition 0",
        f"{elect} unclean --topic tools-a --partition 0",
        f"{elect} preferred --all-topic-partitions",
        f"{elect} preferred --topic tools-a --partition 9",
        f"{elect} preferred --topic tools-zz --partition 0",
    )


def metadata_quorum(t):
    return t.answers("kafka-metadata-quorum describe --status", "kafka-metadata-quorum describe --replication")


def describe_producers(t):
    _, lines = t.run("kafka-transactions describe-producers --topic tools-d --partition 0")
    head, *rows = (line.split() for line in lines)
    # Ids are given as they come, and times as they go: the first and the fifth column.
    rows = [["ID", *row[1:4], "TIME", *row[5:]] for row in rows]
    return {
        "tools-d 0": [head, *rows],
        **t.answers("kafka-transactions describe-producers --topic tools-a --partition 0"),
    }


def acls(t):
    return t.answers(
        "kafka-acls --list",
        "kafka-acls --add --force --allow-principal User:ann --operation read --topic tools-a",
        "kafka-acls --remove --force --allow-principal User:ann --operation read --topic tools-a",
    )


def replica_verification(t):
    """It compares replicas until it is stopped, and there is one to compare."""
    verify = "kafka-replica-verification --topics-include tools-p --time -2 --report-interval-ms 500"
    _, lines = t.run(verify, patience_s=8)
    return sorted({line.partition(": ")[2] for line in lines})


CHECKS = [
    ("tools.broker_api_versions", broker_api_versions),
    ("tools.cluster", cluster),
    ("tools.features", features),
    ("tools.reassign_partitions", reassign),
    ("tools.leader_election", leader_election),
    ("tools.metadata_quorum", metadata_quorum),
    ("tools.describe_producers", describe_producers),
    ("tools.acls", acls),
    ("tools.replica_verification", replica_verification),
]
