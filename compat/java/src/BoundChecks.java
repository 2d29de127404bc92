import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.clients.admin.CreateTopicsOptions;
import org.apache.kafka.clients.admin.ListTopicsOptions;
import org.apache.kafka.common.Uuid;

/** Bounded names before, at and after their seal, names that follow, and what no view may be asked for. */
final class BoundChecks {
    private static final List<String> MALFORMED = List.of(
        "bogus", "commit-", "commit-x", "commit-01", "commits-3-1", "commits-1", "since-", "upto-x", "stream-x",
        "sealed-20260101T0900Z", "sealed-20260101T1000Z-20260101T0900Z", "hour-20260101", "day-20261301", "named-",
        "feed..best", "live", "stream-0..latest", "commits..dedup");

    private BoundChecks() {}

    static void declare(Checks suite) {
        suite.check("feed.bounded.before_waits",
            c -> each(c, List.of("commit-9", "commits-3-9", "upto-9", "since-9", "stream-9", "named-nobody")));
        suite.check("feed.bounded.at_and_after", c -> {
            var topic = c.create(c.name("bounded"), 1, Story.BY_HAND);
            var view = topic + "..commit-0";
            c.produce(topic, 0, Client.recs("a", "b", "c"));
            var before = c.partitionsOutcome(view);
            var at = CompletableFuture.supplyAsync(() -> waitAndRead(c, view));
            Thread.sleep(500);
            Story.seal(c, topic, "now", null);
            var found = at.get();
            Story.sealedBatch(c, topic, "d");
            return Map.of("before", before, "at", found, "after", Story.content(c, view, 1));
        });
        suite.check("feed.bounded.a_waiting_reader_gets_it_whole", c -> {
            var topic = c.create(c.name("patient"), 1, Story.BY_HAND);
            var found = CompletableFuture.supplyAsync(() -> c.readSome(topic + "..upto-1", 0, 0, 5, Map.of()));
            Story.sealedBatch(c, topic, "a", "b");
            Story.sealedBatch(c, topic, "c", "d", "e");
            return Client.values(found.get());
        });
        suite.check("feed.follow", c -> {
            var topic = c.create(c.name("followed"), 1, Story.BY_HAND);
            var found = CompletableFuture.supplyAsync(() -> c.readSome(topic + "..feed", 0, 0, 3, Map.of()));
            Story.sealedBatch(c, topic, "a");
            Story.sealedBatch(c, topic, "b", "c");
            return Client.values(found.get());
        });
        declareRefusals(suite);
        declareDescriptions(suite);
    }

    private static List<Object> waitAndRead(Client c, String view) {
        try {
            Checks.waitFor(Client.WAIT_S, () -> c.partitions(view) == 1);
            return Story.content(c, view, 1);
        } catch (Exception error) {
            throw new IllegalStateException(error);
        }
    }

    private static Object each(Client c, List<String> names) throws Exception {
        var topic = Story.feed(c);
        var found = new LinkedHashMap<String, String>();
        names.forEach(name -> found.put(name, c.partitionsOutcome(topic + ".." + name)));
        return found;
    }

    private static void declareRefusals(Checks suite) {
        suite.check("feed.refused.unknown_feed", c -> c.partitionsOutcome(c.name("nosuch") + "..feed"));
        suite.check("feed.refused.malformed", c -> each(c, MALFORMED));
        suite.check("feed.refused.writes", c -> {
            var view = Story.feed(c) + "..feed";
            var begin = System.nanoTime();
            var found = new HashMap<String, Object>();
            found.put("produce", Checks.outcome(() -> c.produce(view, 0, Client.recs("v"))));
            found.put("produce_to_commits", Checks.outcome(() -> c.produce(Story.feed(c) + "..commits", 0, Client.recs("v"))));
            found.put("create", Checks.outcome(() -> c.tryCreate(view, 1, 1, new CreateTopicsOptions())));
            found.put("create_unknown", Checks.outcome(() -> c.tryCreate(c.name("fresh") + "..feed", 1, 1, new CreateTopicsOptions())));
            found.put("create_partitions", Checks.outcome(() -> c.grow(view, 9)));
            found.put("alter_configs", ConfigChecks.altering(c, view, false, ConfigChecks.set("retention.ms", "1")));
            found.put("delete", Checks.outcome(() -> c.delete(view)));
            found.put("without_retry", System.nanoTime() - begin < 10_000_000_000L);
            return found;
        });
        suite.check("feed.refused.with_a_message", c -> {
            try {
                c.tryCreate(c.name("fresh") + "..feed", 1, 1, new CreateTopicsOptions());
                return "created";
            } catch (Exception error) {
                // Errors without a message of the broker's show the code's own.
                var own = org.apache.kafka.common.protocol.Errors.INVALID_TOPIC_EXCEPTION.message();
                return !Checks.cause(error).getMessage().equals(own);
            }
        });
    }

    private static void declareDescriptions(Checks suite) {
        suite.check("feed.hidden_from_all_topics", c -> {
            Story.feed(c);
            var names = new ArrayList<>(c.admin.listTopics(new ListTopicsOptions().listInternal(true)).names().get());
            names.removeIf(name -> !name.contains(".."));
            return names;
        });
        suite.check("feed.described", c -> {
            var found = new HashMap<String, Object>();
            for (var name : List.of("feed", "commit-0", "commits", "streams", "seal")) {
                found.put(name, c.partitions(Story.feed(c) + ".." + name));
            }
            return found;
        });
        suite.check("feed.topic_ids", c -> {
            var one = c.describe(Story.feed(c) + "..feed").topicId();
            var again = c.describe(Story.feed(c) + "..feed").topicId();
            var others = List.of(c.describe(Story.feed(c)).topicId(), c.describe(Story.feed(c) + "..commit-0").topicId());
            return Map.of("given", !one.equals(Uuid.ZERO_UUID), "stable", one.equals(again), "differ", !others.contains(one));
        });
        suite.check("feed.deleted", c -> {
            var topic = c.create(c.name("gone"), 1, Story.BY_HAND);
            Story.sealedBatch(c, topic, "v");
            var before = Story.content(c, topic + "..commit-0", 1);
            c.delete(topic);
            return Map.of("before", before, "after", c.partitionsOutcome(topic + "..commit-0"));
        });
    }
}
