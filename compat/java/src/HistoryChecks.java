import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;

/** ..commits, ..streams, offsets by time on views, and the broker's own cuts. */
final class HistoryChecks {
    private HistoryChecks() {}

    static void declare(Checks suite) {
        suite.check("feed.history.commits", c -> c.read(Story.feed(c) + "..commits", 0).stream()
            .map(record -> List.of(record.offset(), Client.text(record.key()))).toList());
        suite.check("feed.history.manifests", c -> {
            var found = new ArrayList<Object>();
            for (var manifest : Story.manifests(c, Story.feed(c))) {
                var shown = new LinkedHashMap<String, Object>();
                for (var key : List.of("commit", "stream", "label", "kind", "reason", "records", "metadata")) {
                    shown.put(key, manifest.get(key));
                }
                found.add(shown);
            }
            return found;
        });
        suite.check("feed.history.manifests_count_what_is_read", c -> {
            var topic = Story.feed(c);
            var told = new ArrayList<Object>();
            var read = new ArrayList<Object>();
            for (var manifest : Story.manifests(c, topic)) {
                var counts = new long[2];
                manifest.get("partitions").forEach(p -> counts[p.get("partition").asInt()] = p.get("count").asLong());
                told.add(counts);
                var view = topic + "..commit-" + manifest.get("commit");
                read.add(List.of(c.read(view, 0).size(), c.read(view, 1).size()));
            }
            return Map.of("told", told, "read", read);
        });
        suite.check("feed.history.seal_times_rise", c -> {
            var times = Story.sealTimes(c, Story.feed(c));
            var told = Story.manifests(c, Story.feed(c)).stream().map(manifest -> manifest.get("sealed").asLong()).toList();
            var sorted = new ArrayList<>(times);
            Collections.sort(sorted);
            var now = System.currentTimeMillis();
            return Map.of("rising", sorted.equals(times), "manifest", told.equals(times),
                "now", times.stream().allMatch(t -> Math.abs(now - t) < 600_000));
        });
        suite.check("feed.history.streams", c -> c.read(Story.feed(c) + "..streams", 0).stream().map(r -> Client.text(r.key())).toList());
        suite.check("feed.history.for_times", c -> {
            var topic = Story.feed(c);
            return Map.of("feed", List.of(firsts(c, topic, "feed", 0, 0), firsts(c, topic, "feed", 1, 0)),
                "commits", firsts(c, topic, "commits", 0, 0), "since-1", firsts(c, topic, "since-1", 0, 0).get(0));
        });
        suite.check("feed.history.for_times_tell_the_seal_time", c -> {
            var topic = Story.feed(c);
            var times = Story.sealTimes(c, topic);
            var told = firsts(c, topic, "feed", 0, 1);
            return List.of(told.get(0).equals(times.get(0)), told.get(2).equals(times.get(1)));
        });
        suite.check("feed.history.seal_topic_is_empty", c -> Client.values(c.read(Story.feed(c) + "..seal", 0)));
        declareCuts(suite);
    }

    /** For time 0, each seal time and one later: the offset found (what 0) or its time (what 1), or -1. */
    private static List<Long> firsts(Client c, String topic, String view, int partition, int what) {
        var at = new TopicPartition(topic + ".." + view, partition);
        var times = new ArrayList<>(List.of(0L));
        times.addAll(Story.sealTimes(c, topic));
        times.add(times.get(times.size() - 1) + 1);
        var found = new ArrayList<Long>();
        try (var consumer = c.consumer(Map.of())) {
            for (var time : times) {
                var answer = consumer.offsetsForTimes(Map.of(at, time)).get(at);
                found.add(answer == null ? -1 : what == 0 ? answer.offset() : answer.timestamp());
            }
        }
        return found;
    }

    private static void declareCuts(Checks suite) {
        suite.check("feed.cut.records", c -> {
            var topic = c.create(c.name("cut-records"), 1, "streamstack.seal.ms", "86400000", "streamstack.seal.records", "5");
            c.produce(topic, 0, Collections.nCopies(12, Client.recs("v")), Map.of());
            return cut(c, topic, 2);
        });
        suite.check("feed.cut.bytes", c -> {
            var topic = c.create(c.name("cut-bytes"), 1, "streamstack.seal.ms", "86400000", "streamstack.seal.bytes", "1000");
            c.produce(topic, 0, Collections.nCopies(7, Client.recs("x".repeat(400))), Map.of());
            return cut(c, topic, 2);
        });
        suite.check("feed.cut.time", c -> {
            var topic = c.create(c.name("cut-time"), 1, "streamstack.seal.ms", "300");
            c.produce(topic, 0, Client.recs("a", "b", "c"));
            var first = cut(c, topic, 1);
            Thread.sleep(1000);
            return Map.of("first", first, "no_empty_commit", Story.manifests(c, topic).size());
        });
    }

    private static Object cut(Client c, String topic, long commits) throws Exception {
        Checks.waitFor(Client.WAIT_S, () -> c.bounds(topic + "..commits", 0).end() >= commits);
        var found = Story.manifests(c, topic).stream().map(m -> List.of(m.get("reason"), m.get("records"))).toList();
        return Map.of("commits", found, "feed", c.bounds(topic + "..feed", 0).list());
    }
}
