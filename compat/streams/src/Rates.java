import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;

/**
 * How fast Java's clients are in transactions: Rates BOOTSTRAP SECONDS RECORDS, at a broker that holds nothing yet. Prints lines of
 * a name and a figure: commits with one record each, one after another by one producer, and of Streams with exactly_once_v2 the
 * records that are counted, as a reader of committed records gets them.
 */
final class Rates {
    private static final int PARTITIONS = 4, KEYS = 1000, MAX_COMMITS = 1_000_000;
    private static final Duration WARM_UP = Duration.ofSeconds(3), PATIENCE = Duration.ofMinutes(5);
    private final String bootstrap;

    private Rates(String bootstrap) {
        this.bootstrap = bootstrap;
    }

    public static void main(String[] arguments) throws Exception {
        var rates = new Rates(arguments[0]);
        rates.create("commits", 1);
        rates.create("lines", PARTITIONS);
        rates.create("counts", PARTITIONS);
        rates.commits(Duration.ofSeconds(Long.parseLong(arguments[1])));
        rates.streams(Integer.parseInt(arguments[2]));
    }

    private static void tell(String name, double figure) {
        System.out.println(name + " " + String.format(Locale.ROOT, "%.2f", figure));
    }

    private void create(String topic, int partitions) throws Exception {
        try (var admin = Admin.create(Map.of("bootstrap.servers", bootstrap))) {
            admin.createTopics(List.of(new NewTopic(topic, partitions, (short) 1))).all().get();
        }
    }

    /** Each transaction is begun, holds one record of 100 bytes, and is committed. */
    private void commits(Duration duration) {
        try (var producer = producer(Map.of("transactional.id", "commits"))) {
            producer.initTransactions();
            commitsFor(producer, WARM_UP);
            var took = commitsFor(producer, duration);
            took.sort(null);
            tell("commits/s", took.size() / (took.stream().mapToLong(Long::longValue).sum() / 1e9));
            tell("commit_p50_ms", took.get(took.size() / 2) / 1e6);
            tell("commit_p99_ms", took.get(took.size() * 99 / 100) / 1e6);
        }
    }

    /** The nanoseconds that each took. */
    private static List<Long> commitsFor(KafkaProducer<String, String> producer, Duration duration) {
        var took = new ArrayList<Long>();
        var end = System.nanoTime() + duration.toNanos();
        for (var began = System.nanoTime(); began < end && took.size() < MAX_COMMITS;) {
            producer.beginTransaction();
            producer.send(new ProducerRecord<>("commits", "k".repeat(10), "v".repeat(90)));
            producer.commitTransaction();
            var now = System.nanoTime();
            took.add(now - began);
            began = now;
        }
        return took;
    }

    /** The first quarter is for getting warm. */
    private void streams(int records) throws Exception {
        fill(records);
        var state = Files.createTempDirectory("rates");
        try (var reader = reader("counts"); var streams = counting(state)) {
            streams.start();
            var first = read(reader, records / 4);
            var began = System.nanoTime();
            read(reader, records - first);
            tell("streams_records/s", (records - first) / ((System.nanoTime() - began) / 1e9));
        } finally {
            delete(state);
        }
    }

    private void fill(int records) {
        try (var producer = producer(Map.of("linger.ms", 20))) {
            for (var n = 0; n < records; n++) {
                producer.send(new ProducerRecord<>("lines", "key" + n % KEYS, "v".repeat(90)));
            }
        }
        try (var reader = reader("lines")) {
            read(reader, records);
        }
    }

    /** Without a cache each record that is read is one that is written, and one of the changelog. */
    private KafkaStreams counting(Path state) {
        var builder = new StreamsBuilder();
        builder.<String, String>stream("lines").groupByKey().count().toStream().mapValues(count -> Long.toString(count)).to("counts");
        var config = new Properties();
        config.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrap);
        config.put(StreamsConfig.APPLICATION_ID_CONFIG, "rates");
        config.put(StreamsConfig.STATE_DIR_CONFIG, state.toString());
        config.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
        config.put(StreamsConfig.DEFAULT_KEY_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
        config.put(StreamsConfig.DEFAULT_VALUE_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
        config.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, 0);
        return new KafkaStreams(builder.build(), config);
    }

    private KafkaProducer<String, String> producer(Map<String, Object> config) {
        var all = new Properties();
        all.put("bootstrap.servers", bootstrap);
        all.putAll(config);
        return new KafkaProducer<>(all, new StringSerializer(), new StringSerializer());
    }

    private KafkaConsumer<String, String> reader(String topic) {
        var config = new Properties();
        config.put("bootstrap.servers", bootstrap);
        config.put("isolation.level", "read_committed");
        config.put("enable.auto.commit", false);
        var reader = new KafkaConsumer<>(config, new StringDeserializer(), new StringDeserializer());
        var partitions = reader.partitionsFor(topic).stream().map(p -> new TopicPartition(topic, p.partition())).toList();
        reader.assign(partitions);
        reader.seekToBeginning(partitions);
        return reader;
    }

    /** Reads until there are so many more; how many those were. */
    private static int read(KafkaConsumer<String, String> reader, int records) {
        var count = 0;
        var end = System.nanoTime() + PATIENCE.toNanos();
        while (count < records) {
            if (System.nanoTime() > end) {
                throw new IllegalStateException("only " + count + " of " + records + " records in " + PATIENCE);
            }
            count += reader.poll(Duration.ofMillis(100)).count();
        }
        return count;
    }

    private static void delete(Path folder) throws Exception {
        try (var paths = Files.walk(folder)) {
            for (var path : paths.sorted((a, b) -> b.compareTo(a)).toList()) {
                Files.delete(path);
            }
        }
    }
}
