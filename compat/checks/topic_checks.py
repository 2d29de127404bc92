"""Topics and the cluster through the client's admin calls."""

from client import values
from harness import Cannot, outcome


def declare(suite):
    declare_creates(suite)
    declare_refusals(suite)
    declare_changes(suite)
    declare_cluster(suite)


def declare_creates(suite):
    @suite.check("admin.create")
    def create(c):
        given = {"retention.ms": "1000000", "cleanup.policy": "compact"}
        topic = c.create(c.name("made"), 4, given)
        return c.shape(topic)

    @suite.check("admin.create_defaults")
    def create_defaults(c):
        topic = c.name("defaults")
        c.create(topic, -1, replicas=-1, wait=False)
        c.wait_for(lambda: c.partitions(topic) > 0)
        return c.shape(topic)

    @suite.check("admin.create_longest_name")
    def longest(c):
        topic = c.create(c.name("x") + "x" * (249 - len(c.name("x"))))
        return len(topic)

    @suite.check("admin.create_replication_3")
    def replication_3(c):
        return outcome(lambda: c.create(c.name("three"), replicas=3))

    @suite.check("admin.create_assignment")
    def assignment(c):
        node = c.ask("cluster")["nodes"][0]

        def assigned(name, replicas):
            return outcome(lambda: c.create(c.name(name), -1, replicas=-1, assignment=replicas, wait=False))

        good = assigned("assigned", [[node], [node]])
        if good.startswith("cannot: "):
            raise Cannot(good.removeprefix("cannot: "))
        c.wait_for(lambda: c.partitions(c.name("assigned")) == 2)
        return {"good": good, "shape": c.shape(c.name("assigned")), "no_broker": assigned("away", [[999]])}

    @suite.check("admin.create_validate_only")
    def validate_only(c):
        topic = c.name("validated")
        return {
            "good": outcome(lambda: c.create(topic, validate_only=True, wait=False)),
            "bad": outcome(lambda: c.create(topic, 0, validate_only=True, wait=False)),
            "there": outcome(lambda: c.partitions(topic)),
        }


def declare_refusals(suite):
    @suite.check("admin.create_exists")
    def exists(c):
        topic = c.create(c.name("exists"))
        return {
            "same": outcome(lambda: c.create(topic)),
            "bad_replication": outcome(lambda: c.create(topic, replicas=9999)),
            "bad_partitions": outcome(lambda: c.create(topic, 0)),
            "validate_only": outcome(lambda: c.create(topic, validate_only=True)),
        }

    @suite.check("admin.create_bad_names")
    def bad_names(c):
        names = {
            "empty": "", "dot": ".", "dots": "..", "slash": "a/b", "space": "a b", "umlaut": "ä", "long": "x" * 250,
        }
        return {what: outcome(lambda: c.create(name, wait=False)) for what, name in names.items()}

    @suite.check("admin.create_colliding_name")
    def colliding(c):
        c.create(c.name("a.b"))
        return outcome(lambda: c.create(c.name("a_b")))

    @suite.check("admin.create_bad_counts")
    def bad_counts(c):
        counts = {"partitions_0": (0, 1), "partitions_-7": (-7, 1), "replication_0": (1, 0), "replication_-7": (1, -7)}
        return {
            what: outcome(lambda: c.create(c.name("none"), partitions, replicas=replicas, wait=False))
            for what, (partitions, replicas) in counts.items()
        }

    @suite.check("admin.create_bad_configs")
    def bad_configs(c):
        bad = {
            "unknown": {"no.such.config": "1"},
            "not_a_number": {"retention.ms": "soon"},
            "below_range": {"max.message.bytes": "-1"},
            "not_in_set": {"cleanup.policy": "burn"},
            "not_a_bool": {"preallocate": "perhaps"},
        }
        return {what: outcome(lambda: c.create(c.name("bad"), configs=configs, wait=False)) for what, configs in bad.items()}


def declare_changes(suite):
    @suite.check("admin.delete")
    def delete(c):
        topic = c.create(c.name("deleted"))
        c.produce(topic, 0, ["old"])
        first = outcome(lambda: c.delete(topic))
        c.wait_for(lambda: outcome(lambda: c.partitions(topic)) != "ok")
        return {"delete": first, "then": outcome(lambda: c.partitions(topic)), "again": outcome(lambda: c.delete(topic))}

    @suite.check("admin.delete_and_create_again")
    def again(c):
        topic = c.create(c.name("again"), 2)
        c.produce(topic, 0, ["old", "older"])
        c.delete(topic)
        c.wait_for(lambda: outcome(lambda: c.create(topic)) == "ok")
        c.produce(topic, 0, ["new"])
        return {"bounds": c.bounds(topic), "read": values(c.read(topic)), "shape": c.shape(topic)}

    @suite.check("admin.create_partitions")
    def create_partitions(c):
        topic = c.create(c.name("grown"), 2)
        c.produce(topic, 1, ["before"])
        c.grow(topic, 5)
        c.wait_for(lambda: c.partitions(topic) == 5)
        c.produce(topic, 4, ["after"])
        return {"shape": c.shape(topic), "read": [values(c.read(topic, p)) for p in (1, 4)]}

    @suite.check("admin.create_partitions_refused")
    def refused_partitions(c):
        topic = c.create(c.name("not-grown"), 3)
        return {
            "less": outcome(lambda: c.grow(topic, 2)),
            "same": outcome(lambda: c.grow(topic, 3)),
            "unknown": outcome(lambda: c.grow(c.name("nowhere"), 3)),
            "validate_only": outcome(lambda: c.grow(topic, 4, validate_only=True)),
            "then": c.partitions(topic),
        }


    declare_delete_records(suite)


def declare_delete_records(suite):
    @suite.check("admin.delete_records")
    def delete_records(c):
        topic = c.create(c.name("trimmed"))
        c.produce(topic, 0, [f"n{n}" for n in range(10)], batch_of=3)
        seen = []
        for before in (4, 2, 8, -1):
            seen.append([c.delete_records(topic, before), c.bounds(topic), values(c.read(topic))])
        c.produce(topic, 0, ["later"])
        return {"steps": seen, "later": [c.bounds(topic), values(c.read(topic))]}

    @suite.check("admin.delete_records.refused")
    def refused(c):
        topic = c.create(c.name("not-trimmed"))
        c.produce(topic, 0, ["a", "b"])
        return {
            "beyond_the_end": outcome(lambda: c.delete_records(topic, 3)),
            "negative": outcome(lambda: c.delete_records(topic, -5)),
            "then": c.bounds(topic),
        }

    @suite.check("admin.log_dirs")
    def log_dirs(c):
        topic = c.create(c.name("sized"), 2)
        c.wait_for(lambda: len(c.ask("log_dirs", topic=topic)) == 2)
        empty = c.ask("log_dirs", topic=topic)
        c.produce(topic, 0, ["x" * 10_000], codec="none")
        full = c.ask("log_dirs", topic=topic)
        return {"empty": empty, "grown": [size >= 10_000 for size in sorted(full)]}


def declare_cluster(suite):
    @suite.check("admin.describe_unknown")
    def describe_unknown(c):
        return outcome(lambda: c.shape(c.name("nowhere")))

    @suite.check("admin.list_topics")
    def list_topics(c):
        for topic in ("listed-1", "listed-2"):
            c.create(c.name(topic))
        return sorted(t for t in c.ask("topics") if t.startswith(c.name("listed")))

    @suite.check("admin.describe_cluster")
    def describe_cluster(c):
        found = c.ask("cluster")
        controller = found["controller"] in found["nodes"] if found["controller"] is not None else "cannot: tell the controller"
        cluster_id = found["id"] if found["id"] is not None else "cannot: tell the cluster's id"
        return {"nodes": len(found["nodes"]), "controller_is_a_node": controller, "id": cluster_id, "host": found["host"]}
