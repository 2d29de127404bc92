"""What Streams writes is a feed like any other: each of its commits is one commit, on every feed that it writes; and it can read a view."""

from counting import Counting
from instance import instances
from topics import Reader, create, manifests, read_all, seal, values, write

ROUNDS = 20
BY_HAND = {"streamstack.seal.ms": "86400000"}


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
