package main

import (
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// declareHistory: ..commits, ..streams and what offsets by time mean on views.
func declareHistory(s *suite) {
	s.check("feed.history.commits", func(c *client) answer {
		found := []any{}
		for _, r := range c.readAll(story(c)+"..commits", 0) {
			found = append(found, []any{r.Offset, text(r.Key)})
		}
		return found
	})
	s.check("feed.history.manifests", func(c *client) answer {
		found := []any{}
		for _, m := range manifests(c, story(c)) {
			found = append(found, object{
				"commit": m.Commit, "stream": m.Stream, "label": m.Label, "kind": m.Kind, "reason": m.Reason,
				"records": m.Records, "metadata": m.Metadata,
			})
		}
		return found
	})
	s.check("feed.history.manifests_count_what_is_read", func(c *client) answer {
		topic, told, read := story(c), []any{}, []any{}
		for n, m := range manifests(c, topic) {
			counts := []int64{0, 0}
			for _, p := range m.Partitions {
				counts[p.Partition] = p.Count
			}
			told = append(told, counts)
			view := topic + "..commit-" + string(rune('0'+n))
			read = append(read, []int{len(c.readAll(view, 0)), len(c.readAll(view, 1))})
		}
		return object{"told": told, "read": read}
	})
	s.check("feed.history.seal_times_rise", func(c *client) answer {
		times, told, now := sealTimes(c, story(c)), []int64{}, true
		for _, m := range manifests(c, story(c)) {
			told = append(told, m.Sealed)
			now = now && time.Since(time.UnixMilli(m.Sealed)).Abs() < 10*time.Minute
		}
		return object{"rising": slices.IsSorted(times), "manifest": slices.Equal(told, times), "now": now}
	})
	s.check("feed.history.streams", func(c *client) answer {
		found := []any{}
		for _, r := range c.readAll(story(c)+"..streams", 0) {
			found = append(found, text(r.Key))
		}
		return found
	})
	s.check("feed.history.for_times", func(c *client) answer {
		topic := story(c)
		times := sealTimes(c, topic)
		asked := append([]int64{0}, append(slices.Clone(times), times[len(times)-1]+1)...)
		first := func(view string, partition int32) []int64 {
			found := []int64{}
			for _, ms := range asked {
				offset, _, err := c.offset(topic+".."+view, partition, ms, 0)
				must(err)
				found = append(found, offset)
			}
			return found
		}
		return object{
			"feed": [][]int64{first("feed", 0), first("feed", 1)}, "commits": first("commits", 0), "since-1": first("since-1", 0)[0],
		}
	})
	s.check("feed.history.for_times_tell_the_seal_time", func(c *client) answer {
		topic := story(c)
		times := sealTimes(c, topic)
		_, first, err := c.offset(topic+"..feed", 0, 0, 0)
		must(err)
		_, second, err := c.offset(topic+"..feed", 0, times[0]+1, 0)
		must(err)
		return []bool{first == times[0], second == times[1]}
	})
	s.check("feed.history.seal_topic_is_empty", func(c *client) answer { return values(c.readAll(story(c)+"..seal", 0)) })
	declareCuts(s)
}

// declareCuts: the broker seals the implicit stream by itself.
func declareCuts(s *suite) {
	cut := func(c *client, topic string, commits int64) object {
		waitFor(wait, func() bool { _, end := c.bounds(topic+"..commits", 0); return end >= commits })
		found := []any{}
		for _, m := range manifests(c, topic) {
			found = append(found, []any{m.Reason, m.Records})
		}
		begin, end := c.bounds(topic+"..feed", 0)
		return object{"commits": found, "feed": []int64{begin, end}}
	}
	s.check("feed.cut.records", func(c *client) answer {
		topic := c.create(c.name("cut-records"), 1, append(byHand, "streamstack.seal.records", "5")...)
		got(c.tryProduce(topic, 0, each(strings.Split("0 1 2 3 4 5 6 7 8 9 10 11", " ")...)))
		return cut(c, topic, 2)
	})
	s.check("feed.cut.bytes", func(c *client) answer {
		topic, big := c.create(c.name("cut-bytes"), 1, append(byHand, "streamstack.seal.bytes", "1000")...), strings.Repeat("x", 400)
		got(c.tryProduce(topic, 0, each(big, big, big, big, big, big, big), kgo.ProducerBatchCompression(kgo.NoCompression())))
		return cut(c, topic, 2)
	})
	s.check("feed.cut.time", func(c *client) answer {
		topic := c.create(c.name("cut-time"), 1, "streamstack.seal.ms", "300")
		c.produce(topic, 0, batch("a", "b", "c"))
		first := cut(c, topic, 1)
		time.Sleep(time.Second)
		return object{"first": first, "no_empty_commit": len(manifests(c, topic))}
	})
}
