"""Members of a group, each a process of the client's program, so that one can be killed as a machine would be."""

import contextlib
import itertools

from client import Client
from harness import Refused

SESSION_MS = 6000
LONG_SESSION_MS = 60_000
GROUP_WAIT_S = 60
START_WAIT_S = 90
TRIES = 5

# Gives records of a fetch that was under way when the member lost the partition, to which they are then given again.
READS_ON = {"platformatic-kafka"}


class Member:
    def __init__(self, program, name, how):
        self.name = name
        self.program = program
        self.partitions, self.read, self.taken = [], [], []
        self.generation = None
        try:
            self.program.ask("join", START_WAIT_S, member=name, **how)
        except BaseException:
            self.kill()
            raise

    def look(self):
        """Takes what the member tells of itself now."""
        told = self.program.ask("member", member=self.name)
        if told.get("error"):
            raise RuntimeError(f"{self.name}: {told['error']}")
        self.partitions = sorted(told["partitions"])
        self.read = told["read"]
        self.taken = told["taken"]
        self.generation = told.get("generation")
        return self

    def values(self):
        return [value for *_, value in self.read]

    def commit(self, positions):
        self.program.ask("commit", member=self.name, positions=positions)

    def committed(self, partitions):
        return self.program.ask("committed", member=self.name, of=partitions)

    def leave(self):
        self.program.ask("leave", member=self.name)
        self.kill()

    def kill(self):
        self.program.program.kill()
        self.program.program.wait()


class Group:
    """A group and those of its members that still live. Whatever it reads is committed only by `commit_all`."""

    def __init__(self, c, name, topics, protocol, **how):
        self.c = c
        self.name = c.name(name)
        self.how = {"group": self.name, "topics": topics, "protocol": protocol, "session_ms": SESSION_MS, **how}
        self.members = []
        self.gone = []
        self.numbers = itertools.count()

    def program(self):
        """A process for a member, started and ready for it."""
        program = Client(self.c.command, self.c.prefix)
        program.ask("partitions", START_WAIT_S, topic=self.how["topics"][0])
        return program

    def join(self, program=None, **how):
        member = Member(program or self.program(), f"m{next(self.numbers)}", {**self.how, **how})
        self.members.append(member)
        return member

    def replace(self, program, instance):
        """A member in the place of an instance that left. The word of its leaving may still be on its way: the place is not
        free before the broker has it, and is asked for again."""
        for _ in range(TRIES):
            member = self.join(program, instance=instance)
            try:
                if self.c.wait_for(lambda: member.look().partitions, GROUP_WAIT_S):
                    return member
                raise TimeoutError(f"{member.name}: no partition for instance {instance}")
            except RuntimeError as refused:
                if "unreleased" not in str(refused).lower():
                    raise
                self.members.remove(member)
                member.kill()
                program = self.program()
        raise TimeoutError(f"{self.name}: instance {instance} is not released")

    def look(self):
        for member in self.members:
            member.look()

    def shares(self, total):
        """How many partitions each member has, once each of `total` has exactly one owner."""

        def settled():
            self.look()
            owned = [tuple(p) for member in self.members for p in member.partitions]
            return len(owned) == len(set(owned)) == total and all(m.partitions or total < len(self.members) for m in self.members)

        if not self.c.wait_for(settled, GROUP_WAIT_S):
            raise TimeoutError(f"{self.name}: partitions {[m.partitions for m in self.members]} of {total}")
        return sorted(len(member.partitions) for member in self.members)

    def values(self):
        return sorted(itertools.chain(self.gone, *(member.values() for member in self.members)))

    def read_each_once(self, count):
        """Whether all members together read so many records, and none of them twice."""
        values = self.values()
        if self.c.program_name in READS_ON and len(set(values)) == count:
            return "cannot: stop what it is fetching when a partition goes to another member"
        return len(values) == len(set(values)) == count

    def reads(self, count, wait_s=GROUP_WAIT_S):
        """Waits until so many different records were read by all members, those that are gone too."""

        def enough():
            self.look()
            return len(set(self.values())) >= count

        if not self.c.wait_for(enough, wait_s):
            raise TimeoutError(f"{self.name}: {len(set(self.values()))} records of {count}")

    def commit_all(self, metadata=""):
        """Each member commits what it has read of the partitions that it has."""
        for member in self.members:
            ends = {}
            for topic, partition, offset, _ in member.read:
                if [topic, partition] in member.partitions:
                    ends[topic, partition] = max(offset + 1, ends.get((topic, partition), 0))
            if ends:
                commit(self.c, member, [[*at, end, metadata] for at, end in sorted(ends.items())])

    def kill(self, member):
        member.look()
        self.end(member, member.kill)

    def leave(self, member):
        member.look()
        self.end(member, member.leave)

    def end(self, member, how):
        how()
        self.members.remove(member)
        self.gone += member.values()


def commit(c, member, positions):
    """A commit that comes into a rebalance is refused and made again, as a client's user does."""
    if not c.wait_for(lambda: member.commit(positions) is None, GROUP_WAIT_S):
        member.commit(positions)


@contextlib.contextmanager
def group(c, name, topics, protocol="classic", **how):
    made = Group(c, name, topics, protocol, **how)
    try:
        yield made
    finally:
        for member in made.members:
            member.kill()


def when_settled(c, action):
    """Runs the action until the group is no longer in the way of it."""
    refusals = []

    def tried():
        try:
            action()
            return True
        except Refused as refused:
            refusals.append(refused.code)
            return False

    return "ok" if c.wait_for(tried, GROUP_WAIT_S) else refusals[-1]
