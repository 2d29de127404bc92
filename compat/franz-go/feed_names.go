package main

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// names of views, as in SEMANTICS' table, on the story.
var names = []string{
	"feed", "commit-0", "commit-1", "commit-2", "commit-3", "commits-0-1", "commits-1-3", "commits-2-2", "since-0",
	"since-1", "since-3", "since-4", "upto-0", "upto-1", "upto-3", "stream-0", "stream-1", "stream-2", "stream-3",
	"named-first", "named-second", "named-nothing", "named-fourth",
}

const (
	minute = "20060102T1504Z"
	hour   = "2006010215"
	day    = "20060102"
)

// declareNames: every kind of name, read to the end.
func declareNames(s *suite) {
	for _, name := range names {
		s.check("feed.name."+name, func(c *client) answer { return content(c, story(c)+".."+name, 2, false) })
	}
	s.check("feed.name.stream-4_open", func(c *client) answer {
		view := story(c) + "..stream-4"
		return object{"read_uncommitted": content(c, view, 2, false), "read_committed": content(c, view, 2, true)}
	})
	s.check("feed.name.isolation_changes_nothing", func(c *client) answer { return content(c, story(c)+"..feed", 2, true) })
	s.check("feed.name.plain_topic_shows_the_open_stream", func(c *client) answer { return content(c, story(c), 2, false) })
	declareTimes(s)
	s.check("feed.name.original_bytes", func(c *client) answer {
		topic := story(c)
		plain, view := c.readAll(topic, 0)[3:5], c.readAll(topic+"..commit-1", 0)
		same := len(view) == 2
		for n, r := range view {
			p := plain[n]
			same = same && reflect.DeepEqual([]any{p.Key, p.Value, p.Headers, p.Timestamp}, []any{r.Key, r.Value, r.Headers, r.Timestamp})
		}
		return object{"as_on_the_plain_topic": same, "headers": headers(view)}
	})
	s.check("feed.name.read_from_the_middle", func(c *client) answer {
		return values(c.read(reading{topic: story(c) + "..feed", partition: 1, start: 3}))
	})
	s.check("feed.name.above_the_end", func(c *client) answer {
		_, err := c.tryRead(reading{topic: story(c) + "..commit-0", start: 4, until: 1})
		return outcome(err)
	})
	s.check("feed.name.large", func(c *client) answer {
		topic, same, bounds := c.create(c.name("large"), 2, byHand...), []bool{}, [][]int64{}
		for p := range int32(2) {
			for range 6 {
				c.produce(topic, p, numbered(strings.Repeat("x", 300), 500), kgo.ProducerBatchCompression(kgo.Lz4Compression()))
			}
		}
		c.seal(topic, "large", nil)
		for p := range int32(2) {
			same = append(same, digest(c.readAll(topic, p)) == digest(c.readAll(topic+"..commit-0", p)))
			begin, end := c.bounds(topic+"..feed", p)
			bounds = append(bounds, []int64{begin, end})
		}
		return object{"same": same, "bounds": bounds}
	})
}

func declareTimes(s *suite) {
	s.check("feed.name.finished_hour_and_day", func(c *client) answer {
		topic, now, found := story(c), time.Now().UTC(), []any{}
		for _, name := range []string{
			"hour-" + now.Add(-3*time.Hour).Format(hour),
			"day-" + now.AddDate(0, 0, -2).Format(day),
			fmt.Sprintf("sealed-%s-%s", now.Add(-9*time.Minute).Format(minute), now.Add(-5*time.Minute).Format(minute)),
		} {
			view := topic + ".." + name
			waitFor(wait, func() bool { return c.partitionsOutcome(view) == "ok" })
			found = append(found, content(c, view, 2, false))
		}
		return found
	})
	s.check("feed.name.unfinished_hour_and_day_wait", func(c *client) answer {
		topic, now := story(c), time.Now().UTC()
		return []string{
			c.partitionsOutcome(topic + "..hour-" + now.Format(hour)),
			c.partitionsOutcome(topic + "..day-" + now.Format(day)),
			c.partitionsOutcome(fmt.Sprintf("%s..sealed-%s-%s", topic, now.Add(-5*time.Minute).Format(minute), now.Add(5*time.Minute).Format(minute))),
		}
	})
}
