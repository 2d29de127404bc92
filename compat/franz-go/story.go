package main

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// byHand keeps the broker's own cuts out of the way.
var byHand = []string{"streamstack.seal.ms", "86400000"}

// story is the feed that the view checks read: four commits over two partitions, and a stream still open. The table
// stands in compat/README.md.
func story(c *client) string {
	topic := c.name("story")
	if c.partitionsOutcome(topic) == "ok" {
		return topic
	}
	c.create(topic, 2, byHand...)
	c.produce(topic, 0, chapter(0, 0, 3))
	c.produce(topic, 1, chapter(0, 1, 2))
	c.seal(topic, "first", []byte(`{"poll": 1}`))
	second := chapter(1, 0, 2)
	second[0].Headers = []kgo.RecordHeader{
		{Key: "streamstack-stream", Value: []byte("second")}, {Key: "kept", Value: []byte("1")}, {Key: "kept"},
	}
	second[1].Headers = []kgo.RecordHeader{{Key: "streamstack-seal", Value: []byte{}}}
	c.produce(topic, 0, second, kgo.ProducerLinger(50*time.Millisecond))
	time.Sleep(5 * time.Millisecond)
	c.seal(topic, "nothing", nil)
	c.produce(topic, 1, chapter(3, 1, 4))
	c.seal(topic, "fourth", nil)
	c.produce(topic, 0, chapter(4, 0, 2))
	return topic
}

func chapter(commit, partition, count int) []*kgo.Record {
	return numbered(fmt.Sprintf("c%dp%dn", commit, partition), count)
}

// seal ends the feed's implicit stream, then pauses so that seal times differ.
func (c *client) seal(topic, label string, metadata []byte) {
	c.produce(topic+"..seal", 0, []*kgo.Record{{Key: []byte(label), Value: metadata}})
	time.Sleep(5 * time.Millisecond)
}

type manifest struct {
	Commit, Stream int64
	Label          *string
	Kind, Reason   string
	Records        int64
	Sealed         int64
	Metadata       any
	Partitions     []struct{ Partition, Count int64 }
}

func manifests(c *client, topic string) []manifest {
	found := []manifest{}
	for _, r := range c.readAll(topic+"..commits", 0) {
		var one manifest
		must(json.Unmarshal(r.Value, &one))
		found = append(found, one)
	}
	return found
}

func sealTimes(c *client, topic string) []int64 {
	found := []int64{}
	for _, r := range c.readAll(topic+"..commits", 0) {
		found = append(found, r.Timestamp.UnixMilli())
	}
	return found
}

// content is, for each partition, the bounds and the values read to the end, which must stand at dense offsets.
func content(c *client, view string, partitions int32, committed bool) []any {
	found := []any{}
	for p := range partitions {
		isolation := []int8{}
		if committed {
			isolation = []int8{1}
		}
		begin, end := c.bounds(view, p, isolation...)
		records := c.read(reading{topic: view, partition: p, start: -1, committed: committed})
		for n, r := range records {
			if r.Offset != begin+int64(n) {
				panic(fmt.Sprintf("%s: offset %d where %d should stand", view, r.Offset, begin+int64(n)))
			}
		}
		if int64(len(records)) != end-begin {
			panic(fmt.Sprintf("%s: %d records in %d to %d", view, len(records), begin, end))
		}
		found = append(found, []any{begin, end, values(records)})
	}
	return found
}
