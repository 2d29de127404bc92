"""What Streams writes is a feed like any other: each of its commits is one commit, on every feed that it writes; and it can read a view."""

from counting import Counting, by_key
from instance import instances
from suite import wait_until
from topics import Reader, create, manifests, partitions_of, read_all, seal, values, write

ROUNDS = 20
BY_HAND = {"streamstack.seal.ms": "86400000"}
KEYS, CHANGED = 50, 10


def commits(at):
    """The output and the changelog of a count come from the same transactions, record for record."""
    with Counting(at) as counting:
        instance = counting.start()
        for _ in range(ROUNDS):
            counting.round()
            # So that there are as many commits at least.
            counting.wait_for_all(instance.must_live)
        instance.stop()
        answer = counting.answer()
    changelog = f"{counting.application}-counts-changelog"
    outputs, changes = (manifests(at.bootstrap, feed) for feed in (at.name("counts"), changelog))
    by_number = {manifest["commit"]: manifest for manifest in changes}
    pairs = [(manifest, by_number.get(sibling(manifest, changelog))) for manifest in outputs]
    return {
        **answer,
        "at least one a round": len(outputs) >= ROUNDS,
        "numbers are dense": [m["commit"] for m in outputs] == list(range(len(outputs))),
        "kinds": sorted({m["kind"] for m in outputs}),
        "all of this application": all(m["transaction"]["transactional_id"].startswith(counting.application) for m in outputs),
        "records are those that are read": sum(m["records"] for m in outputs) == len(read_all(at.bootstrap, f"{at.name('counts')}..feed")),
        "each has its changelog's as sibling": all(change is not None for _, change in pairs),
        "with as many records": all(change is not None and change["records"] == m["records"] for m, change in pairs),
        "of the same transaction": all(change is not None and change["transaction"] == m["transaction"] for m, change in pairs),
    }


def sibling(manifest, feed):
    return next((row["commit"] for row in manifest["siblings"] if row["feed"] == feed), None)


def view_as_source(at):
    """An application that reads a feed's sealed records sees each once they are sealed, and goes on where it was."""
    feed = at.name("orders")
    create(at.bootstrap, feed, 1, **BY_HAND)
    create(at.bootstrap, at.name("copies"))
    answer = {}
    with Reader(at.bootstrap, at.name("copies")) as reader:
        for batch in ("first", "second"):
            write(at.bootstrap, feed, [("key", f"{batch} {n}") for n in range(5)])
            seal(at.bootstrap, feed, batch)
            write(at.bootstrap, feed, [("key", f"{batch} not sealed yet")])
            with instances() as begin:
                instance = begin(at, at.name("copying"), "copy").wait_until_it_runs()
                last = f"copy of {batch} 4"
                reader.until(f"'{last}'", lambda rows, last=last: last in values(rows), instance.must_live)
                instance.stop()
            answer[batch] = values(reader.to_end())
    answer["commits"] = sorted({m["kind"] for m in manifests(at.bootstrap, at.name("copies"))})
    return answer


def latest_as_tables(at):
    """A table and a global table by names of what was written last for each key: whole at the first start, and after one in the same
    folder; what is committed meanwhile comes to both, and what is not does not."""
    feed = at.name("orders")
    create(at.bootstrap, feed, 2, **BY_HAND)
    for name in ("state", "everywhere"):
        create(at.bootstrap, at.name(name), 2, **{"streamstack.view": f"{feed}..latest"})
        partitions_of(at.bootstrap, at.name(name))
    for name in ("questions", "answers", "changes"):
        create(at.bootstrap, at.name(name), 2)
    answer = {}
    for start in ("first", "again"):
        for what in (f"{start}, hidden", start):
            commit(at, feed, {f"key{n}": f"{what} {n}" for n in range(KEYS)})
        expected = {f"key{n}": f"{start} {n}" for n in range(KEYS)}
        with instances() as begin:
            instance = begin(at, at.name("tabling"), "tables", "kept").wait_until_it_runs()
            answer[f"{start}: whole"] = becomes(at, expected, instance)
            later = {f"key{n}": f"{start}, later {n}" for n in range(CHANGED)}
            commit(at, feed, later)
            write(at.bootstrap, feed, [("key0", "not sealed")])
            answer[f"{start}: follows"] = becomes(at, expected | later, instance)
            instance.stop()
    changes = values(read_all(at.bootstrap, at.name("changes")))
    answer["only what is the latest"] = not any("hidden" in value or value == "not sealed" for value in changes)
    return answer


def commit(at, feed, records):
    write(at.bootstrap, feed, list(records.items()))
    seal(at.bootstrap, feed, "by hand")


def becomes(at, expected, instance):
    """Asks for all keys until both tables say what is expected: they follow, each at its pace."""
    told = {key: f"what: {value}, {value}" for key, value in expected.items()}

    def said():
        instance.must_live()
        write(at.bootstrap, at.name("questions"), [(key, "what") for key in expected])
        return {key: found[-1] for key, found in by_key(read_all(at.bootstrap, at.name("answers"))).items()}

    wait_until("both tables say what was written last", lambda: said() == told)
    return True
