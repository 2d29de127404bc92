import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.consumer.InvalidOffsetException;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.protocol.Errors;

/** Checks BOOTSTRAP kafka|feed PREFIX [PART OF A NAME]: kafka-clients against a broker, one JSON line a check. */
public final class Checks {
    /** What a check answers; null is an answer too. */
    interface Check {
        Object run(Client client) throws Exception;
    }

    interface Action {
        void run() throws Exception;
    }

    static final ObjectMapper JSON = new ObjectMapper().enable(SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS);

    private final Map<String, Check> checks = new LinkedHashMap<>();

    void check(String name, Check check) {
        checks.put(name, check);
    }

    public static void main(String[] args) throws Exception {
        var suite = new Checks();
        if (args[1].equals("kafka")) {
            ProduceChecks.declare(suite);
            FetchChecks.declare(suite);
            TopicChecks.declare(suite);
            ConfigChecks.declare(suite);
        } else if (args[1].equals("groups")) {
            ConsoleChecks.declare(suite);
        } else {
            NameChecks.declare(suite);
            HistoryChecks.declare(suite);
            BoundChecks.declare(suite);
        }
        var only = args.length > 3 ? args[3] : "";
        try (var client = new Client(args[0], args[2])) {
            for (var check : suite.checks.entrySet()) {
                if (check.getKey().contains(only)) {
                    var line = new LinkedHashMap<String, Object>();
                    line.put("check", check.getKey());
                    line.put("answer", answer(check.getValue(), client));
                    System.out.println(JSON.writeValueAsString(line));
                }
            }
        }
    }

    private static Object answer(Check check, Client client) {
        try {
            return check.run(client);
        } catch (Exception error) {
            var cause = cause(error);
            if (cause instanceof ApiException || cause instanceof InvalidOffsetException) {
                return Map.of("error", code(cause));
            }
            cause.printStackTrace();
            return Map.of("crash", cause.toString());
        } catch (AssertionError error) {
            return Map.of("crash", error.toString());
        }
    }

    /** "ok", or the protocol's name of the error with which the action was refused. */
    static String outcome(Action action) {
        try {
            action.run();
            return "ok";
        } catch (Exception error) {
            return code(cause(error));
        }
    }

    static String code(Throwable error) {
        if (error instanceof InvalidOffsetException) {
            return Errors.OFFSET_OUT_OF_RANGE.name();
        }
        var code = Errors.forException(error);
        return code == Errors.UNKNOWN_SERVER_ERROR ? "client: " + error : code.name();
    }

    static Throwable cause(Throwable error) {
        var wrapped = error instanceof ExecutionException || error instanceof CompletionException
            || error.getClass() == org.apache.kafka.common.KafkaException.class;
        return wrapped && error.getCause() != null ? cause(error.getCause()) : error;
    }

    static boolean waitFor(long seconds, Callable<Boolean> condition) throws Exception {
        var end = System.nanoTime() + seconds * 1_000_000_000L;
        while (true) {
            try {
                if (condition.call()) {
                    return true;
                }
            } catch (ExecutionException | ApiException error) {
                // Not yet: asked again below.
            }
            if (System.nanoTime() > end) {
                return false;
            }
            Thread.sleep(50);
        }
    }
}
