"""checks.py BOOTSTRAP SUITE PREFIX [PART OF A NAME]: kcat by the commands that a user types, one JSON line a check."""

import json
import re
import subprocess
import sys
import time
import traceback

CHECKS = {suite: [] for suite in ("kafka", "feed", "groups", "feed-groups", "restart")}


def check(name, suite="kafka"):
    def declare(function):
        CHECKS[suite].append((name, function))
        return function

    return declare


class Kcat:
    def __init__(self, bootstrap, prefix):
        self.bootstrap = bootstrap
        self.prefix = prefix

    def name(self, topic):
        return f"{self.prefix}-{topic}"

    def run(self, *words, lines=None, wait_s=20):
        """Standard output of `kcat -b BOOTSTRAP words`, which must succeed."""
        done = self.tried(*words, lines=lines, wait_s=wait_s)
        if done.returncode != 0:
            raise RuntimeError(f"kcat {' '.join(words)}: exit {done.returncode}: {done.stderr.strip()}")
        return done.stdout

    def tried(self, *words, lines=None, wait_s=20):
        text = None if lines is None else "\n".join(lines) + "\n"
        command = ["kcat", "-b", self.bootstrap, *words]
        return subprocess.run(command, input=text or "", capture_output=True, text=True, timeout=wait_s)

    def produce(self, topic, lines, *words):
        self.run("-P", "-t", topic, "-p", "0", *words, lines=lines)

    def consume(self, topic, *words, show="%o %k=%s\\n"):
        """Every record of partition 0, from the beginning to the end (-e)."""
        return self.run("-C", "-q", "-e", "-t", topic, "-p", "0", "-o", "beginning", "-f", show, *words).splitlines()

    def ends(self, topic):
        """Earliest and latest offset."""
        return [int(self.run("-Q", "-t", f"{topic}:0:{time}").split()[-1]) for time in (-2, -1)]

    def metadata(self, topic):
        """How many partitions -L tells, or the error."""
        (found,) = json.loads(self.run("-L", "-J", "-t", topic, "-X", "allow.auto.create.topics=false"))["topics"]
        return found.get("error") or len(found["partitions"])

    def refusal(self, *words, lines=None):
        """The broker's words in the error with which kcat ends."""
        done = self.tried(*words, lines=lines)
        return re.findall(r"Broker: [\w ]+", done.stderr)[:1] or f"exit {done.returncode}: {done.stderr.strip()}"


@check("kcat.produce_and_consume")
def produce_and_consume(k):
    topic = k.name("plain")
    k.produce(topic, ["a:1", "b:2", ":3"], "-K:")
    return k.consume(topic)


for codec in ["gzip", "snappy", "lz4", "zstd"]:

    @check(f"kcat.codec.{codec}")
    def compressed(k, codec=codec):
        topic = k.name(f"codec-{codec}")
        k.produce(topic, [f"{n} " + "compressible " * 30 for n in range(50)], "-z", codec)
        return [len(k.consume(topic)), k.consume(topic)[49][:30]]


@check("kcat.headers")
def headers(k):
    topic = k.name("headers")
    k.produce(topic, ["v"], "-H", "a=1", "-H", "a=2", "-H", "none", "-H", "empty=")
    return k.consume(topic, show="%h|%s\\n")


@check("kcat.null_values")
def null_values(k):
    topic = k.name("nulls")
    k.produce(topic, ["k:"], "-K:", "-Z")
    return k.consume(topic, show="%k %S\\n")


@check("kcat.idempotent")
def idempotent(k):
    topic = k.name("idempotent")
    k.produce(topic, [str(n) for n in range(1000)], "-X", "enable.idempotence=true")
    return [len(k.consume(topic)), k.ends(topic)]


@check("kcat.json_envelope")
def envelope(k):
    found = [json.loads(line) for line in k.run("-C", "-q", "-e", "-J", "-t", k.name("plain"), "-o", "beginning").splitlines()]
    return [[f["partition"], f["offset"], f["tstype"], f["key"], f["payload"]] for f in found]


@check("kcat.last_two")
def last_two(k):
    return k.run("-C", "-q", "-e", "-t", k.name("plain"), "-p", "0", "-o", "-2", "-f", "%s ")


@check("kcat.exact_count")
def exact_count(k):
    return k.run("-C", "-q", "-c", "2", "-t", k.name("plain"), "-p", "0", "-o", "1", "-f", "%o ")


@check("kcat.query_offsets")
def query(k):
    later = int(time.time() * 1000) + 3_600_000
    at = [k.run("-Q", "-t", f"{k.name('plain')}:0:{t}").split()[-1] for t in (0, later)]
    return {"ends": k.ends(k.name("plain")), "at_0_and_later": at}


@check("kcat.metadata")
def metadata(k):
    all_topics = json.loads(k.run("-L", "-J"))
    mine = [t for t in all_topics["topics"] if t["topic"] == k.name("plain")]
    shape = [[p["partition"], len(p["replicas"]), len(p["isrs"]), p["leader"] >= 0] for p in mine[0]["partitions"]]
    controller = all_topics["controllerid"] in [b["id"] for b in all_topics["brokers"]]
    return {"brokers": len(all_topics["brokers"]), "controller": controller, "shape": shape}


@check("kcat.unknown_topic")
def unknown(k):
    return k.metadata(k.name("nowhere"))


def story(k):
    """Commit 0: two records; commit 1: empty; commit 2: one record, sealed by its header; then one that is not sealed."""
    topic = k.name("story")
    if k.metadata(topic) == 1:
        return topic
    k.produce(topic, ["k:a", "k:b"], "-K:")
    k.produce(f"{topic}..seal", ['first:{"poll": 1}'], "-K:")
    k.produce(f"{topic}..seal", ["nothing:{}"], "-K:")
    k.produce(topic, ["k:c"], "-K:", "-H", "streamstack-stream=third", "-H", "streamstack-seal=")
    k.produce(topic, ["k:open"], "-K:")
    return topic


for view in ["commit-0", "commit-1", "commit-2", "commits-0-2", "upto-1", "stream-0", "stream-2", "named-first", "named-third"]:

    @check(f"feed.kcat.{view}", "feed")
    def read_view(k, view=view):
        return k.consume(f"{story(k)}..{view}")


@check("feed.kcat.feed", "feed")
def feed(k):
    # The open record may be sealed by time meanwhile: only the three sealed by hand are asked for.
    return k.run("-C", "-q", "-c", "3", "-t", f"{story(k)}..feed", "-p", "0", "-o", "beginning", "-f", "%o %k=%s ")


@check("feed.kcat.since", "feed")
def since(k):
    return k.run("-C", "-q", "-c", "1", "-t", f"{story(k)}..since-1", "-p", "0", "-o", "beginning", "-f", "%o %k=%s ")


@check("feed.kcat.commits", "feed")
def commits(k):
    found = k.consume(f"{story(k)}..commits", show="%o %k %s\\n")[:3]
    shown = []
    for line in found:
        offset, stream, manifest = line.split(" ", 2)
        manifest = json.loads(manifest)
        shown.append([offset, stream, manifest["label"], manifest["reason"], manifest["records"], manifest["metadata"]])
    return shown


@check("feed.kcat.waits", "feed")
def waits(k):
    return k.metadata(f"{story(k)}..commit-99")


@check("feed.kcat.unknown_feed", "feed")
def unknown_feed(k):
    return k.metadata(k.name("nosuch") + "..feed")


@check("feed.kcat.malformed", "feed")
def malformed(k):
    return k.metadata(f"{story(k)}..commit-x")


@check("feed.kcat.produce_refused", "feed")
def produce_refused(k):
    return k.refusal("-P", "-t", f"{story(k)}..feed", "-p", "0", lines=["v"])


@check("feed.kcat.hidden", "feed")
def hidden(k):
    return [t["topic"] for t in json.loads(k.run("-L", "-J"))["topics"] if ".." in t["topic"]]


def in_group(k, group, topic):
    """What the group has not read yet, to the end; its positions are committed when kcat ends."""
    found = k.run("-G", k.name(group), "-q", "-e", "-X", "auto.offset.reset=earliest", "-f", "%o %s\\n", topic, wait_s=40)
    return sorted(found.splitlines())


@check("kcat.group", "groups")
def group(k):
    topic = k.name("grouped")
    k.produce(topic, ["a", "b", "c"])
    first = [in_group(k, "readers", topic), in_group(k, "readers", topic)]
    k.produce(topic, ["d"])
    return {"first": first, "then": in_group(k, "readers", topic), "another group": in_group(k, "others", topic)}


@check("feed.kcat.group", "feed-groups")
def group_on_a_feed(k):
    topic = k.name("grouped-feed")
    k.produce(topic, ["a", "b"])
    k.produce(f"{topic}..seal", ["first:{}"], "-K:")
    first = [in_group(k, "feed", f"{topic}..feed"), in_group(k, "feed", f"{topic}..feed")]
    k.produce(topic, ["c"])
    k.produce(f"{topic}..seal", ["second:{}"], "-K:")
    return {"first": first, "then": in_group(k, "feed", f"{topic}..feed"), "commits": len(in_group(k, "commits", f"{topic}..commits"))}


def main():
    bootstrap, suite, prefix = sys.argv[1:4]
    only = sys.argv[4] if len(sys.argv) > 4 else ""
    kcat = Kcat(bootstrap, prefix)
    for name, function in CHECKS.get(suite, []):
        if only in name:
            print(json.dumps({"check": name, "answer": answer(function, kcat)}), flush=True)


def answer(function, kcat):
    try:
        return function(kcat)
    except Exception as error:
        traceback.print_exc(file=sys.stderr)
        return {"crash": f"{type(error).__name__}: {error}"}


main()
