import java.time.Duration;
import java.util.List;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.GlobalKTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;

/** What the applications do, between topics whose names begin with a prefix. */
final class Topologies {
    private final String prefix;
    private final StreamsBuilder builder = new StreamsBuilder();

    Topologies(String prefix) {
        this.prefix = prefix;
    }

    Topology named(String name) {
        switch (name) {
            case "counts" -> countsAndJoin();
            case "names" -> withGlobalTable();
            case "stores" -> stores();
            case "copy" -> copy();
            case "tables" -> tables();
            default -> throw new IllegalArgumentException("no topology " + name);
        }
        return builder.build();
    }

    private String topic(String name) {
        return prefix + "-" + name;
    }

    /** A word count, by way of a repartition topic; and a join of two tables. */
    private void countsAndJoin() {
        builder.<String, String>stream(topic("lines"))
            .flatMapValues(line -> List.of(line.split(" ")))
            .groupBy((key, word) -> word)
            .count(store("counts"))
            .toStream()
            .mapValues(count -> Long.toString(count))
            .to(topic("counts"));
        var users = builder.<String, String>table(topic("users"));
        var balances = builder.<String, String>table(topic("balances"));
        users.join(balances, (user, balance) -> user + " " + balance).toStream().to(topic("joined"));
    }

    private void withGlobalTable() {
        GlobalKTable<String, String> names = builder.globalTable(topic("names"), Materialized.as("names"));
        builder.<String, String>stream(topic("orders"))
            .join(names, (id, order) -> id, (order, name) -> order + " of " + name)
            .to(topic("named"));
    }

    /** Stores of all kinds, each with another kind of changelog. */
    private void stores() {
        var lines = builder.<String, String>stream(topic("lines"));
        var grouped = lines.groupBy((key, word) -> word);
        grouped.count(store("counts"));
        grouped.windowedBy(TimeWindows.ofSizeWithNoGrace(Duration.ofHours(1))).count(Materialized.as("windows"));
        var versions = Stores.persistentVersionedKeyValueStore("versions", Duration.ofHours(2));
        lines.toTable(Materialized.<String, String>as(versions).withKeySerde(Serdes.String()).withValueSerde(Serdes.String()));
    }

    /** From a view of a feed. */
    private void copy() {
        builder.stream(topic("orders") + "..feed", Consumed.with(Serdes.String(), Serdes.String()))
            .mapValues(value -> "copy of " + value)
            .to(topic("copies"));
    }

    /** A table and a global table of the same contents: what changes in the one, and what both say when they are asked. */
    private void tables() {
        var state = builder.<String, String>table(topic("state"));
        GlobalKTable<String, String> everywhere = builder.globalTable(topic("everywhere"));
        state.toStream().to(topic("changes"));
        builder.<String, String>stream(topic("questions"))
            .join(state, (question, value) -> question + ": " + value)
            .join(everywhere, (key, answer) -> key, (answer, value) -> answer + ", " + value)
            .to(topic("answers"));
    }

    private static Materialized<String, Long, KeyValueStore<Bytes, byte[]>> store(String name) {
        return Materialized.as(name);
    }
}
