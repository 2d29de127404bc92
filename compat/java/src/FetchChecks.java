import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.common.TopicPartition;

/** Reading by assign to the end, and offsets by time. */
final class FetchChecks {
    private FetchChecks() {}

    /** A topic of 3 partitions with 100 records each, in batches of 10. */
    private static String filled(Client c) throws Exception {
        var topic = c.name("filled");
        if (!c.partitionsOutcome(topic).equals("ok")) {
            c.create(topic, 3);
            for (int p = 0; p < 3; p++) {
                var batches = new ArrayList<List<Client.Rec>>();
                for (int n = 0; n < 10; n++) {
                    batches.add(Client.numbered("p" + p + "n" + n, 10));
                }
                c.produce(topic, p, batches, Map.of());
            }
        }
        return topic;
    }

    private static String timed(Client c) throws Exception {
        var topic = c.name("timed");
        if (!c.partitionsOutcome(topic).equals("ok")) {
            c.create(topic, 1, "message.timestamp.before.max.ms", ProduceChecks.ANY_TIME);
            var batches = List.of(1000L, 2000L, 4000L, 3000L).stream().map(t -> List.of(Client.Rec.at(t))).toList();
            c.produce(topic, 0, batches, Map.of());
        }
        return topic;
    }

    static void declare(Checks suite) {
        suite.check("fetch.to_end", c -> {
            var found = new ArrayList<Object>();
            for (int p = 0; p < 3; p++) {
                found.add(List.of(c.bounds(filled(c), p).list(), Client.digest(c.read(filled(c), p))));
            }
            return found;
        });
        suite.check("fetch.middle_of_a_batch", c -> Client.values(c.readFrom(filled(c), 0, 57, Map.of())).subList(0, 5));
        suite.check("fetch.empty", c -> {
            var topic = c.create(c.name("empty"), 1);
            return Map.of("bounds", c.bounds(topic, 0).list(), "read", Client.values(c.read(topic, 0)));
        });
        suite.check("fetch.out_of_range", c -> {
            var topic = filled(c);
            var none = Checks.outcome(() -> c.readSome(topic, 0, 1000, 1, Map.of()));
            var earliest = c.readSome(topic, 0, 1000, 1, Map.of("auto.offset.reset", "earliest"));
            return Map.of("none", none, "earliest", Client.values(earliest));
        });
        suite.check("fetch.one_byte", c -> {
            var small = Map.of("max.partition.fetch.bytes", "1", "fetch.max.bytes", "1");
            return Client.digest(c.read(filled(c), 1, small));
        });
        suite.check("fetch.read_committed", c -> Client.digest(c.read(filled(c), 2, Client.COMMITTED)));
        suite.check("fetch.waits", c -> {
            var topic = c.create(c.name("waits"), 1);
            var found = CompletableFuture.supplyAsync(() -> c.readSome(topic, 0, 0, 1, Map.of("fetch.max.wait.ms", "5000")));
            Thread.sleep(1000);
            c.produce(topic, 0, Client.recs("late"));
            return Client.values(found.get());
        });
        declareOffsets(suite);
    }

    private static void declareOffsets(Checks suite) {
        suite.check("offsets.for_times", c -> {
            var at = new TopicPartition(timed(c), 0);
            var found = new ArrayList<Object>();
            try (var consumer = c.consumer(Map.of())) {
                for (long time : List.of(0L, 1000L, 1001L, 2500L, 4000L, 4001L)) {
                    var answer = consumer.offsetsForTimes(Map.of(at, time)).get(at);
                    found.add(answer == null ? null : List.of(answer.offset(), answer.timestamp(), answer.leaderEpoch().isPresent()));
                }
            }
            return found;
        });
        suite.check("offsets.admin", c -> {
            var at = new TopicPartition(timed(c), 0);
            var specs = Map.of("earliest", OffsetSpec.earliest(), "latest", OffsetSpec.latest(), "max", OffsetSpec.maxTimestamp(),
                "2500", OffsetSpec.forTimestamp(2500), "earliest_local", OffsetSpec.earliestLocal());
            var found = new HashMap<String, Object>();
            for (var spec : specs.entrySet()) {
                var answer = c.admin.listOffsets(Map.of(at, spec.getValue())).partitionResult(at).get();
                found.put(spec.getKey(), List.of(answer.offset(), answer.timestamp()));
            }
            return found;
        });
        suite.check("fetch.unknown_topic", c -> {
            try (var consumer = c.consumer(Map.of())) {
                return consumer.partitionsFor(c.name("nowhere")).size();
            }
        });
    }
}
