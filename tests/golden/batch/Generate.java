// Writes the golden batches beside this file with Apache Kafka's own writer. To write them anew:
//   java -cp 'kafka-clients-4.3.1.jar:lz4-java.jar:snappy-java.jar:zstd-jni.jar:slf4j-api.jar' Generate.java <folder>
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.HexFormat;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.record.*;
import org.apache.kafka.common.record.internal.*;

public class Generate {
    static Path folder;

    public static void main(String[] args) throws Exception {
        folder = Path.of(args[0]);
        for (CompressionType type : CompressionType.values())
            write(type.name, batch(Compression.of(type).build(), TimestampType.CREATE_TIME));
        write("log-append-time", batch(Compression.of(CompressionType.NONE).build(), TimestampType.LOG_APPEND_TIME));
        for (ControlRecordType type : new ControlRecordType[] {ControlRecordType.COMMIT, ControlRecordType.ABORT})
            write(type.name().toLowerCase() + "-marker", MemoryRecords.withEndTransactionMarker(
                42, 1767225600000L, 0, 7, (short) 3, new EndTransactionMarker(type, 11)).buffer());
    }

    static ByteBuffer batch(Compression compression, TimestampType timestampType) {
        MemoryRecordsBuilder builder = new MemoryRecordsBuilder(ByteBuffer.allocate(4096), RecordBatch.MAGIC_VALUE_V2,
            compression, timestampType, 100L, 1767225600999L, 7L, (short) 3, 5, true, false, 0, 4096);
        Header[] headers = {header("a", "1"), header("b", null), header("a", "2"), header("", "")};
        builder.appendWithOffset(100, 1767225600000L, bytes("key"), bytes("value"), headers);
        builder.appendWithOffset(101, 1767225600500L, bytes("key"), null, new Header[0]);
        builder.appendWithOffset(102, 1767225599000L, null, bytes("x".repeat(300)), new Header[0]);
        return builder.build().buffer();
    }

    static Header header(String key, String value) {
        return new RecordHeader(key, bytes(value));
    }

    static byte[] bytes(String text) {
        return text == null ? null : text.getBytes(StandardCharsets.UTF_8);
    }

    static void write(String name, ByteBuffer batch) throws Exception {
        byte[] bytes = new byte[batch.remaining()];
        batch.duplicate().get(bytes);
        Files.writeString(folder.resolve(name + ".hex"), HexFormat.of().formatHex(bytes) + "\n");
    }
}
