import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.CreateTopicsOptions;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** What the checks ask of producer, consumer and Admin, in a few words. */
final class Client implements AutoCloseable {
    static final int WAIT_S = 20;
    static final Map<String, String> COMMITTED = Map.of("isolation.level", "read_committed");

    final String bootstrap;
    final String prefix;
    final Admin admin;

    /** A record to send; nulls are sent as nulls, a null time as now. */
    record Rec(String key, String value, Long timestamp, List<Header> headers) {
        static Rec of(String value) {
            return new Rec(null, value, null, List.of());
        }

        static Rec of(String key, String value) {
            return new Rec(key, value, null, List.of());
        }

        static Rec at(long timestamp) {
            return new Rec(null, "at " + timestamp, timestamp, List.of());
        }
    }

    /** Offsets [begin, end) as ListOffsets tells them. */
    record Bounds(long begin, long end) {
        List<Long> list() {
            return List.of(begin, end);
        }
    }

    Client(String bootstrap, String prefix) {
        this.bootstrap = bootstrap;
        this.prefix = prefix;
        this.admin = Admin.create(Map.of("bootstrap.servers", bootstrap, "default.api.timeout.ms", WAIT_S * 1000, "request.timeout.ms", WAIT_S * 500));
    }

    String name(String topic) {
        return prefix + "-" + topic;
    }

    /** Creates a topic and waits until it can be written to. */
    String create(String topic, int partitions, String... configs) throws Exception {
        tryCreate(topic, partitions, 1, new CreateTopicsOptions(), configs);
        Checks.waitFor(WAIT_S, () -> partitions(topic) > 0);
        return topic;
    }

    void tryCreate(String topic, int partitions, int replicas, CreateTopicsOptions options, String... configs) throws Exception {
        var settings = new HashMap<String, String>();
        for (int i = 0; i < configs.length; i += 2) {
            settings.put(configs[i], configs[i + 1]);
        }
        var topics = List.of(new NewTopic(topic, partitions, (short) replicas).configs(settings));
        admin.createTopics(topics, options).all().get();
    }

    void delete(String topic) throws Exception {
        admin.deleteTopics(List.of(topic)).all().get();
    }

    void grow(String topic, int total) throws Exception {
        admin.createPartitions(Map.of(topic, NewPartitions.increaseTo(total))).all().get();
    }

    TopicDescription describe(String topic) throws Exception {
        return admin.describeTopics(List.of(topic)).allTopicNames().get().get(topic);
    }

    int partitions(String topic) throws Exception {
        return describe(topic).partitions().size();
    }

    String partitionsOutcome(String topic) {
        return Checks.outcome(() -> partitions(topic));
    }

    List<RecordMetadata> produce(String topic, int partition, List<Rec> records) throws Exception {
        return produce(topic, partition, List.of(records), Map.of());
    }

    /** Sends the batches one after the other, each flushed before the next. */
    List<RecordMetadata> produce(String topic, int partition, List<List<Rec>> batches, Map<String, Object> config) throws Exception {
        var all = new HashMap<String, Object>(Map.of("bootstrap.servers", bootstrap, "max.block.ms", WAIT_S * 1000,
            "delivery.timeout.ms", WAIT_S * 1000, "request.timeout.ms", WAIT_S * 500, "linger.ms", 20));
        all.putAll(config);
        var answers = new ArrayList<RecordMetadata>();
        try (var producer = new KafkaProducer<>(all, new ByteArraySerializer(), new ByteArraySerializer())) {
            for (var batch : batches) {
                var sent = new ArrayList<Future<RecordMetadata>>();
                for (var record : batch) {
                    sent.add(producer.send(new ProducerRecord<>(topic, partition, record.timestamp, bytes(record.key), bytes(record.value), record.headers)));
                }
                producer.flush();
                for (var future : sent) {
                    answers.add(future.get());
                }
            }
        }
        return answers;
    }

    KafkaConsumer<byte[], byte[]> consumer(Map<String, String> config) {
        var all = new HashMap<String, Object>(Map.of("bootstrap.servers", bootstrap, "auto.offset.reset", "none",
            "enable.auto.commit", "false", "fetch.max.wait.ms", "100", "allow.auto.create.topics", "false",
            "default.api.timeout.ms", WAIT_S * 1000, "request.timeout.ms", WAIT_S * 500));
        all.putAll(config);
        return new KafkaConsumer<>(all, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    Bounds bounds(String topic, int partition, Map<String, String> config) {
        try (var consumer = consumer(config)) {
            return bounds(consumer, new TopicPartition(topic, partition));
        }
    }

    Bounds bounds(String topic, int partition) {
        return bounds(topic, partition, Map.of());
    }

    private static Bounds bounds(KafkaConsumer<byte[], byte[]> consumer, TopicPartition at) {
        return new Bounds(consumer.beginningOffsets(List.of(at)).get(at), consumer.endOffsets(List.of(at)).get(at));
    }

    /** The loop that every reader to the end runs: from the beginning until position reaches endOffsets. */
    List<ConsumerRecord<byte[], byte[]>> read(String topic, int partition, Map<String, String> config) {
        return readFrom(topic, partition, -1, config);
    }

    List<ConsumerRecord<byte[], byte[]>> read(String topic, int partition) {
        return read(topic, partition, Map.of());
    }

    List<ConsumerRecord<byte[], byte[]>> readFrom(String topic, int partition, long start, Map<String, String> config) {
        try (var consumer = consumer(config)) {
            var at = new TopicPartition(topic, partition);
            var bounds = bounds(consumer, at);
            consumer.assign(List.of(at));
            consumer.seek(at, start < 0 ? bounds.begin : start);
            var found = new ArrayList<ConsumerRecord<byte[], byte[]>>();
            var deadline = System.nanoTime() + WAIT_S * 1_000_000_000L;
            do {
                consumer.poll(Duration.ofMillis(200)).forEach(found::add);
                if (System.nanoTime() > deadline) {
                    throw new AssertionError(topic + ": position " + consumer.position(at) + " does not reach " + bounds.end);
                }
            } while (consumer.position(at) < bounds.end);
            return found;
        }
    }

    /** From `start` until so many records have come. */
    List<ConsumerRecord<byte[], byte[]>> readSome(String topic, int partition, long start, int count, Map<String, String> config) {
        try (var consumer = consumer(config)) {
            var at = new TopicPartition(topic, partition);
            consumer.assign(List.of(at));
            consumer.seek(at, start);
            var found = new ArrayList<ConsumerRecord<byte[], byte[]>>();
            var deadline = System.nanoTime() + WAIT_S * 1_000_000_000L;
            while (found.size() < count) {
                consumer.poll(Duration.ofMillis(200)).forEach(found::add);
                if (System.nanoTime() > deadline) {
                    throw new AssertionError(topic + ": " + found.size() + " records, then nothing");
                }
            }
            return found.subList(0, count);
        }
    }

    @Override
    public void close() {
        admin.close();
    }

    static List<Rec> recs(String... values) {
        return java.util.Arrays.stream(values).map(Rec::of).toList();
    }

    static List<Rec> numbered(String prefix, int count) {
        return java.util.stream.IntStream.range(0, count).mapToObj(n -> Rec.of("k" + n, prefix + n)).toList();
    }

    static Header header(String key, String value) {
        return new RecordHeader(key, bytes(value));
    }

    static byte[] bytes(String text) {
        return text == null ? null : text.getBytes(StandardCharsets.UTF_8);
    }

    static String text(byte[] bytes) {
        return bytes == null ? null : new String(bytes, StandardCharsets.UTF_8);
    }

    static List<String> values(List<ConsumerRecord<byte[], byte[]>> records) {
        var found = new ArrayList<String>();
        records.forEach(record -> found.add(text(record.value())));
        return found;
    }

    static List<Object> headers(List<ConsumerRecord<byte[], byte[]>> records) {
        var found = new ArrayList<Object>();
        for (var record : records) {
            var of = new ArrayList<Object>();
            record.headers().forEach(header -> of.add(java.util.Arrays.asList(header.key(), text(header.value()))));
            found.add(of);
        }
        return found;
    }

    /** Offsets, keys and values of many records in a few characters. */
    static String digest(List<ConsumerRecord<byte[], byte[]>> records) throws Exception {
        var state = MessageDigest.getInstance("SHA-256");
        for (var r : records) {
            state.update(bytes(r.offset() + "|" + text(r.key()) + "|" + text(r.value()) + "\n"));
        }
        return records.size() + " records " + HexFormat.of().formatHex(state.digest()).substring(0, 16);
    }
}
