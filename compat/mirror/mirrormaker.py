"""MirrorMaker as a program of its own, exactly once, from one cluster into another."""

import os
import pathlib

from process import Process
from worker import QUICK, RUN, free_port

MAIN = "org.apache.kafka.connect.mirror.MirrorMaker"
LIB = pathlib.Path(os.environ["COMPAT_CACHE"]) / "mirror/lib"
HERE = "here"
POLL = 20
INTERNAL = ["checkpoints.topic", "heartbeats.topic", "offset-syncs.topic", "offset.storage", "status.storage", "config.storage"]


class MirrorMaker(Process):
    """`source` is the alias of the other cluster, which the mirrored topics carry in front of their names."""

    def __init__(self, at, source, source_bootstrap, topics, groups):
        properties = {
            "clusters": f"{source}, {HERE}",
            f"{source}.bootstrap.servers": source_bootstrap,
            f"{HERE}.bootstrap.servers": at.bootstrap,
            f"{source}->{HERE}.enabled": "true",
            f"{source}->{HERE}.topics": topics,
            f"{source}->{HERE}.groups": groups,
            f"{HERE}->{source}.enabled": "false",
            "emit.heartbeats.enabled": "false",
            # Exactly once: the records and how far they were read are one transaction, and so are the positions of groups.
            f"{HERE}.exactly.once.source.support": "enabled",
            "dedicated.mode.enable.internal.rest": "true",
            "listeners": f"http://127.0.0.1:{free_port()}",
            f"{source}.consumer.isolation.level": "read_committed",
            # Many small transactions, so that a kill comes between two.
            f"{source}.consumer.max.poll.records": str(POLL),
            "offset-syncs.topic.location": "target",
            "offset.lag.max": "0",
            "sync.group.offsets.enabled": "true",
            "replication.factor": "1",
            **{f"{topic}.replication.factor": "1" for topic in INTERNAL},
            # What it looks for now and then comes soon.
            "refresh.topics.interval.seconds": "1",
            "refresh.groups.interval.seconds": "1",
            "sync.topic.configs.interval.seconds": "1",
            "emit.checkpoints.interval.seconds": "1",
            "sync.group.offsets.interval.seconds": "1",
            # One that was killed is missed soon, and its work is given away at once.
            f"{HERE}.session.timeout.ms": "6000",
            f"{HERE}.heartbeat.interval.ms": "1000",
            f"{HERE}.scheduled.rebalance.max.delay.ms": "0",
        }
        path = at.folder / "mirror.properties"
        path.write_text("".join(f"{name} = {value}\n" for name, value in properties.items()))
        env = {**os.environ, **QUICK, "KAFKA_CLASSPATH": f"{LIB}/*"}
        super().__init__([RUN, MAIN, path], at.folder / "mirror.log", env=env)
