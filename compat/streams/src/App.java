import java.time.Duration;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsConfig;

/** One instance of a Streams application, until it is ended: App BOOTSTRAP APPLICATION TOPOLOGY PREFIX STATE_FOLDER. */
final class App {
    private static final Duration CLOSE_WAIT = Duration.ofSeconds(30);

    public static void main(String[] arguments) throws InterruptedException {
        var topology = new Topologies(arguments[3]).named(arguments[2]);
        var streams = new KafkaStreams(topology, config(arguments[0], arguments[1], arguments[4]));
        var ended = new CountDownLatch(1);
        streams.setStateListener((now, before) -> {
            System.out.println(now);
            if (now == KafkaStreams.State.ERROR || now == KafkaStreams.State.NOT_RUNNING) {
                ended.countDown();
            }
        });
        Runtime.getRuntime().addShutdownHook(new Thread(() -> streams.close(CLOSE_WAIT)));
        streams.start();
        ended.await();
    }

    private static Properties config(String bootstrap, String application, String state) {
        var config = new Properties();
        config.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrap);
        config.put(StreamsConfig.APPLICATION_ID_CONFIG, application);
        config.put(StreamsConfig.STATE_DIR_CONFIG, state);
        config.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
        config.put(StreamsConfig.DEFAULT_KEY_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
        config.put(StreamsConfig.DEFAULT_VALUE_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
        // Each update goes out, so that readers can tell whether one is missing or came twice.
        config.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, 0);
        config.put(StreamsConfig.REPARTITION_PURGE_INTERVAL_MS_CONFIG, 500);
        // An instance that was killed is missed soon.
        config.put(StreamsConfig.consumerPrefix("session.timeout.ms"), 6_000);
        config.put(StreamsConfig.consumerPrefix("heartbeat.interval.ms"), 500);
        return config;
    }
}
