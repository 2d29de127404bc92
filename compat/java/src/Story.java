import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The feed that the view checks read: four commits over two partitions, and a stream still open; see compat/README.md. */
final class Story {
    /** Keeps the broker's own cuts out of the way. */
    static final String[] BY_HAND = {"streamstack.seal.ms", "86400000"};

    private Story() {}

    /** The story's feed, told on the first call. */
    static String feed(Client c) throws Exception {
        var topic = c.name("story");
        if (c.partitionsOutcome(topic).equals("ok")) {
            return topic;
        }
        c.create(topic, 2, BY_HAND);
        c.produce(topic, 0, chapter(0, 0, 3));
        c.produce(topic, 1, chapter(0, 1, 2));
        seal(c, topic, "first", "{\"poll\": 1}");
        var labelled = List.of(Client.header("streamstack-stream", "second"), Client.header("kept", "1"), Client.header("kept", null));
        var sealing = List.of(Client.header("streamstack-seal", ""));
        c.produce(topic, 0, List.of(new Client.Rec("k0", "c1p0n0", null, labelled), new Client.Rec("k1", "c1p0n1", null, sealing)));
        Thread.sleep(5);
        seal(c, topic, "nothing", null);
        c.produce(topic, 1, chapter(3, 1, 4));
        seal(c, topic, "fourth", null);
        c.produce(topic, 0, chapter(4, 0, 2));
        return topic;
    }

    private static List<Client.Rec> chapter(int commit, int partition, int count) {
        return Client.numbered("c" + commit + "p" + partition + "n", count);
    }

    /** Seals what stands in the feed's implicit stream, then pauses so that seal times differ. */
    static void seal(Client c, String topic, String label, String metadata) throws Exception {
        c.produce(topic + "..seal", 0, List.of(Client.Rec.of(label, metadata)));
        Thread.sleep(5);
    }

    /** Makes the values one commit, after a while. */
    static void sealedBatch(Client c, String topic, String... values) throws Exception {
        Thread.sleep(300);
        c.produce(topic, 0, Client.recs(values));
        seal(c, topic, "next", null);
    }

    static List<JsonNode> manifests(Client c, String topic) throws Exception {
        var found = new ArrayList<JsonNode>();
        for (var record : c.read(topic + "..commits", 0)) {
            found.add(Checks.JSON.readTree(record.value()));
        }
        return found;
    }

    static List<Long> sealTimes(Client c, String topic) {
        return c.read(topic + "..commits", 0).stream().map(record -> record.timestamp()).toList();
    }

    static List<Object> content(Client c, String view, int partitions) {
        return content(c, view, partitions, Map.of());
    }

    /** Per partition: bounds, and the values read to the end, which must stand at dense offsets. */
    static List<Object> content(Client c, String view, int partitions, Map<String, String> config) {
        var found = new ArrayList<Object>();
        for (int p = 0; p < partitions; p++) {
            var bounds = c.bounds(view, p, config);
            var records = c.read(view, p, config);
            for (int n = 0; n < records.size(); n++) {
                if (records.get(n).offset() != bounds.begin() + n) {
                    throw new AssertionError(view + ": offset " + records.get(n).offset() + " where " + (bounds.begin() + n) + " should stand");
                }
            }
            if (records.size() != bounds.end() - bounds.begin()) {
                throw new AssertionError(view + ": " + records.size() + " records in " + bounds);
            }
            found.add(List.of(bounds.begin(), bounds.end(), Client.values(records)));
        }
        return found;
    }
}
