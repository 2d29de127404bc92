package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

const anyTime = "9223372036854775807"

// overhead of a batch of one record of a middle size without a key: batch head 61, record head and lengths 11.
const overhead = 72

// declareProduce: codecs, headers, timestamps, sizes, and what a broker refuses.
func declareProduce(s *suite) {
	s.check("produce.idempotent", func(c *client) answer {
		topic := c.create(c.name("idempotent"), 3)
		offsets, read := []any{}, []any{}
		for p := range int32(3) {
			offsets = append(offsets, c.produce(topic, p, numbered(fmt.Sprintf("p%dn", p), 10)))
			read = append(read, values(c.readAll(topic, p)))
		}
		return object{"offsets": offsets, "read": read}
	})
	codecs := map[string]kgo.CompressionCodec{
		"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(), "snappy": kgo.SnappyCompression(),
		"lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression(),
	}
	for _, name := range []string{"none", "gzip", "snappy", "lz4", "zstd"} {
		s.check("produce.codec."+name, func(c *client) answer {
			topic := c.create(c.name("codec-"+name), 1)
			records := numbered(strings.Repeat("compressible ", 40), 40)
			c.produce(topic, 0, records, kgo.ProducerBatchCompression(codecs[name]), kgo.ProducerLinger(50*time.Millisecond))
			return digest(c.readAll(topic, 0))
		})
	}
	s.check("produce.headers", func(c *client) answer {
		topic := c.create(c.name("headers"), 1)
		records := batch("v", "plain")
		records[0].Headers = []kgo.RecordHeader{
			{Key: "a", Value: []byte("1")}, {Key: "b"}, {Key: "a", Value: []byte("2")},
			{Key: "empty", Value: []byte{}}, {Key: "", Value: []byte("no name")}, {Key: "a", Value: []byte("1")},
		}
		c.produce(topic, 0, records)
		return headers(c.readAll(topic, 0))
	})
	s.check("produce.null_and_empty", func(c *client) answer {
		topic := c.create(c.name("nothing"), 1)
		records := []*kgo.Record{}
		for _, key := range [][]byte{[]byte("k"), nil, {}} {
			for _, value := range [][]byte{[]byte("v"), nil, {}} {
				records = append(records, &kgo.Record{Key: key, Value: value})
			}
		}
		c.produce(topic, 0, records)
		found := []any{}
		for _, r := range c.readAll(topic, 0) {
			found = append(found, []any{text(r.Key), text(r.Value)})
		}
		return found
	})
	s.check("produce.timestamps", func(c *client) answer {
		topic := c.create(c.name("timestamps"), 1, "message.timestamp.before.max.ms", anyTime)
		c.produce(topic, 0, at(1000, 5000, 3000))
		found := []any{}
		for _, r := range c.readAll(topic, 0) {
			found = append(found, []any{r.Attrs.TimestampType(), r.Timestamp.UnixMilli()})
		}
		return found
	})
	s.check("produce.log_append_time", func(c *client) answer {
		topic := c.create(c.name("append-time"), 1, "message.timestamp.type", "LogAppendTime")
		c.produce(topic, 0, at(1000, 5000))
		found := []any{}
		for _, r := range c.readAll(topic, 0) {
			found = append(found, []any{r.Attrs.TimestampType(), time.Since(r.Timestamp).Abs() < time.Minute})
		}
		return found
	})
	declareSizes(s)
	declareRefusedProduces(s)
	s.check("produce.many", func(c *client) answer {
		topic := c.create(c.name("many"), 1)
		c.produce(topic, 0, numbered(strings.Repeat("x", 200), 5000))
		return digest(c.readAll(topic, 0))
	})
}

func declareSizes(s *suite) {
	sized := func(c *client, topic string, limit int) answer {
		send := func(size int) string {
			_, err := c.tryProduce(topic, 0, each(strings.Repeat("x", size)),
				kgo.ProducerBatchMaxBytes(4_000_000), kgo.ProducerBatchCompression(kgo.NoCompression()))
			return outcome(err)
		}
		answers, lengths := object{"at": send(limit - overhead), "over": send(limit - overhead + 1)}, []int{}
		for _, r := range c.readAll(topic, 0) {
			lengths = append(lengths, len(r.Value)-limit+overhead)
		}
		answers["read"] = lengths
		return answers
	}
	s.check("produce.max_message_bytes.default", func(c *client) answer {
		return sized(c, c.create(c.name("size-default"), 1), 1_048_588)
	})
	s.check("produce.max_message_bytes.small", func(c *client) answer {
		return sized(c, c.create(c.name("size-small"), 1, "max.message.bytes", "20000"), 20_000)
	})
	for name, acks := range map[string]kgo.Acks{"0": kgo.NoAck(), "1": kgo.LeaderAck()} {
		s.check("produce.acks_"+name, func(c *client) answer {
			topic := c.create(c.name("acks-"+name), 1)
			c.produce(topic, 0, batch("a", "b"), kgo.RequiredAcks(acks), kgo.DisableIdempotentWrite())
			return values(c.read(reading{topic: topic, until: 2}))
		})
	}
	s.check("produce.auto_create", func(c *client) answer {
		topic := c.name("auto")
		c.produce(topic, 0, batch("v"), kgo.AllowAutoTopicCreation(), kgo.UnknownTopicRetries(20))
		return object{"partitions": got(c.partitions(topic)), "read": values(c.readAll(topic, 0))}
	})
}

func declareRefusedProduces(s *suite) {
	s.check("produce.compacted_null_key", func(c *client) answer {
		topic := c.create(c.name("compacted"), 1, "cleanup.policy", "compact")
		_, keyed := c.tryProduce(topic, 0, [][]*kgo.Record{{{Key: []byte("k"), Value: []byte("v")}}})
		_, unkeyed := c.tryProduce(topic, 0, each("v"))
		return object{"keyed": outcome(keyed), "unkeyed": outcome(unkeyed)}
	})
	s.check("produce.timestamp_too_old", func(c *client) answer {
		topic := c.create(c.name("too-old"), 1, "message.timestamp.before.max.ms", "3600000")
		_, err := c.tryProduce(topic, 0, [][]*kgo.Record{at(1000)})
		return outcome(err)
	})
}

func numbered(prefix string, count int) []*kgo.Record {
	records := []*kgo.Record{}
	for n := range count {
		record := &kgo.Record{Key: fmt.Appendf(nil, "k%d", n), Value: fmt.Appendf(nil, "%s%d", prefix, n)}
		records = append(records, record)
	}
	return records
}

func at(times ...int64) []*kgo.Record {
	records := []*kgo.Record{}
	for _, ms := range times {
		records = append(records, &kgo.Record{Value: fmt.Appendf(nil, "at %d", ms), Timestamp: time.UnixMilli(ms)})
	}
	return records
}
