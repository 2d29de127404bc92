import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.MemberDescription;
import org.apache.kafka.common.TopicPartition;

/** Groups as an operator's Admin sees and changes them. */
final class GroupAsks {
    private final Admin admin;

    GroupAsks(Admin admin) {
        this.admin = admin;
    }

    void declare(Map<String, Members.Answer> asks) {
        asks.put("groups", ask -> groups());
        asks.put("group", ask -> described(group(ask)));
        asks.put("group_positions", ask -> positions(group(ask)));
        asks.put("move", ask -> admin.alterConsumerGroupOffsets(group(ask), Member.positionsOf(ask.get("positions"))).all().get());
        asks.put("forget", ask -> {
            var partitions = new HashSet<>(Member.partitionsOf(ask.get("of")));
            return admin.deleteConsumerGroupOffsets(group(ask), partitions).all().get();
        });
        asks.put("delete_group", ask -> admin.deleteConsumerGroups(List.of(group(ask))).all().get());
    }

    private static String group(JsonNode ask) {
        return ask.get("group").asText();
    }

    private Object groups() throws Exception {
        var rows = new ArrayList<Object>();
        for (var one : admin.listGroups().all().get()) {
            rows.add(Arrays.asList(one.groupId(), one.protocol(), text(one.groupState()), text(one.type()), one.isSimpleConsumerGroup()));
        }
        return rows;
    }

    private static String text(java.util.Optional<?> value) {
        return value.map(Object::toString).orElse(null);
    }

    private Object described(String group) throws Exception {
        var found = admin.describeConsumerGroups(List.of(group)).all().get().get(group);
        var told = new LinkedHashMap<String, Object>();
        told.put("state", found.groupState().toString());
        told.put("kind", found.type().toString());
        told.put("protocol", found.partitionAssignor());
        told.put("simple", found.isSimpleConsumerGroup());
        told.put("coordinator", found.coordinator().id());
        told.put("members", found.members().stream().map(GroupAsks::member).toList());
        return told;
    }

    private static Object member(MemberDescription found) {
        var told = new LinkedHashMap<String, Object>();
        told.put("client", found.clientId().startsWith("consumer-"));
        told.put("host", found.host());
        told.put("instance", found.groupInstanceId().orElse(null));
        told.put("partitions", found.assignment().topicPartitions().stream().map(GroupAsks::row).toList());
        return told;
    }

    private static List<Object> row(TopicPartition at) {
        return List.of(at.topic(), at.partition());
    }

    private Object positions(String group) throws Exception {
        var rows = new ArrayList<Object>();
        admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata().get()
            .forEach((at, position) -> rows.add(Member.row(at, position)));
        return rows;
    }
}
