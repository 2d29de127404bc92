import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.RecordMetadata;

/** Producing: codecs, headers, timestamps, sizes, and what a broker refuses. */
final class ProduceChecks {
    static final String ANY_TIME = Long.toString(Long.MAX_VALUE);
    /** Of a batch of one record of a middle size without a key: batch head 61, record head and lengths 11. */
    private static final int OVERHEAD = 72;

    private ProduceChecks() {}

    static void declare(Checks suite) {
        suite.check("produce.idempotent", c -> {
            var topic = c.create(c.name("idempotent"), 3);
            var offsets = new ArrayList<Object>();
            var read = new ArrayList<Object>();
            for (int p = 0; p < 3; p++) {
                offsets.add(c.produce(topic, p, Client.numbered("p" + p + "n", 10)).stream().map(RecordMetadata::offset).toList());
                read.add(Client.values(c.read(topic, p)));
            }
            return Map.of("offsets", offsets, "read", read);
        });
        for (var codec : List.of("none", "gzip", "snappy", "lz4", "zstd")) {
            suite.check("produce.codec." + codec, c -> {
                var topic = c.create(c.name("codec-" + codec), 1);
                var records = Client.numbered("compressible ".repeat(40), 40);
                c.produce(topic, 0, List.of(records), Map.of("compression.type", codec, "linger.ms", 50));
                return Client.digest(c.read(topic, 0));
            });
        }
        suite.check("produce.headers", c -> {
            var topic = c.create(c.name("headers"), 1);
            var given = List.of(Client.header("a", "1"), Client.header("b", null), Client.header("a", "2"),
                Client.header("empty", ""), Client.header("", "no name"), Client.header("a", "1"));
            c.produce(topic, 0, List.of(new Client.Rec(null, "v", null, given), Client.Rec.of("plain")));
            return Client.headers(c.read(topic, 0));
        });
        suite.check("produce.null_and_empty", c -> {
            var topic = c.create(c.name("nothing"), 1);
            var records = new ArrayList<Client.Rec>();
            for (var key : Arrays.asList("k", null, "")) {
                for (var value : Arrays.asList("v", null, "")) {
                    records.add(Client.Rec.of(key, value));
                }
            }
            c.produce(topic, 0, records);
            return c.read(topic, 0).stream().map(r -> Arrays.asList(Client.text(r.key()), Client.text(r.value()))).toList();
        });
        declareTimestamps(suite);
        declareSizes(suite);
        suite.check("produce.many", c -> {
            var topic = c.create(c.name("many"), 1);
            c.produce(topic, 0, Client.numbered("x".repeat(200), 5000));
            return Client.digest(c.read(topic, 0));
        });
    }

    private static void declareTimestamps(Checks suite) {
        suite.check("produce.timestamps", c -> {
            var topic = c.create(c.name("timestamps"), 1, "message.timestamp.before.max.ms", ANY_TIME);
            var told = c.produce(topic, 0, List.of(Client.Rec.at(1000), Client.Rec.at(5000), Client.Rec.at(3000)));
            var read = c.read(topic, 0).stream().map(r -> List.of(r.timestampType().name, r.timestamp())).toList();
            return Map.of("told", told.stream().map(RecordMetadata::timestamp).toList(), "read", read);
        });
        suite.check("produce.log_append_time", c -> {
            var topic = c.create(c.name("append-time"), 1, "message.timestamp.type", "LogAppendTime");
            var told = c.produce(topic, 0, List.of(Client.Rec.at(1000), Client.Rec.at(5000)));
            var read = c.read(topic, 0);
            var now = System.currentTimeMillis();
            var same = read.get(0).timestamp() == told.get(0).timestamp() && read.get(1).timestamp() == told.get(1).timestamp();
            return Map.of("type", read.get(0).timestampType().name, "as_told", same, "now", Math.abs(now - read.get(0).timestamp()) < 60_000);
        });
        suite.check("produce.timestamp_too_old", c -> {
            var topic = c.create(c.name("too-old"), 1, "message.timestamp.before.max.ms", "3600000");
            return Checks.outcome(() -> c.produce(topic, 0, List.of(Client.Rec.at(1000))));
        });
    }

    private static void declareSizes(Checks suite) {
        suite.check("produce.max_message_bytes.default", c -> sized(c, c.create(c.name("size-default"), 1), 1_048_588));
        suite.check("produce.max_message_bytes.small",
            c -> sized(c, c.create(c.name("size-small"), 1, "max.message.bytes", "20000"), 20_000));
        for (var acks : List.of("0", "1")) {
            suite.check("produce.acks_" + acks, c -> {
                var topic = c.create(c.name("acks-" + acks), 1);
                c.produce(topic, 0, List.of(Client.recs("a", "b")), Map.of("acks", acks, "enable.idempotence", false));
                return Client.values(c.readSome(topic, 0, 0, 2, Map.of()));
            });
        }
        suite.check("produce.auto_create", c -> {
            var topic = c.name("auto");
            c.produce(topic, 0, Client.recs("v"));
            return Map.of("partitions", c.partitions(topic), "read", Client.values(c.read(topic, 0)));
        });
        suite.check("produce.compacted_null_key", c -> {
            var topic = c.create(c.name("compacted"), 1, "cleanup.policy", "compact");
            var keyed = Checks.outcome(() -> c.produce(topic, 0, List.of(Client.Rec.of("k", "v"))));
            return Map.of("keyed", keyed, "unkeyed", Checks.outcome(() -> c.produce(topic, 0, Client.recs("v"))));
        });
    }

    private static Object sized(Client c, String topic, int limit) {
        var fits = limit - OVERHEAD;
        var at = Checks.outcome(() -> send(c, topic, fits));
        var over = Checks.outcome(() -> send(c, topic, fits + 1));
        return Map.of("at", at, "over", over, "read", c.read(topic, 0).stream().map(r -> r.value().length - fits).toList());
    }

    private static void send(Client c, String topic, int size) throws Exception {
        var big = Map.<String, Object>of("max.request.size", 4_000_000, "batch.size", 4_000_000);
        c.produce(topic, 0, List.of(Client.recs("x".repeat(size))), big);
    }
}
