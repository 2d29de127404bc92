"""checks.py BOOTSTRAP SUITE PREFIX [PART OF A NAME]: Kafka Streams against a broker, one JSON line a check."""

from counting import Counting, Feeder
from feeds import commits, latest_as_tables, view_as_source
from instance import instances
from ready import Ready
from suite import run, wait_until
from topics import Reader, admin, configs, create, flush, num_partitions, producer, values, write

CHANGELOG = ["cleanup.policy", "message.timestamp.type", "min.compaction.lag.ms", "retention.ms"]
REPARTITION = ["cleanup.policy", "message.timestamp.type", "retention.ms", "segment.bytes"]


def killed(at):
    """One of two instances is killed at work; another one takes its place."""
    with Counting(at) as counting:
        return one_replaced(counting, lambda: None)


def restarted(at):
    """One of two instances and the broker are killed; another one takes its place."""
    with Ready(at.program_name, "transaction") as ready, Counting(at) as counting:
        return one_replaced(counting, ready.wait_for_the_restart)


def one_replaced(counting, meanwhile):
    first, second = counting.start(), counting.start()
    counting.round()
    counting.wait_for_all()
    with Feeder(counting):
        counting.wait_for_more()
        first.kill()
        meanwhile()
        third = counting.start()
        third.wait_until_it_runs()
        counting.wait_for_more(third.must_live)
    counting.wait_for_all(second.must_live)
    second.stop()
    third.stop()
    return counting.answer()


def global_table(at):
    """A global table is whole before anything is joined with it: at the first start, and after one in the same folder."""
    topics = {"names": {"cleanup.policy": "compact"}, "orders": {}, "named": {}}
    for topic, config in topics.items():
        create(at.bootstrap, at.name(topic), 2, **config)
    answer = {}
    for start in ("first", "again"):
        names = [(f"id{n}", f"{start} {n}") for n in range(500)]
        in_transaction(at, names, ends="abort_transaction")
        in_transaction(at, names, ends="commit_transaction")
        write(at.bootstrap, at.name("orders"), [(key, f"{start} order") for key, _ in names])
        with instances() as begin, Reader(at.bootstrap, at.name("named")) as reader:
            instance = begin(at, at.name("naming"), "names", "kept")
            instance.wait_until_it_runs()
            count = len(names) * (1 if start == "first" else 2)
            reader.until("each order named", lambda rows: len(rows) >= count, instance.must_live)
            instance.stop()
            found = sorted(value for value in values(reader.to_end()) if value.startswith(start))
        answer[start] = found == sorted(f"{start} order of {name}" for _, name in names)
    return answer


def in_transaction(at, records, ends):
    """What is aborted has other values, so that it would show."""
    sender = producer(at.bootstrap, **{"transactional.id": at.name("names")})
    sender.init_transactions(60)
    sender.begin_transaction()
    for key, value in records:
        sender.produce(at.name("names"), value if ends == "commit_transaction" else "aborted", key)
    flush(sender)
    getattr(sender, ends)(60)


def internal_topics(at):
    """What Streams makes for its stores, and with which configs; and what it has read of a repartition topic is purged."""
    create(at.bootstrap, at.name("lines"), 3)
    application = at.name("storing")
    with instances() as begin:
        instance = begin(at, application, "stores").wait_until_it_runs()
        made = sorted(name for name in admin(at.bootstrap).list_topics(timeout=60).topics if name.startswith(f"{application}-"))
        write(at.bootstrap, at.name("lines"), [(f"key{n}", f"word{n % 7}") for n in range(200)])
        repartitions = [name for name in made if name.endswith("-repartition")]
        wait_until("what was read is purged", lambda: instance.must_live() or all(purged(at, name) for name in repartitions))
        instance.stop()
    return {name.removeprefix(application): shown(at, name) for name in made}


def shown(at, name):
    names = CHANGELOG if name.endswith("-changelog") else REPARTITION
    return {"partitions": num_partitions(at.bootstrap, name), **configs(at.bootstrap, name, names)}


def purged(at, topic):
    with Reader(at.bootstrap, topic) as reader:
        bounds = [reader.consumer.get_watermark_offsets(part) for part in reader.consumer.assignment()]
    return sum(low for low, _ in bounds) > 0


run({
    "kafka": {
        "streams.killed_instance": killed,
        "streams.global_table": global_table,
        "streams.internal_topics": internal_topics,
    },
    "feed": {
        "feed.streams.commits": commits,
        "feed.streams.view_as_source": view_as_source,
        "feed.streams.latest_as_tables": latest_as_tables,
    },
    "transactions-restart": {"restart.streams": restarted},
})
