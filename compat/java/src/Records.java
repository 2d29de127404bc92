import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;

/** Offsets, and records read by an assigned consumer, asked in JSON lines. */
final class Records {
    private static final long LATEST = -1;
    private static final long EARLIEST = -2;
    private static final long NOTHING_TO_COME_MS = 300;

    private Records() {}

    static void declare(Client client, Map<String, Members.Answer> asks) {
        asks.put("offset", ask -> {
            try (var consumer = client.consumer(isolation(ask))) {
                return Arrays.asList(offset(consumer, at(ask), ask.get("at").asLong()), null);
            }
        });
        asks.put("read", ask -> {
            try (var consumer = client.consumer(isolation(ask))) {
                consumer.assign(List.of(at(ask)));
                consumer.seek(at(ask), ask.get("start").asLong());
                return read(consumer, ask);
            }
        });
    }

    private static Map<String, String> isolation(JsonNode ask) {
        return ask.path("committed").asBoolean() ? Client.COMMITTED : Map.of();
    }

    private static TopicPartition at(JsonNode ask) {
        return new TopicPartition(ask.get("topic").asText(), ask.get("partition").asInt());
    }

    private static long offset(KafkaConsumer<byte[], byte[]> consumer, TopicPartition at, long time) {
        if (time == LATEST) {
            return consumer.endOffsets(List.of(at)).get(at);
        }
        if (time == EARLIEST) {
            return consumer.beginningOffsets(List.of(at)).get(at);
        }
        var found = consumer.offsetsForTimes(Map.of(at, time)).get(at);
        return found == null ? -1 : found.offset();
    }

    private static Object read(KafkaConsumer<byte[], byte[]> consumer, JsonNode ask) {
        var count = ask.hasNonNull("count") ? ask.get("count").asInt() : Integer.MAX_VALUE;
        var end = ask.hasNonNull("end") ? ask.get("end").asLong() : Long.MAX_VALUE;
        var nothingToCome = ask.get("start").asLong() >= end;
        var patience = nothingToCome ? NOTHING_TO_COME_MS : Client.WAIT_S * 1000L;
        var deadline = System.nanoTime() + patience * 1_000_000;
        var found = new ArrayList<Object>();
        while (System.nanoTime() < deadline) {
            for (var record : consumer.poll(Duration.ofMillis(100))) {
                found.add(shown(record));
            }
            if (found.size() >= count) {
                return found.subList(0, count);
            }
            // The position also passes what is no record: markers, and what was aborted.
            if (!nothingToCome && consumer.position(at(ask)) >= end) {
                return found;
            }
        }
        if (!nothingToCome) {
            throw new IllegalStateException(found.size() + " records, then nothing");
        }
        return found;
    }

    private static Object shown(ConsumerRecord<byte[], byte[]> record) {
        var headers = new ArrayList<Object>();
        record.headers().forEach(header -> headers.add(Arrays.asList(header.key(), Client.text(header.value()))));
        var shown = new LinkedHashMap<String, Object>();
        shown.put("offset", record.offset());
        shown.put("key", Client.text(record.key()));
        shown.put("value", Client.text(record.value()));
        shown.put("headers", headers);
        shown.put("timestamp", record.timestamp());
        return shown;
    }
}
