import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.AlterConfigOp.OpType;
import org.apache.kafka.clients.admin.AlterConfigsOptions;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.DescribeConfigsOptions;
import org.apache.kafka.common.config.ConfigResource;

/** Configs of topics and brokers: described, changed step by step, and refused. */
final class ConfigChecks {
    private ConfigChecks() {}

    private static Config describe(Client c, ConfigResource.Type type, String name) throws Exception {
        var resource = new ConfigResource(type, name);
        var options = new DescribeConfigsOptions().includeSynonyms(true).includeDocumentation(true);
        return c.admin.describeConfigs(List.of(resource), options).all().get().get(resource);
    }

    static Map<String, Object> shown(Client c, String topic, String... names) throws Exception {
        var all = describe(c, ConfigResource.Type.TOPIC, topic);
        var found = new HashMap<String, Object>();
        for (var name : names) {
            found.put(name, List.of(all.get(name).value(), all.get(name).source().name()));
        }
        return found;
    }

    static AlterConfigOp change(OpType type, String name, String value) {
        return new AlterConfigOp(new ConfigEntry(name, value), type);
    }

    static AlterConfigOp set(String name, String value) {
        return change(OpType.SET, name, value);
    }

    static String altering(Client c, String topic, boolean dry, AlterConfigOp... changes) {
        return altering(c, new ConfigResource(ConfigResource.Type.TOPIC, topic), dry, List.of(changes));
    }

    private static String altering(Client c, ConfigResource resource, boolean dry, Collection<AlterConfigOp> changes) {
        var options = new AlterConfigsOptions().validateOnly(dry);
        return Checks.outcome(() -> c.admin.incrementalAlterConfigs(Map.of(resource, changes), options).all().get());
    }

    static void declare(Checks suite) {
        described(suite, "values", ConfigEntry::value);
        described(suite, "sources", entry -> entry.source().name());
        described(suite, "types", entry -> entry.type().name());
        described(suite, "flags", entry -> List.of(entry.isReadOnly(), entry.isSensitive(), entry.isDefault()));
        described(suite, "synonyms", entry -> entry.synonyms().stream().map(s -> s.name() + "=" + s.value() + " " + s.source()).toList());
        suite.check("admin.describe_configs.unknown",
            c -> Checks.outcome(() -> describe(c, ConfigResource.Type.TOPIC, c.name("nowhere"))));
        declareChanges(suite);
        suite.check("admin.alter_configs.refused", c -> {
            var topic = c.create(c.name("unaltered"), 1);
            var found = new HashMap<String, Object>();
            found.put("unknown_config", altering(c, topic, false, set("no.such.config", "1")));
            found.put("bad_value", altering(c, topic, false, set("retention.ms", "soon")));
            found.put("bad_value_and_good", altering(c, topic, false, set("retention.ms", "soon"), set("segment.ms", "7000")));
            found.put("append_to_number", altering(c, topic, false, change(OpType.APPEND, "retention.ms", "1")));
            found.put("unknown_topic", altering(c, c.name("nowhere"), false, set("retention.ms", "1")));
            found.put("validate_only", altering(c, topic, true, set("retention.ms", "7000")));
            found.put("then", shown(c, topic, "retention.ms", "segment.ms"));
            return found;
        });
    }

    /** One aspect of every config that Kafka has, of a topic with one override. */
    private static void described(Checks suite, String aspect, Function<ConfigEntry, Object> of) {
        suite.check("admin.describe_configs." + aspect, c -> {
            var topic = c.create(c.name("described-" + aspect), 1, "retention.ms", "5000");
            var found = new TreeMap<String, Object>();
            for (var entry : describe(c, ConfigResource.Type.TOPIC, topic).entries()) {
                if (!entry.name().startsWith("streamstack.")) {
                    found.put(entry.name(), of.apply(entry));
                }
            }
            return found;
        });
    }

    private static void declareChanges(Checks suite) {
        suite.check("admin.alter_configs", c -> {
            var topic = c.create(c.name("altered"), 1, "retention.ms", "1000");
            var steps = List.of(List.of(set("retention.ms", "2000"), set("max.message.bytes", "5000")),
                List.of(change(OpType.DELETE, "retention.ms", null)), List.of(change(OpType.APPEND, "cleanup.policy", "compact")),
                List.of(change(OpType.SUBTRACT, "cleanup.policy", "delete")), List.of(change(OpType.DELETE, "cleanup.policy", null)));
            var seen = new ArrayList<Object>();
            for (var step : steps) {
                var done = altering(c, topic, false, step.toArray(AlterConfigOp[]::new));
                Thread.sleep(200);
                seen.add(List.of(done, shown(c, topic, "retention.ms", "max.message.bytes", "cleanup.policy")));
            }
            return seen;
        });
        suite.check("admin.alter_configs.cluster", c -> {
            var topic = c.create(c.name("inherits"), 1);
            var cluster = new ConfigResource(ConfigResource.Type.BROKER, "");
            var seen = new ArrayList<Object>();
            for (var step : List.of(set("log.segment.bytes", "99999999"), change(OpType.DELETE, "log.segment.bytes", null))) {
                var before = shown(c, topic, "segment.bytes");
                var done = altering(c, cluster, false, List.of(step));
                var after = shown(c, topic, "segment.bytes");
                // Kafka answers before its broker has taken the change over, and the value's source may change before the value.
                for (int tries = 0; tries < 100 && after.equals(before); tries++) {
                    Thread.sleep(100);
                    after = shown(c, topic, "segment.bytes");
                }
                Thread.sleep(500);
                seen.add(List.of(done, shown(c, topic, "segment.bytes")));
            }
            return seen;
        });
        suite.check("admin.alter_configs.takes_effect", c -> {
            var topic = c.create(c.name("effect"), 1);
            altering(c, topic, false, set("max.message.bytes", "1000"));
            Thread.sleep(300);
            return Checks.outcome(() -> c.produce(topic, 0, Client.recs("x".repeat(2000))));
        });
    }
}
