"""Requests that most clients send by themselves, where the client lets them be seen."""

from fetch_checks import filled

# Requests of producers, assign consumers and admins.
NEEDED = [0, 1, 2, 3, 10, 18, 19, 20, 22, 23, 32, 33, 37, 44, 60, 75]


def declare(suite):
    @suite.check("wire.api_versions")
    def api_versions(c):
        found = c.ask("api_versions")
        return {key: found[str(key)][0] for key in NEEDED if str(key) in found}

    @suite.check("wire.find_coordinator")
    def find_coordinator(c):
        # Kafka makes the groups' topic on the first request, and refuses until it is there.
        return c.wait_for(lambda: c.ask("coordinator", group="any-group") >= 0)

    @suite.check("wire.leader_epoch")
    def leader_epoch(c):
        return c.ask("leader_epoch", topic=filled(c), partition=0, epoch=0)

    @suite.check("wire.init_producer_id")
    def init_producer_id(c):
        # Kafka refuses the first until it has a block of ids.
        c.wait_for(lambda: c.ask("producer_id"))
        first, second = c.ask("producer_id"), c.ask("producer_id")
        return {"epoch": first[1], "ids_differ": first[0] != second[0]}

    @suite.check("wire.topic_ids")
    def topic_ids(c):
        one, again = c.ask("topic_id", topic=filled(c)), c.ask("topic_id", topic=filled(c))
        return {"given": bool(one.replace("0", "").replace("-", "")), "stable": one == again}
