import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.DescribeClusterOptions;
import org.apache.kafka.clients.admin.DescribeConfigsOptions;
import org.apache.kafka.clients.admin.DescribeConsumerGroupsOptions;
import org.apache.kafka.clients.admin.DescribeTopicsOptions;
import org.apache.kafka.clients.admin.ListConsumerGroupOffsetsSpec;
import org.apache.kafka.clients.admin.ListTopicsOptions;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.acl.AccessControlEntryFilter;
import org.apache.kafka.common.acl.AclBindingFilter;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.quota.ClientQuotaFilter;
import org.apache.kafka.common.resource.ResourcePatternFilter;

/** What web consoles ask of a broker: the calls of kafka-ui and of AKHQ, in the order in which their pages make them. */
final class ConsoleChecks {
    private static final Map<String, OffsetSpec> SPECS = new TreeMap<>(Map.of("earliest", OffsetSpec.earliest(),
        "latest", OffsetSpec.latest(), "newest", OffsetSpec.maxTimestamp(), "local", OffsetSpec.earliestLocal(),
        "tiered", OffsetSpec.latestTiered(), "at a time", OffsetSpec.forTimestamp(0), "after all", OffsetSpec.forTimestamp(4_000_000_000_000L)));

    private ConsoleChecks() {}

    static void declare(Checks suite) {
        suite.check("calls.kafka-ui.cluster", ConsoleChecks::cluster);
        suite.check("calls.kafka-ui.features", ConsoleChecks::features);
        suite.check("calls.kafka-ui.quorum", c -> answered(() -> c.admin.describeMetadataQuorum().quorumInfo().get().leaderId()));
        suite.check("calls.kafka-ui.brokers", ConsoleChecks::brokers);
        suite.check("calls.kafka-ui.topics", ConsoleChecks::topics);
        suite.check("calls.kafka-ui.groups", ConsoleChecks::groups);
        suite.check("calls.kafka-ui.acls_and_quotas", ConsoleChecks::security);
        suite.check("calls.akhq.cluster", ConsoleChecks::akhqCluster);
        suite.check("calls.akhq.topic", ConsoleChecks::akhqTopic);
        suite.check("calls.akhq.groups", ConsoleChecks::akhqGroups);
    }

    /** The value, or the protocol's name of the error. */
    private static Object answered(Callable<Object> call) {
        var value = new Object[1];
        var outcome = Checks.outcome(() -> value[0] = call.call());
        return outcome.equals("ok") ? value[0] : outcome;
    }

    private static String topic(Client c) throws Exception {
        var topic = c.name("console");
        if (!c.partitionsOutcome(topic).equals("ok")) {
            c.create(topic, 2, "retention.ms", "-1");
            c.produce(topic, 0, List.of(Client.Rec.at(1000), Client.Rec.at(3000), Client.Rec.at(2000)));
            c.produce(topic, 1, Client.recs("one"));
        }
        return topic;
    }

    private static Collection<Integer> nodes(Client c) throws Exception {
        return c.admin.describeCluster().nodes().get().stream().map(node -> node.id()).toList();
    }

    private static Object cluster(Client c) throws Exception {
        var found = c.admin.describeCluster(new DescribeClusterOptions().includeAuthorizedOperations(true));
        var operations = found.authorizedOperations().get();
        return Map.of("nodes", found.nodes().get().size(), "controller", found.controller().get() != null, "id", found.clusterId().get() != null,
            "operations", operations == null ? "none" : names(operations));
    }

    private static List<String> names(Collection<?> values) {
        return values.stream().map(Object::toString).sorted().toList();
    }

    private static Object features(Client c) throws Exception {
        var found = c.admin.describeFeatures().featureMetadata().get();
        return Map.of("group.version", found.finalizedFeatures().containsKey("group.version"));
    }

    private static Object brokers(Client c) throws Exception {
        var topic = topic(c);
        var dirs = c.admin.describeLogDirs(nodes(c)).allDescriptions().get();
        var sizes = new TreeMap<String, Boolean>();
        dirs.values().forEach(node -> node.values().forEach(dir -> dir.replicaInfos().forEach((at, info) -> {
            if (at.topic().equals(topic)) {
                sizes.put(at.partition() + "", info.size() > 0);
            }
        })));
        var resources = nodes(c).stream().map(node -> new ConfigResource(ConfigResource.Type.BROKER, node + "")).toList();
        var configs = c.admin.describeConfigs(resources, new DescribeConfigsOptions().includeSynonyms(true).includeDocumentation(true)).all().get();
        return Map.of("sizes", sizes, "configs", configs.values().stream().allMatch(config -> config.get("log.dirs") != null));
    }

    private static Object topics(Client c) throws Exception {
        var topic = topic(c);
        var listed = c.admin.listTopics(new ListTopicsOptions().listInternal(true)).names().get().contains(topic);
        var described = c.admin.describeTopics(List.of(topic), new DescribeTopicsOptions().includeAuthorizedOperations(true))
            .allTopicNames().get().get(topic);
        var configs = c.admin.describeConfigs(List.of(new ConfigResource(ConfigResource.Type.TOPIC, topic))).all().get();
        var answer = new LinkedHashMap<String, Object>();
        answer.put("listed", listed);
        answer.put("partitions", described.partitions().size());
        answer.put("operations", described.authorizedOperations() == null ? "none" : names(described.authorizedOperations()));
        answer.put("configs", configs.values().iterator().next().entries().size() > 20);
        answer.put("offsets", offsets(c, topic));
        answer.put("reassignments", c.admin.listPartitionReassignments().reassignments().get().size());
        var producers = c.admin.describeProducers(List.of(new TopicPartition(topic, 0))).all().get();
        answer.put("producers", producers.values().stream().mapToInt(state -> state.activeProducers().size()).sum());
        return answer;
    }

    private static Map<String, Object> offsets(Client c, String topic) {
        var found = new LinkedHashMap<String, Object>();
        SPECS.forEach((name, spec) -> found.put(name, answered(() -> {
            var row = new ArrayList<Object>();
            var asked = Map.of(new TopicPartition(topic, 0), spec, new TopicPartition(topic, 1), spec);
            var told = new TreeMap<Integer, Long>();
            c.admin.listOffsets(asked).all().get().forEach((at, info) -> told.put(at.partition(), info.offset()));
            row.addAll(told.values());
            return row;
        })));
        return found;
    }

    private static Object groups(Client c) throws Exception {
        var topic = topic(c);
        var group = c.name("console");
        var position = Map.of(new TopicPartition(topic, 0), new OffsetAndMetadata(2, "from the console"));
        c.admin.alterConsumerGroupOffsets(group, position).all().get();
        var answer = new LinkedHashMap<String, Object>();
        answer.put("listed", c.admin.listGroups().all().get().stream().filter(one -> one.groupId().equals(group)).map(Object::toString).toList());
        var described = c.admin.describeConsumerGroups(List.of(group), new DescribeConsumerGroupsOptions().includeAuthorizedOperations(true)).all().get().get(group);
        answer.put("state", described.groupState().toString());
        answer.put("operations", described.authorizedOperations() == null ? "none" : names(described.authorizedOperations()));
        var specs = Map.of(group, new ListConsumerGroupOffsetsSpec(), c.name("no-group"), new ListConsumerGroupOffsetsSpec());
        var positions = new TreeMap<String, Object>();
        c.admin.listConsumerGroupOffsets(specs).all().get().forEach((name, offsets) -> positions.put(name, offsets.values().stream().map(OffsetAndMetadata::offset).toList()));
        answer.put("positions", positions);
        answer.put("forget", Checks.outcome(() -> c.admin.deleteConsumerGroupOffsets(group, position.keySet()).all().get()));
        answer.put("delete", Checks.outcome(() -> c.admin.deleteConsumerGroups(List.of(group)).all().get()));
        return answer;
    }

    private static Object security(Client c) {
        var acls = new AclBindingFilter(ResourcePatternFilter.ANY, AccessControlEntryFilter.ANY);
        return new TreeMap<>(Map.of(
            "acls", answered(() -> c.admin.describeAcls(acls).values().get().size()),
            "quotas", answered(() -> c.admin.describeClientQuotas(ClientQuotaFilter.all()).entities().get().size()),
            "users", answered(() -> c.admin.describeUserScramCredentials().all().get().size()),
            "tokens", answered(() -> c.admin.describeDelegationToken().delegationTokens().get().size())));
    }

    private static Object akhqCluster(Client c) throws Exception {
        var found = c.admin.describeCluster();
        var dirs = c.admin.describeLogDirs(nodes(c)).allDescriptions().get();
        return Map.of("nodes", found.nodes().get().size(), "controller", found.controller().get() != null, "dirs", dirs.size());
    }

    /** Configs are changed, and the topic is emptied by DeleteRecords. */
    private static Object akhqTopic(Client c) throws Exception {
        var topic = c.name("console-akhq");
        c.create(topic, 1);
        c.produce(topic, 0, Client.recs("a", "b"));
        var resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
        var changed = List.of(set("retention.ms", "86400000"), set("cleanup.policy", "delete"));
        var answer = new LinkedHashMap<String, Object>();
        answer.put("alter", Checks.outcome(() -> c.admin.incrementalAlterConfigs(Map.of(resource, changed)).all().get()));
        var set = new TreeSet<String>();
        c.admin.describeConfigs(List.of(resource)).all().get().get(resource).entries().forEach(entry -> {
            if (entry.source() == ConfigEntry.ConfigSource.DYNAMIC_TOPIC_CONFIG) {
                set.add(entry.name() + "=" + entry.value());
            }
        });
        answer.put("set", set);
        var all = Map.of(new TopicPartition(topic, 0), RecordsToDelete.beforeOffset(2));
        answer.put("empty", answered(() -> c.admin.deleteRecords(all).all().get()));
        answer.put("bounds", c.bounds(topic, 0).list());
        return answer;
    }

    private static AlterConfigOp set(String name, String value) {
        return new AlterConfigOp(new ConfigEntry(name, value), AlterConfigOp.OpType.SET);
    }

    private static Object akhqGroups(Client c) throws Exception {
        var topic = topic(c);
        var group = c.name("console-akhq");
        var positions = new HashMap<TopicPartition, OffsetAndMetadata>();
        positions.put(new TopicPartition(topic, 0), new OffsetAndMetadata(1));
        try (var consumer = c.consumer(Map.of("group.id", group))) {
            consumer.assign(List.of(new TopicPartition(topic, 0)));
            consumer.commitSync(positions);
        }
        var told = c.admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata().get();
        var described = c.admin.describeConsumerGroups(List.of(group)).all().get().get(group);
        return Map.of("positions", told.values().stream().map(OffsetAndMetadata::offset).toList(), "state", described.groupState().toString(),
            "simple", described.isSimpleConsumerGroup(), "delete", Checks.outcome(() -> c.admin.deleteConsumerGroups(List.of(group)).all().get()));
    }
}
