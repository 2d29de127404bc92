import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/** Every kind of name of a view, read to the end. */
final class NameChecks {
    private static final List<String> NAMES = List.of(
        "feed", "commit-0", "commit-1", "commit-2", "commit-3", "commits-0-1", "commits-1-3", "commits-2-2", "since-0",
        "since-1", "since-3", "since-4", "upto-0", "upto-1", "upto-3", "stream-0", "stream-1", "stream-2", "stream-3",
        "named-first", "named-second", "named-nothing", "named-fourth");
    private static final DateTimeFormatter MINUTE = DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmm'Z'");
    private static final DateTimeFormatter HOUR = DateTimeFormatter.ofPattern("yyyyMMddHH");
    private static final DateTimeFormatter DAY = DateTimeFormatter.ofPattern("yyyyMMdd");

    private NameChecks() {}

    static void declare(Checks suite) {
        for (var name : NAMES) {
            suite.check("feed.name." + name, c -> Story.content(c, Story.feed(c) + ".." + name, 2));
        }
        suite.check("feed.name.stream-4_open", c -> {
            var view = Story.feed(c) + "..stream-4";
            return Map.of("read_uncommitted", Story.content(c, view, 2), "read_committed", Story.content(c, view, 2, Client.COMMITTED));
        });
        suite.check("feed.name.isolation_changes_nothing", c -> Story.content(c, Story.feed(c) + "..feed", 2, Client.COMMITTED));
        suite.check("feed.name.plain_topic_shows_the_open_stream", c -> Story.content(c, Story.feed(c), 2));
        declareTimes(suite);
        suite.check("feed.name.original_bytes", c -> {
            var view = c.read(Story.feed(c) + "..commit-1", 0);
            var plain = c.read(Story.feed(c), 0).subList(3, 5);
            var same = view.size() == 2 && same(plain.get(0), view.get(0)) && same(plain.get(1), view.get(1));
            return Map.of("as_on_the_plain_topic", same, "headers", Client.headers(view));
        });
        suite.check("feed.name.read_from_the_middle", c -> Client.values(c.readFrom(Story.feed(c) + "..feed", 1, 3, Map.of())));
        suite.check("feed.name.above_the_end", c -> Checks.outcome(() -> c.readSome(Story.feed(c) + "..commit-0", 0, 4, 1, Map.of())));
        suite.check("feed.name.large", c -> {
            var topic = c.create(c.name("large"), 2, Story.BY_HAND);
            var same = new ArrayList<Boolean>();
            for (int p = 0; p < 2; p++) {
                var part = Client.numbered("x".repeat(300), 500);
                c.produce(topic, p, List.of(part, part, part, part, part, part), Map.of("compression.type", "lz4"));
            }
            Story.seal(c, topic, "large", null);
            for (int p = 0; p < 2; p++) {
                same.add(Client.digest(c.read(topic, p)).equals(Client.digest(c.read(topic + "..commit-0", p))));
            }
            return Map.of("same", same, "bounds", List.of(c.bounds(topic + "..feed", 0).list(), c.bounds(topic + "..feed", 1).list()));
        });
    }

    private static boolean same(ConsumerRecord<byte[], byte[]> a, ConsumerRecord<byte[], byte[]> b) {
        return Arrays.equals(a.key(), b.key()) && Arrays.equals(a.value(), b.value()) && a.headers().equals(b.headers())
            && a.timestamp() == b.timestamp() && a.timestampType() == b.timestampType();
    }

    private static void declareTimes(Checks suite) {
        suite.check("feed.name.finished_hour_and_day", c -> {
            var topic = Story.feed(c);
            var now = OffsetDateTime.now(ZoneOffset.UTC);
            var found = new ArrayList<Object>();
            for (var name : List.of("hour-" + now.minusHours(3).format(HOUR), "day-" + now.minusDays(2).format(DAY), sealed(now.minusMinutes(9), now.minusMinutes(5)))) {
                Checks.waitFor(Client.WAIT_S, () -> c.partitions(topic + ".." + name) == 2);
                found.add(Story.content(c, topic + ".." + name, 2));
            }
            return found;
        });
        suite.check("feed.name.unfinished_hour_and_day_wait", c -> {
            var topic = Story.feed(c) + "..";
            var now = OffsetDateTime.now(ZoneOffset.UTC);
            return List.of(c.partitionsOutcome(topic + "hour-" + now.format(HOUR)), c.partitionsOutcome(topic + "day-" + now.format(DAY)),
                c.partitionsOutcome(topic + sealed(now.minusMinutes(5), now.plusMinutes(5))));
        });
        suite.check("feed.name.sealed_window", c -> {
            var topic = c.create(c.name("window"), 1, Story.BY_HAND);
            var begin = OffsetDateTime.now(ZoneOffset.UTC);
            Story.sealedBatch(c, topic, "in the window");
            var view = topic + ".." + sealed(begin, OffsetDateTime.now(ZoneOffset.UTC).plusMinutes(1));
            var before = c.partitionsOutcome(view);
            Checks.waitFor(75, () -> c.partitions(view) == 1);
            Story.sealedBatch(c, topic, "after it");
            return Map.of("before", before, "after", Story.content(c, view, 1), "feed", Story.content(c, topic + "..feed", 1));
        });
    }

    private static String sealed(OffsetDateTime from, OffsetDateTime to) {
        return "sealed-" + from.format(MINUTE) + "-" + to.format(MINUTE);
    }
}
