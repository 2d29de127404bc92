package main

import (
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// filled is a topic of 3 partitions with 100 records each, in batches of 10.
func filled(c *client) string {
	topic := c.name("filled")
	if c.partitionsOutcome(topic) == "ok" {
		return topic
	}
	c.create(topic, 3)
	for p := range int32(3) {
		batches := [][]*kgo.Record{}
		for n := range 10 {
			batches = append(batches, numbered(fmt.Sprintf("p%dn%d", p, n), 10))
		}
		got(c.tryProduce(topic, p, batches))
	}
	return topic
}

func timed(c *client) string {
	topic := c.name("timed")
	if c.partitionsOutcome(topic) != "ok" {
		c.create(topic, 1, "message.timestamp.before.max.ms", anyTime)
		for _, ms := range []int64{1000, 2000, 4000, 3000} {
			c.produce(topic, 0, at(ms))
		}
	}
	return topic
}

// declareFetch: reading by assign to the end, and offsets by time.
func declareFetch(s *suite) {
	s.check("fetch.to_end", func(c *client) answer {
		topic, found := filled(c), []any{}
		for p := range int32(3) {
			begin, end := c.bounds(topic, p)
			found = append(found, []any{begin, end, digest(c.readAll(topic, p))})
		}
		return found
	})
	s.check("fetch.middle_of_a_batch", func(c *client) answer {
		return values(c.read(reading{topic: filled(c), start: 57}))[:5]
	})
	s.check("fetch.empty", func(c *client) answer {
		topic := c.create(c.name("empty"), 1)
		begin, end := c.bounds(topic, 0)
		return object{"bounds": []int64{begin, end}, "read": values(c.readAll(topic, 0))}
	})
	s.check("fetch.out_of_range", func(c *client) answer {
		topic := filled(c)
		_, none := c.tryRead(reading{topic: topic, start: 1000, until: 1})
		reset := kgo.ConsumeResetOffset(kgo.NewOffset().AtStart())
		from := c.read(reading{topic: topic, start: 1000, until: 1, options: []kgo.Opt{reset}})
		return object{"none": outcome(none), "earliest": values(from)}
	})
	s.check("fetch.one_byte", func(c *client) answer {
		small := []kgo.Opt{kgo.FetchMaxBytes(1), kgo.FetchMaxPartitionBytes(1)}
		return digest(c.read(reading{topic: filled(c), partition: 1, start: -1, options: small}))
	})
	s.check("fetch.read_committed", func(c *client) answer {
		return digest(c.read(reading{topic: filled(c), partition: 2, start: -1, committed: true}))
	})
	s.check("fetch.sessions", func(c *client) answer {
		without := []kgo.Opt{kgo.MaxConcurrentFetches(1), kgo.DisableFetchSessions()}
		return digest(c.read(reading{topic: filled(c), start: -1, options: without}))
	})
	s.check("fetch.waits", func(c *client) answer {
		topic, found := c.create(c.name("waits"), 1), make(chan []*kgo.Record)
		long := []kgo.Opt{kgo.FetchMaxWait(5 * time.Second)}
		go func() {
			records, _ := c.tryRead(reading{topic: topic, until: 1, options: long})
			found <- records
		}()
		time.Sleep(time.Second)
		c.produce(topic, 0, batch("late"))
		return values(<-found)
	})
	s.check("offsets.for_times", func(c *client) answer {
		topic, found := timed(c), []any{}
		for _, ms := range []int64{0, 1000, 1001, 2500, 4000, 4001, newest} {
			offset, timestamp, err := c.offset(topic, 0, ms, 0)
			must(err)
			found = append(found, []int64{offset, timestamp})
		}
		return found
	})
	s.check("offsets.special_times", func(c *client) answer {
		topic, found := timed(c), []any{}
		for _, special := range []int64{latest, earliest, newest, -4, -5} {
			offset, timestamp, err := c.offset(topic, 0, special, 0)
			found = append(found, []any{offset, timestamp, outcome(err)})
		}
		return found
	})
	s.check("offsets.unknown_topic", func(c *client) answer {
		_, _, err := c.offset(c.name("nowhere"), 0, latest, 0)
		return outcome(err)
	})
	s.check("offsets.unknown_partition", func(c *client) answer {
		_, _, err := c.offset(filled(c), 77, latest, 0)
		return outcome(err)
	})
}
