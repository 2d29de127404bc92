import java.util.Arrays;
import java.util.Properties;
import org.apache.flink.connector.kafka.sink.internal.FlinkKafkaInternalProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * What Flink's exactly-once sink does around a checkpoint, by Flink's own producer.
 *
 * <p>prepare TRANSACTIONAL_ID TIMEOUT_MS TOPIC VALUE...: the writer writes, flushes for a checkpoint, and dies. It prints what the
 * checkpoint remembers: producer id and epoch.
 *
 * <p>commit (TRANSACTIONAL_ID PRODUCER_ID EPOCH)...: the committer of another process resumes and commits each. It prints an outcome each.
 *
 * <p>begin TRANSACTIONAL_ID: the writer takes the id anew, which aborts what it had open.
 */
final class Sink {
    private final String bootstrap;

    private Sink(String bootstrap) {
        this.bootstrap = bootstrap;
    }

    public static void main(String[] arguments) throws Exception {
        var sink = new Sink(arguments[0]);
        var rest = Arrays.copyOfRange(arguments, 2, arguments.length);
        switch (arguments[1]) {
            case "prepare" -> sink.prepare(rest);
            case "commit" -> sink.commit(rest);
            case "begin" -> sink.begin(rest[0]);
            default -> throw new IllegalArgumentException(arguments[1]);
        }
        System.out.flush();
        // As a machine that is gone: nothing is closed, nothing is told to the broker.
        Runtime.getRuntime().halt(0);
    }

    private void prepare(String[] arguments) throws Exception {
        var producer = producer(arguments[0], arguments[1]);
        producer.initTransactions();
        producer.beginTransaction();
        for (var value : Arrays.copyOfRange(arguments, 3, arguments.length)) {
            producer.send(new ProducerRecord<>(arguments[2], value), null);
        }
        producer.flush();
        if (producer.hasRecordsInTransaction()) {
            producer.precommitTransaction();
        }
        System.out.println(producer.getProducerId());
        System.out.println(producer.getEpoch());
    }

    private void commit(String[] arguments) {
        FlinkKafkaInternalProducer<String, String> producer = null;
        for (var n = 0; n < arguments.length; n += 3) {
            // One producer serves all transactions of a committer, unless one fails.
            if (producer == null) {
                producer = producer(arguments[n], "60000");
            } else {
                producer.setTransactionId(arguments[n]);
            }
            var outcome = commit(producer, Long.parseLong(arguments[n + 1]), Short.parseShort(arguments[n + 2]));
            System.out.println(outcome);
            if (!outcome.equals("ok")) {
                producer.close();
                producer = null;
            }
        }
    }

    private static String commit(FlinkKafkaInternalProducer<String, String> producer, long producerId, short epoch) {
        try {
            producer.resumeTransaction(producerId, epoch);
            producer.commitTransaction();
            return "ok";
        } catch (KafkaException refused) {
            var code = Errors.forException(refused);
            return code == Errors.UNKNOWN_SERVER_ERROR ? "client: " + refused : code.name();
        }
    }

    private void begin(String transactionalId) {
        producer(transactionalId, "60000").initTransactions();
    }

    private FlinkKafkaInternalProducer<String, String> producer(String transactionalId, String timeoutMs) {
        var config = new Properties();
        config.put("bootstrap.servers", bootstrap);
        config.put("key.serializer", StringSerializer.class.getName());
        config.put("value.serializer", StringSerializer.class.getName());
        config.put("transaction.timeout.ms", timeoutMs);
        return new FlinkKafkaInternalProducer<>(config, transactionalId);
    }
}
