import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;

/** A consumer in a thread of its own, which between polls does what others ask of it. */
final class Member implements ConsumerRebalanceListener {
    interface Task {
        Object run(KafkaConsumer<String, String> consumer) throws Exception;
    }

    private final ConcurrentLinkedQueue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final KafkaConsumer<String, String> consumer;
    private final List<Object> partitions = new ArrayList<>();
    private final List<Object> read = new ArrayList<>();
    private final List<Object> taken = new ArrayList<>();
    private final Thread thread = new Thread(this::run);
    private List<Object> generation;
    private String error;
    private volatile boolean running = true;

    Member(String bootstrap, JsonNode ask) {
        var config = new HashMap<String, Object>(Map.of("bootstrap.servers", bootstrap, "group.id", ask.get("group").asText(),
            "auto.offset.reset", "earliest", "enable.auto.commit", "false", "fetch.max.wait.ms", "100"));
        var protocol = ask.get("protocol").asText();
        config.put("group.protocol", protocol);
        if (protocol.equals("classic")) {
            config.put("session.timeout.ms", ask.get("session_ms").asInt());
            config.put("heartbeat.interval.ms", 300);
            var cooperative = ask.path("assignor").asText().equals("cooperative");
            config.put("partition.assignment.strategy", (cooperative ? CooperativeStickyAssignor.class : RangeAssignor.class).getName());
        }
        if (ask.hasNonNull("instance")) {
            config.put("group.instance.id", ask.get("instance").asText());
        }
        consumer = new KafkaConsumer<>(config, new StringDeserializer(), new StringDeserializer());
        var topics = new ArrayList<String>();
        ask.get("topics").forEach(topic -> topics.add(topic.asText()));
        consumer.subscribe(topics, this);
        thread.setDaemon(true);
        thread.start();
    }

    private void run() {
        try (consumer) {
            while (running) {
                var found = consumer.poll(Duration.ofMillis(100));
                var group = consumer.groupMetadata();
                synchronized (this) {
                    generation = List.of(group.generationId(), group.memberId());
                    found.forEach(r -> read.add(List.of(r.topic(), r.partition(), r.offset(), r.value() == null ? "" : r.value())));
                }
                for (var task = tasks.poll(); task != null; task = tasks.poll()) {
                    task.run();
                }
            }
        } catch (RuntimeException fault) {
            fault.printStackTrace();
            synchronized (this) {
                error = fault.toString();
            }
        }
    }

    private Object ask(Task task) throws Exception {
        var done = new CompletableFuture<Object>();
        tasks.add(() -> {
            try {
                done.complete(task.run(consumer));
            } catch (Exception refused) {
                done.completeExceptionally(refused);
            }
        });
        return done.get();
    }

    Object leave() throws InterruptedException {
        running = false;
        thread.join();
        return null;
    }

    Object commit(JsonNode positions) throws Exception {
        return ask(consumer -> {
            consumer.commitSync(positionsOf(positions));
            return null;
        });
    }

    Object committed(JsonNode partitions) throws Exception {
        return ask(consumer -> {
            var asked = partitionsOf(partitions);
            var told = consumer.committed(new HashSet<>(asked));
            return asked.stream().map(at -> row(at, told.get(at))).toList();
        });
    }

    /** By which a broker knows it when it commits in a transaction. */
    ConsumerGroupMetadata metadata() throws Exception {
        return (ConsumerGroupMetadata) ask(KafkaConsumer::groupMetadata);
    }

    /** The generation is that of a classic member, the epoch that of one of the new protocol. */
    synchronized Object told() {
        var told = new LinkedHashMap<String, Object>();
        told.put("partitions", List.copyOf(partitions));
        told.put("read", List.copyOf(read));
        told.put("taken", List.copyOf(taken));
        told.put("error", error);
        told.put("generation", generation);
        return told;
    }

    @Override
    public synchronized void onPartitionsAssigned(Collection<TopicPartition> gained) {
        gained.forEach(at -> partitions.add(List.of(at.topic(), at.partition())));
    }

    @Override
    public synchronized void onPartitionsRevoked(Collection<TopicPartition> lost) {
        lost.forEach(at -> {
            partitions.remove(List.of(at.topic(), at.partition()));
            taken.add(List.of(at.topic(), at.partition()));
        });
    }

    static Map<TopicPartition, OffsetAndMetadata> positionsOf(JsonNode rows) {
        var positions = new HashMap<TopicPartition, OffsetAndMetadata>();
        rows.forEach(row -> positions.put(at(row), new OffsetAndMetadata(row.get(2).asLong(), row.get(3).asText())));
        return positions;
    }

    static List<TopicPartition> partitionsOf(JsonNode rows) {
        var partitions = new ArrayList<TopicPartition>();
        rows.forEach(row -> partitions.add(at(row)));
        return partitions;
    }

    private static TopicPartition at(JsonNode row) {
        return new TopicPartition(row.get(0).asText(), row.get(1).asInt());
    }

    static List<Object> row(TopicPartition at, OffsetAndMetadata position) {
        return position == null ? Arrays.asList(at.topic(), at.partition(), -1, "")
            : Arrays.asList(at.topic(), at.partition(), position.offset(), position.metadata());
    }
}
