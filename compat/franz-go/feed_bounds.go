package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// declareBounds: bounded names before, at and after their seal, and names that follow.
func declareBounds(s *suite) {
	s.check("feed.bounded.before_waits", func(c *client) answer {
		topic, found := story(c), object{}
		for _, name := range []string{"commit-9", "commits-3-9", "upto-9", "since-9", "stream-9", "named-nobody"} {
			found[name] = c.partitionsOutcome(topic + ".." + name)
		}
		return found
	})
	s.check("feed.bounded.at_and_after", func(c *client) answer {
		topic := c.create(c.name("bounded"), 1, byHand...)
		view := topic + "..commit-0"
		c.produce(topic, 0, batch("a", "b", "c"))
		before, found := c.partitionsOutcome(view), make(chan any)
		go func() {
			waitFor(wait, func() bool { return c.partitionsOutcome(view) == "ok" })
			found <- answerOf(check{run: func(c *client) answer { return content(c, view, 1, false) }}, c)
		}()
		time.Sleep(500 * time.Millisecond)
		c.seal(topic, "now", nil)
		at := <-found
		c.produce(topic, 0, batch("d"))
		c.seal(topic, "later", nil)
		return object{"before": before, "at": at, "after": content(c, view, 1, false)}
	})
	s.check("feed.bounded.a_waiting_reader_gets_it_whole", func(c *client) answer {
		topic := c.create(c.name("patient"), 1, byHand...)
		return readWhile(c, reading{topic: topic + "..upto-1", until: 5}, func() {
			c.sealedBatch(topic, "a", "b")
			c.sealedBatch(topic, "c", "d", "e")
		})
	})
	s.check("feed.follow", func(c *client) answer {
		topic := c.create(c.name("followed"), 1, byHand...)
		return readWhile(c, reading{topic: topic + "..feed", until: 3}, func() {
			c.sealedBatch(topic, "a")
			c.sealedBatch(topic, "b", "c")
		})
	})
	s.check("feed.name.sealed_window", func(c *client) answer {
		topic, begin := c.create(c.name("window"), 1, byHand...), time.Now().UTC()
		c.sealedBatch(topic, "in the window")
		end := time.Now().UTC().Add(time.Minute)
		view := fmt.Sprintf("%s..sealed-%s-%s", topic, begin.Format(minute), end.Format(minute))
		before := c.partitionsOutcome(view)
		waitFor(75*time.Second, func() bool { return c.partitionsOutcome(view) == "ok" })
		c.sealedBatch(topic, "after it")
		return object{"before": before, "after": content(c, view, 1, false), "feed": content(c, topic+"..feed", 1, false)}
	})
}

// sealedBatch makes the values one commit, after a while.
func (c *client) sealedBatch(topic string, values ...string) {
	time.Sleep(300 * time.Millisecond)
	c.produce(topic, 0, batch(values...))
	c.seal(topic, "next", nil)
}

func readWhile(c *client, r reading, write func()) answer {
	type result struct {
		records []*kgo.Record
		err     error
	}
	done := make(chan result)
	go func() {
		records, err := c.tryRead(r)
		done <- result{records, err}
	}()
	write()
	found := <-done
	must(found.err)
	return values(found.records)
}

var malformed = []string{
	"bogus", "commit-", "commit-x", "commit-01", "commits-3-1", "commits-1", "since-", "upto-x", "stream-x",
	"sealed-20260101T0900Z", "sealed-20260101T1000Z-20260101T0900Z", "hour-20260101", "day-20261301", "named-",
	"feed..best", "live", "stream-0..latest", "commits..dedup",
}

// declareRefusals: what no view may be asked for.
func declareRefusals(s *suite) {
	each := func(c *client, names []string) answer {
		found, topic := object{}, story(c)
		for _, name := range names {
			found[name] = c.partitionsOutcome(topic + ".." + name)
		}
		return found
	}
	s.check("feed.refused.unknown_feed", func(c *client) answer { return c.partitionsOutcome(c.name("nosuch") + "..feed") })
	s.check("feed.refused.malformed", func(c *client) answer { return each(c, malformed) })
	s.check("feed.refused.writes", func(c *client) answer {
		view, begin := story(c)+"..feed", time.Now()
		_, produced := c.tryProduce(view, 0, [][]*kgo.Record{batch("v")})
		_, toCommits := c.tryProduce(story(c)+"..commits", 0, [][]*kgo.Record{batch("v")})
		return object{
			"produce": outcome(produced), "produce_to_commits": outcome(toCommits),
			"create": outcome(c.tryCreate(view, 1, 1)), "create_unknown": outcome(c.tryCreate(c.name("fresh")+"..feed", 1, 1)),
			"create_partitions": outcome(c.tryGrowTo(view, 9)),
			"alter_configs":     outcome(tryAlter(c, view, set("retention.ms", "1"))),
			"delete":            outcome(c.tryDelete(view)), "without_retry": time.Since(begin) < 10*time.Second,
		}
	})
	s.check("feed.refused.with_a_message", func(c *client) answer {
		response, _ := c.admin.CreateTopic(within(), 1, 1, nil, c.name("fresh")+"..feed")
		return response.ErrMessage != ""
	})
	s.check("feed.hidden_from_all_topics", func(c *client) answer {
		found := []string{}
		story(c)
		for name := range got(c.admin.ListTopicsWithInternal(within())) {
			if strings.Contains(name, "..") {
				found = append(found, name)
			}
		}
		return found
	})
	s.check("feed.described", func(c *client) answer {
		found, topic := object{}, story(c)
		for _, name := range []string{"feed", "commit-0", "commits", "streams", "seal"} {
			found[name] = len(shape(c, topic+".."+name))
		}
		return found
	})
	s.check("feed.topic_ids", func(c *client) answer {
		one, again := c.metadata(story(c)+"..feed").TopicID, c.metadata(story(c)+"..feed").TopicID
		two := c.metadata(story(c) + "..commit-0").TopicID
		return object{"given": one != [16]byte{}, "stable": one == again, "differ": one != two && one != c.metadata(story(c)).TopicID}
	})
	s.check("feed.deleted", func(c *client) answer {
		topic := c.create(c.name("gone"), 1, byHand...)
		c.sealedBatch(topic, "v")
		before := content(c, topic+"..commit-0", 1, false)
		must(c.tryDelete(topic))
		return object{"before": before, "after": c.partitionsOutcome(topic + "..commit-0")}
	})
}
