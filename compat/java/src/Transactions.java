import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.InvalidTxnTimeoutException;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Producers that write in transactions, asked in JSON lines. */
final class Transactions {
    private final Client client;
    private final Map<String, KafkaProducer<byte[], byte[]>> producers = new ConcurrentHashMap<>();

    Transactions(Client client) {
        this.client = client;
    }

    void declare(Map<String, Members.Answer> asks, Map<String, Member> members) {
        asks.put("open_producer", this::open);
        asks.put("begin", ask -> {
            of(ask).beginTransaction();
            return null;
        });
        asks.put("send", this::send);
        asks.put("send_positions", ask -> {
            var group = ask.hasNonNull("member") ? members.get(ask.get("member").asText()).metadata() : ofNobody(ask);
            of(ask).sendOffsetsToTransaction(Member.positionsOf(ask.get("positions")), group);
            return null;
        });
        asks.put("end", ask -> {
            if (ask.get("commit").asBoolean()) {
                of(ask).commitTransaction();
            } else {
                of(ask).abortTransaction();
            }
            return null;
        });
        asks.put("close_producer", ask -> {
            // What is still open is left to the broker, as by a client that dies.
            of(ask).close(Duration.ZERO);
            return null;
        });
    }

    private KafkaProducer<byte[], byte[]> of(JsonNode ask) {
        return producers.get(ask.get("producer").asText());
    }

    /** A consumer that has not joined stands for the group as such. */
    private ConsumerGroupMetadata ofNobody(JsonNode ask) {
        try (var consumer = client.consumer(Map.of("group.id", ask.get("group").asText()))) {
            return consumer.groupMetadata();
        }
    }

    private Object open(JsonNode ask) {
        var patience = Client.WAIT_S * 1000;
        var config = Map.<String, Object>of("bootstrap.servers", client.bootstrap, "max.block.ms", patience,
            "delivery.timeout.ms", patience, "request.timeout.ms", patience / 2, "linger.ms", 20,
            "transactional.id", ask.get("transactional_id").asText(), "transaction.timeout.ms", ask.get("timeout_ms").asInt());
        var producer = new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer());
        producers.put(ask.get("producer").asText(), producer);
        try {
            producer.initTransactions();
        } catch (KafkaException refused) {
            throw inWords(refused);
        }
        return null;
    }

    /** It tells this one refusal of the broker in words alone. */
    private static KafkaException inWords(KafkaException refused) {
        var tooLong = refused.getCause() == null && refused.getMessage().contains("The transaction timeout is larger");
        return tooLong ? new InvalidTxnTimeoutException(refused.getMessage()) : refused;
    }

    private Object send(JsonNode ask) throws Exception {
        var sent = new ArrayList<Future<RecordMetadata>>();
        for (var batch : ask.get("batches")) {
            for (var record : batch) {
                sent.add(of(ask).send(record(ask, record)));
            }
        }
        of(ask).flush();
        var offsets = new ArrayList<Long>();
        for (var one : sent) {
            offsets.add(one.get().offset());
        }
        return List.copyOf(offsets);
    }

    private static ProducerRecord<byte[], byte[]> record(JsonNode ask, JsonNode record) {
        var headers = new ArrayList<Header>();
        record.path("headers").forEach(header -> headers.add(Client.header(header.get(0).textValue(), header.get(1).textValue())));
        var key = Client.bytes(record.path("key").textValue());
        var value = Client.bytes(record.get("value").textValue());
        return new ProducerRecord<>(ask.get("topic").asText(), ask.get("partition").asInt(), key, value, headers);
    }
}
