import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.apache.kafka.clients.admin.CreatePartitionsOptions;
import org.apache.kafka.clients.admin.CreateTopicsOptions;
import org.apache.kafka.clients.admin.ListTopicsOptions;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.TopicCollection;
import org.apache.kafka.common.Uuid;

/** Topics and the cluster through Admin. */
final class TopicChecks {
    private static final CreateTopicsOptions DRY = new CreateTopicsOptions().validateOnly(true);

    private TopicChecks() {}

    /** Per partition its number, replicas, in-sync replicas and whether it has a leader. */
    private static List<Object> shape(Client c, String topic) throws Exception {
        var rows = new ArrayList<Object>();
        for (var p : c.describe(topic).partitions()) {
            rows.add(List.of(p.partition(), p.replicas().size(), p.isr().size(), p.leader() != null));
        }
        return rows;
    }

    private static String creating(Client c, String topic, int partitions, int replicas, String... configs) {
        return Checks.outcome(() -> c.tryCreate(topic, partitions, replicas, new CreateTopicsOptions(), configs));
    }

    static void declare(Checks suite) {
        declareCreates(suite);
        declareRefusedCreates(suite);
        declareDeletes(suite);
        declarePartitions(suite);
        declareCluster(suite);
    }

    private static void declareCreates(Checks suite) {
        suite.check("admin.create", c -> {
            var topic = c.create(c.name("made"), 4, "retention.ms", "1000000", "cleanup.policy", "compact");
            return Map.of("shape", shape(c, topic), "configs", ConfigChecks.shown(c, topic, "retention.ms", "cleanup.policy"));
        });
        suite.check("admin.create_defaults", c -> {
            var topic = c.name("defaults");
            var made = c.admin.createTopics(List.of(new NewTopic(topic, -1, (short) -1)));
            return Map.of("partitions", made.numPartitions(topic).get(), "replicas", made.replicationFactor(topic).get(),
                "configs", made.config(topic).get().entries().isEmpty(), "id", made.topicId(topic).get().equals(Uuid.ZERO_UUID));
        });
        suite.check("admin.create_validate_only", c -> {
            var topic = c.name("validated");
            return Map.of("good", Checks.outcome(() -> c.tryCreate(topic, 1, 1, DRY)),
                "bad", Checks.outcome(() -> c.tryCreate(topic, 0, 1, DRY)), "there", c.partitionsOutcome(topic));
        });
        suite.check("admin.create_assignment", c -> {
            var node = c.admin.describeCluster().nodes().get().iterator().next().id();
            var good = assigned(c, "assigned", Map.of(0, List.of(node), 1, List.of(node)));
            Checks.waitFor(5, () -> c.partitions(c.name("assigned")) == 2);
            return Map.of("good", good, "shape", shape(c, c.name("assigned")), "no_broker", assigned(c, "away", Map.of(0, List.of(999))),
                "hole", assigned(c, "hole", Map.of(0, List.of(node), 2, List.of(node))));
        });
    }

    private static String assigned(Client c, String name, Map<Integer, List<Integer>> replicas) {
        return Checks.outcome(() -> c.admin.createTopics(List.of(new NewTopic(c.name(name), replicas))).all().get());
    }

    private static void declareRefusedCreates(Checks suite) {
        suite.check("admin.create_exists", c -> {
            var topic = c.create(c.name("exists"), 1);
            return Map.of("same", creating(c, topic, 1, 1), "bad_replication", creating(c, topic, 1, 9999),
                "bad_partitions", creating(c, topic, 0, 1), "validate_only", Checks.outcome(() -> c.tryCreate(topic, 1, 1, DRY)));
        });
        suite.check("admin.create_bad_names", c -> {
            var names = Map.of("empty", "", "dot", ".", "dots", "..", "slash", "a/b", "space", "a b", "umlaut", "ä", "long", "x".repeat(250));
            var found = new HashMap<String, Object>();
            names.forEach((what, name) -> found.put(what, creating(c, name, 1, 1)));
            return found;
        });
        suite.check("admin.create_colliding_name", c -> {
            c.create(c.name("a.b"), 1);
            return creating(c, c.name("a_b"), 1, 1);
        });
        suite.check("admin.create_bad_counts", c -> Map.of("partitions_0", creating(c, c.name("none"), 0, 1),
            "partitions_-7", creating(c, c.name("none"), -7, 1), "replication_0", creating(c, c.name("none"), 1, 0),
            "replication_-7", creating(c, c.name("none"), 1, -7)));
        suite.check("admin.create_replication_3", c -> creating(c, c.name("three"), 1, 3));
        suite.check("admin.create_bad_configs", c -> Map.of(
            "unknown", creating(c, c.name("bad"), 1, 1, "no.such.config", "1"),
            "not_a_number", creating(c, c.name("bad"), 1, 1, "retention.ms", "soon"),
            "below_range", creating(c, c.name("bad"), 1, 1, "max.message.bytes", "-1"),
            "not_in_set", creating(c, c.name("bad"), 1, 1, "cleanup.policy", "burn"),
            "not_a_bool", creating(c, c.name("bad"), 1, 1, "preallocate", "perhaps")));
    }

    private static void declareDeletes(Checks suite) {
        suite.check("admin.delete", c -> {
            var topic = c.create(c.name("deleted"), 1);
            c.produce(topic, 0, Client.recs("old"));
            var first = Checks.outcome(() -> c.delete(topic));
            Checks.waitFor(5, () -> !c.partitionsOutcome(topic).equals("ok"));
            return Map.of("delete", first, "then", c.partitionsOutcome(topic), "again", Checks.outcome(() -> c.delete(topic)));
        });
        suite.check("admin.by_id", c -> {
            var topic = c.create(c.name("by-id"), 2);
            var ids = TopicCollection.ofTopicIds(List.of(c.describe(topic).topicId()));
            var found = c.admin.describeTopics(ids).allTopicIds().get().values().iterator().next();
            var deleted = Checks.outcome(() -> c.admin.deleteTopics(ids).all().get());
            Checks.waitFor(5, () -> !c.partitionsOutcome(topic).equals("ok"));
            return Map.of("name", found.name().equals(topic), "partitions", found.partitions().size(), "delete", deleted,
                "then", c.partitionsOutcome(topic), "describe_old_id", Checks.outcome(() -> c.admin.describeTopics(ids).allTopicIds().get()));
        });
        suite.check("admin.delete_and_create_again", c -> {
            var topic = c.create(c.name("again"), 2);
            c.produce(topic, 0, Client.recs("old", "older"));
            c.delete(topic);
            Checks.waitFor(Client.WAIT_S, () -> creating(c, topic, 1, 1).equals("ok"));
            Checks.waitFor(Client.WAIT_S, () -> c.partitions(topic) == 1);
            c.produce(topic, 0, Client.recs("new"));
            return Map.of("bounds", c.bounds(topic, 0).list(), "read", Client.values(c.read(topic, 0)), "shape", shape(c, topic));
        });
    }

    private static void declarePartitions(Checks suite) {
        suite.check("admin.create_partitions", c -> {
            var topic = c.create(c.name("grown"), 2);
            c.produce(topic, 1, Client.recs("before"));
            c.grow(topic, 5);
            Checks.waitFor(Client.WAIT_S, () -> c.partitions(topic) == 5);
            c.produce(topic, 4, Client.recs("after"));
            return Map.of("shape", shape(c, topic), "read", List.of(Client.values(c.read(topic, 1)), Client.values(c.read(topic, 4))));
        });
        suite.check("admin.create_partitions_refused", c -> {
            var topic = c.create(c.name("not-grown"), 3);
            var dry = new CreatePartitionsOptions().validateOnly(true);
            var four = Map.of(topic, NewPartitions.increaseTo(4));
            return Map.of("less", Checks.outcome(() -> c.grow(topic, 2)), "same", Checks.outcome(() -> c.grow(topic, 3)),
                "unknown", Checks.outcome(() -> c.grow(c.name("nowhere"), 3)),
                "validate_only", Checks.outcome(() -> c.admin.createPartitions(four, dry).all().get()), "then", c.partitions(topic));
        });
        suite.check("admin.describe_unknown", c -> c.partitionsOutcome(c.name("nowhere")));
    }

    private static void declareCluster(Checks suite) {
        suite.check("admin.list_topics", c -> {
            c.create(c.name("listed-1"), 1);
            c.create(c.name("listed-2"), 1);
            var names = new TreeSet<>(c.admin.listTopics(new ListTopicsOptions().listInternal(true)).names().get());
            names.removeIf(name -> !name.startsWith(c.name("listed")));
            return names;
        });
        suite.check("admin.describe_cluster", c -> {
            var found = c.admin.describeCluster();
            var nodes = found.nodes().get();
            return Map.of("nodes", nodes.size(), "controller", nodes.contains(found.controller().get()),
                "id", !found.clusterId().get().isEmpty(), "host", nodes.iterator().next().host());
        });
    }
}
