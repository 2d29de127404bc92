"""Groups: members that share, come, leave and are killed; positions; groups as their operators see them."""

from harness import Cannot, outcome
from members import LONG_SESSION_MS, group, when_settled

PROTOCOLS = ["classic", "consumer"]


def declare(suite):
    for protocol in PROTOCOLS:
        declare_members(suite, protocol)
    declare_positions(suite)
    declare_operators(suite)


def four_partitions(c, name, each=2):
    topic = c.create(c.name(name), 4)
    more(c, topic, "first", each)
    return topic


def one_reader(g):
    """A member that has read all of four_partitions and said so."""
    member = g.join()
    g.shares(4)
    g.reads(8)
    g.commit_all()
    return member


def more(c, topic, word, each=2, partitions=4):
    for p in range(partitions):
        c.produce(topic, p, [f"{word} {p} {n}" for n in range(each)])


def declare_members(suite, protocol):
    @suite.check(f"group.{protocol}.two")
    def share(c):
        topic = four_partitions(c, f"group-share-{protocol}")
        with group(c, f"share-{protocol}", [topic], protocol) as g:
            first = g.join()
            answer = {"alone": g.shares(4)}
            g.reads(8)
            g.commit_all()
            second = g.join()
            answer["two"] = g.shares(4)
            more(c, topic, "second")
            g.reads(16)
            answer["both read"] = [len(set(m.values())) > 0 for m in (first, second)]
            g.commit_all()
            g.kill(second)
            answer["after the kill"] = g.shares(4)
            more(c, topic, "third")
            g.reads(24)
            g.commit_all()
            g.join()
            answer["one more"] = g.shares(4)
            g.leave(first)
            answer["one left"] = g.shares(4)
            more(c, topic, "fourth")
            g.reads(32)
            answer["each once"] = g.read_each_once(32)
        return answer

    @suite.check(f"group.{protocol}.static")
    def static(c):
        topic = four_partitions(c, f"group-static-{protocol}")
        with group(c, f"static-{protocol}", [topic], protocol, session_ms=LONG_SESSION_MS) as g:
            first = g.join(instance="one")
            second = g.join(instance="two")
            shares = g.shares(4)
            had, calm = second.partitions, first.taken
            next_program = g.program()
            # The new protocol holds an instance's place only for one that said that it will come back.
            (g.kill if protocol == "classic" else g.leave)(second)
            again = g.replace(next_program, "two")
            g.shares(4)
            return {"two": shares, "the same": again.partitions == had, "the other was left alone": first.taken == calm}

    @suite.check(f"group.{protocol}.incremental")
    def incremental(c):
        topic = four_partitions(c, f"group-cooperative-{protocol}")
        with group(c, f"cooperative-{protocol}", [topic], protocol, assignor="cooperative") as g:
            first = g.join()
            g.shares(4)
            g.join()
            shares = g.shares(4)
            first.look()
            kept = [p for p in first.partitions if p not in first.taken]
            return {"two": shares, "taken": len(first.taken), "kept": len(kept)}


def declare_migration(suite, moves_again):
    """Members of both protocols in one group, which goes to the new one and back with all its members."""

    def declare_live(name, assignor):
        @suite.check(f"group.migration.{name}")
        def live(c):
            if not moves_again:
                raise Cannot("join by the new protocol once more where the group went back, at Apache Kafka neither")
            topic = four_partitions(c, f"group-migrated-{name}")
            with group(c, f"migrated-{name}", [topic], assignor=assignor) as g:
                g.join()
                answer = {"classic": settled(c, g)}
                g.reads(8)
                g.commit_all()
                newcomer = g.join(protocol="consumer")
                answer["upgraded"] = settled(c, g)
                more(c, topic, "second")
                g.reads(16)
                g.commit_all()
                g.join()
                answer["one more of the old ones"] = settled(c, g)
                more(c, topic, "third")
                g.reads(24)
                g.commit_all()
                g.leave(newcomer)
                answer["downgraded"] = settled(c, g)
                more(c, topic, "fourth")
                g.reads(32)
                g.commit_all()
                again = g.join(protocol="consumer")
                answer["upgraded again"] = settled(c, g)
                more(c, topic, "fifth")
                g.reads(40)
                g.commit_all()
                g.kill(again)
                answer["downgraded after a kill"] = settled(c, g)
                more(c, topic, "sixth")
                g.reads(48)
                answer["each once"] = g.read_each_once(48)
            return answer

    declare_live("eager", "range")
    declare_live("cooperative", "cooperative")

    @suite.check("group.migration.all")
    def everybody(c):
        """One member after the other is stopped and comes back by the other protocol."""
        topic = four_partitions(c, "group-migrated-all")
        with group(c, "migrated-all", [topic]) as g:
            members = [one_reader(g), g.join()]
            answer = {"classic": settled(c, g)}
            for protocol in ["consumer", "classic"]:
                for at in range(2):
                    g.reads(8)
                    g.commit_all()
                    g.leave(members[at])
                    members[at] = g.join(protocol=protocol)
                    answer[f"{at + 1} by the {protocol} protocol"] = settled(c, g)
            more(c, topic, "second")
            g.reads(16)
            answer["each once"] = g.read_each_once(16)
        return answer

    @suite.check("group.migration.static")
    def static(c):
        topic = four_partitions(c, "group-migrated-static")
        with group(c, "migrated-static", [topic], session_ms=LONG_SESSION_MS) as g:
            g.join(instance="one")
            second = g.join(instance="two")
            answer = {"classic": settled(c, g)}
            had, next_program = second.partitions, g.program()
            g.kill(second)
            second = g.join(next_program, protocol="consumer", instance="two")
            answer["upgraded"] = settled(c, g)
            answer["in its place"] = second.partitions == had
            next_program = g.program()
            g.leave(second)
            g.join(next_program, instance="two")
            answer["downgraded"] = settled(c, g)
        return answer


def settled(c, g):
    """How the group is shared, and of which kind it is as far as the client tells."""
    shares = g.shares(4)
    return [shares, c.ask("group", group=g.name).get("kind")]


def declare_positions(suite):
    @suite.check("group.positions")
    def positions(c):
        topic = four_partitions(c, "group-positions", each=5)
        with group(c, "positions", [topic]) as g:
            first = g.join()
            g.shares(4)
            g.reads(20)
            first.commit([[topic, 0, 3, ""], [topic, 1, 5, ""]])
            told = first.committed([[topic, 0], [topic, 1], [topic, 2]])
            g.leave(first)
            again = g.join()
            g.shares(4)
            g.reads(20)
            c.wait_for(lambda: len(again.look().read) == 12)
            return {"told": told, "read again": sorted(again.values())}

    @suite.check("group.positions.metadata")
    def metadata(c):
        topic = four_partitions(c, "group-metadata")
        with group(c, "metadata", [topic]) as g:
            member = g.join()
            g.shares(4)
            member.commit([[topic, 0, 1, "what a user \u00e4dds"], [topic, 3, 2, ""]])
            return member.committed([[topic, 0], [topic, 3]])


def declare_operators(suite):
    @suite.check("group.admin.describe")
    def describe(c):
        topic = four_partitions(c, "group-described")
        with group(c, "described", [topic]) as g:
            member = g.join()
            g.shares(4)
            c.wait_for(lambda: state_of(c, g.name) == "stable")
            alive = c.ask("group", group=g.name)
            g.commit_all()
            g.leave(member)
            c.wait_for(lambda: state_of(c, g.name) == "empty")
            return {"alive": shown(alive), "empty": shown(c.ask("group", group=g.name))}

    @suite.check("group.admin.describe_unknown")
    def describe_unknown(c):
        return shown(c.ask("group", group=c.name("no-such-group")))

    @suite.check("group.admin.list")
    def listed(c):
        topic = four_partitions(c, "group-listed")
        with group(c, "listed", [topic]) as g:
            g.join()
            g.shares(4)
            c.wait_for(lambda: state_of(c, g.name) == "stable")
            return [row[1:] for row in c.ask("groups") if row[0] == g.name]

    @suite.check("group.admin.positions")
    def positions(c):
        topic = four_partitions(c, "group-moved")
        name = c.name("moved")
        moved = [[topic, 0, 1, "by hand"], [topic, 2, 2, ""]]
        try:
            c.ask("move", group=name, positions=moved)
        except Cannot as reason:
            if "metadata" not in str(reason):
                raise
            c.ask("move", group=name, positions=[[*row[:3], ""] for row in moved])
        told = positions_of(c, name, topic)
        answer = {"moved": told, "forget": outcome(lambda: c.ask("forget", group=name, of=[[topic, 0]]))}
        answer["then"] = positions_of(c, name, topic)
        with group(c, "moved", [topic]) as g:
            g.join()
            g.shares(4)
            count = len([1 for row in answer["then"] for _ in range(row[2])])
            g.reads(8 - count)
            answer["read from there"] = g.values()
        return answer

    @suite.check("group.admin.delete")
    def delete(c):
        topic = four_partitions(c, "group-deleted")
        with group(c, "deleted", [topic]) as g:
            member = one_reader(g)
            answer = {"with a member": outcome(lambda: c.ask("delete_group", group=g.name))}
            g.leave(member)
            answer["empty"] = when_settled(c, lambda: c.ask("delete_group", group=g.name))
            answer["gone"] = outcome(lambda: c.ask("delete_group", group=g.name))
        answer["listed"] = g.name in [row[0] for row in c.ask("groups")]
        return answer

    @suite.check("group.admin.refused")
    def refused(c):
        topic = four_partitions(c, "group-refused")
        with group(c, "refused", [topic]) as g:
            one_reader(g)
            return {
                "move with a member": outcome(lambda: c.ask("move", group=g.name, positions=[[topic, 0, 0, ""]])),
                "forget what is subscribed": outcome(lambda: c.ask("forget", group=g.name, of=[[topic, 0]])),
                "forget of no group": outcome(lambda: c.ask("forget", group=c.name("nobody"), of=[[topic, 0]])),
                "positions of no group": positions_of(c, c.name("nobody"), topic),
            }


def declare_exporter(suite):
    @suite.check("calls.kafka_exporter")
    def exporter(c):
        """Only sarama's program has it, of which kafka_exporter is made."""
        topic = four_partitions(c, "group-exported")
        with group(c, "exported", [topic]) as g:
            one_reader(g)
            more(c, topic, "later", each=1)
            g.reads(12)
            return c.ask("exporter", topic=topic, group=g.name)


def state_of(c, name):
    return c.ask("group", group=name)["state"].replace("_", "").lower()


def positions_of(c, name, topic, partitions=4):
    """All positions of the group. Some clients can only ask about partitions that are named."""
    return sorted(c.ask("group_positions", group=name, of=[[topic, p] for p in range(partitions)]))


def shown(told):
    """A group without what differs from run to run."""
    return {**told, "members": [{**m, "partitions": len(m["partitions"])} for m in told["members"]]}
