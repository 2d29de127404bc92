import com.fasterxml.jackson.databind.JsonNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import org.apache.kafka.clients.admin.CreateTopicsOptions;
import org.apache.kafka.common.errors.ApiException;

/** Members BOOTSTRAP: kafka-clients in groups and in transactions, and groups as operators see them, asked in JSON lines. */
public final class Members {
    /** Answers one ask. */
    interface Answer {
        Object to(JsonNode ask) throws Exception;
    }

    private final Map<String, Answer> asks = new HashMap<>();
    private final Map<String, Member> members = new ConcurrentHashMap<>();

    private Members(Client client) {
        asks.put("create", ask -> create(client, ask));
        asks.put("partitions", ask -> client.partitions(ask.get("topic").asText()));
        asks.put("produce", ask -> produce(client, ask));
        asks.put("join", ask -> {
            members.put(ask.get("member").asText(), new Member(client.bootstrap, ask));
            return null;
        });
        asks.put("member", ask -> member(ask).told());
        asks.put("commit", ask -> member(ask).commit(ask.get("positions")));
        asks.put("committed", ask -> member(ask).committed(ask.get("of")));
        asks.put("leave", ask -> member(ask).leave());
        new GroupAsks(client.admin).declare(asks);
        new Transactions(client).declare(asks, members);
        Records.declare(client, asks);
    }

    public static void main(String[] args) throws Exception {
        var pool = Executors.newCachedThreadPool();
        try (var client = new Client(args[0], "")) {
            var members = new Members(client);
            var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            for (var line = in.readLine(); line != null; line = in.readLine()) {
                var ask = Checks.JSON.readTree(line);
                pool.submit(() -> members.reply(ask));
            }
        }
        System.exit(0); // members that still run are threads that would keep it
    }

    private void reply(JsonNode ask) {
        var answer = new LinkedHashMap<String, Object>();
        answer.put("id", ask.get("id").asLong());
        try {
            answer.put("ok", asks.get(ask.get("do").asText()).to(ask));
        } catch (Exception error) {
            var cause = Checks.cause(error);
            if (cause instanceof ApiException) {
                answer.put("refused", Checks.code(cause));
            } else {
                cause.printStackTrace();
                answer.put("crash", cause.toString());
            }
        }
        synchronized (System.out) {
            try {
                System.out.println(Checks.JSON.writeValueAsString(answer));
            } catch (java.io.IOException error) {
                throw new IllegalStateException(error);
            }
        }
    }

    private Member member(JsonNode ask) {
        return members.get(ask.get("member").asText());
    }

    private static Object create(Client client, JsonNode ask) throws Exception {
        var configs = new ArrayList<String>();
        ask.get("configs").properties().forEach(config -> configs.addAll(List.of(config.getKey(), config.getValue().asText())));
        var replicas = ask.get("replicas").asInt();
        client.tryCreate(ask.get("topic").asText(), ask.get("partitions").asInt(), replicas, new CreateTopicsOptions(), configs.toArray(String[]::new));
        return null;
    }

    private static Object produce(Client client, JsonNode ask) throws Exception {
        var batches = new ArrayList<List<Client.Rec>>();
        for (var batch : ask.get("batches")) {
            var records = new ArrayList<Client.Rec>();
            batch.forEach(record -> records.add(Client.Rec.of(record.path("key").textValue(), record.get("value").textValue())));
            batches.add(records);
        }
        var sent = client.produce(ask.get("topic").asText(), ask.get("partition").asInt(), batches, Map.of());
        return sent.stream().map(one -> one.offset()).toList();
    }
}
