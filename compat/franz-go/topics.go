package main

import (
	"sort"
	"strings"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
)

// shape: per partition its number, replicas, in-sync replicas and whether it has a leader.
func shape(c *client, topic string) []any {
	found := got(c.admin.ListTopics(within(), topic))[topic]
	must(found.Err)
	rows := []any{}
	for _, p := range found.Partitions.Sorted() {
		rows = append(rows, []any{p.Partition, len(p.Replicas), len(p.ISR), p.Leader >= 0})
	}
	return rows
}

func (c *client) tryDelete(topic string) error {
	_, err := c.admin.DeleteTopic(within(), topic)
	return err
}

func (c *client) tryGrow(topic string, total int, ask func(*kadm.Client) (kadm.CreatePartitionsResponses, error)) error {
	answers, err := ask(c.admin)
	if err != nil {
		return err
	}
	_, err = answers.On(topic, nil)
	if err == nil {
		err = answers[topic].Err
	}
	return err
}

func (c *client) tryGrowTo(topic string, total int) error {
	return c.tryGrow(topic, total, func(a *kadm.Client) (kadm.CreatePartitionsResponses, error) {
		return a.UpdatePartitions(within(), total, topic)
	})
}

// declareTopics: topics and the cluster through kadm.
func declareTopics(s *suite) {
	declareCreates(s)
	s.check("admin.delete", func(c *client) answer {
		topic := c.create(c.name("deleted"), 1)
		c.produce(topic, 0, batch("old"))
		first := outcome(c.tryDelete(topic))
		waitFor(wait, func() bool { return c.partitionsOutcome(topic) != "ok" })
		return object{"delete": first, "then": c.partitionsOutcome(topic), "again": outcome(c.tryDelete(topic))}
	})
	s.check("admin.delete_and_create_again", func(c *client) answer {
		topic := c.create(c.name("again"), 2)
		before := c.metadata(topic).TopicID
		c.produce(topic, 0, batch("old", "older"))
		must(c.tryDelete(topic))
		waitFor(wait, func() bool { return c.tryCreate(topic, 1, 1) == nil })
		waitFor(wait, func() bool { return c.partitionsOutcome(topic) == "ok" })
		c.produce(topic, 0, batch("new"))
		begin, end := c.bounds(topic, 0)
		return object{
			"bounds": []int64{begin, end}, "read": values(c.readAll(topic, 0)), "shape": shape(c, topic),
			"another_id": c.metadata(topic).TopicID != before,
		}
	})
	s.check("admin.create_partitions", func(c *client) answer {
		topic := c.create(c.name("grown"), 2)
		c.produce(topic, 1, batch("before"))
		must(c.tryGrowTo(topic, 5))
		waitFor(wait, func() bool { n, _ := c.partitions(topic); return n == 5 })
		c.produce(topic, 4, batch("after"))
		return object{"shape": shape(c, topic), "read": []any{values(c.readAll(topic, 1)), values(c.readAll(topic, 4))}}
	})
	s.check("admin.create_partitions_refused", func(c *client) answer {
		topic := c.create(c.name("not-grown"), 3)
		validated := c.tryGrow(topic, 4, func(a *kadm.Client) (kadm.CreatePartitionsResponses, error) {
			return a.ValidateUpdatePartitions(within(), 4, topic)
		})
		return object{
			"less": outcome(c.tryGrowTo(topic, 2)), "same": outcome(c.tryGrowTo(topic, 3)),
			"unknown": outcome(c.tryGrowTo(c.name("nowhere"), 3)), "validate_only": outcome(validated),
			"then": got(c.partitions(topic)),
		}
	})
	s.check("admin.describe_unknown", func(c *client) answer { return c.partitionsOutcome(c.name("nowhere")) })
	s.check("admin.list_topics", func(c *client) answer {
		c.create(c.name("listed-1"), 1)
		c.create(c.name("listed-2"), 1)
		names := []string{}
		for name := range got(c.admin.ListTopics(within())) {
			if strings.HasPrefix(name, c.name("listed")) {
				names = append(names, name)
			}
		}
		sort.Strings(names)
		return names
	})
	s.check("admin.describe_cluster", func(c *client) answer {
		found := got(c.admin.BrokerMetadata(within()))
		ids := found.Brokers.NodeIDs()
		return object{"nodes": len(ids), "controller": found.Controller == ids[0], "id": found.Cluster != "", "host": found.Brokers[0].Host}
	})
}

func declareCreates(s *suite) {
	s.check("admin.create", func(c *client) answer {
		topic := c.create(c.name("made"), 4, "retention.ms", "1000000", "cleanup.policy", "compact")
		return object{"shape": shape(c, topic), "configs": shown(c, topic, "retention.ms", "cleanup.policy")}
	})
	s.check("admin.create_defaults", func(c *client) answer {
		response, err := c.admin.CreateTopic(within(), -1, -1, nil, c.name("defaults"))
		must(err)
		id := response.ID != kadm.TopicID{}
		return object{"partitions": response.NumPartitions, "replicas": response.ReplicationFactor, "configs": len(response.Configs) > 0, "id": id}
	})
	s.check("admin.create_exists", func(c *client) answer {
		topic := c.create(c.name("exists"), 1)
		_, validated := c.admin.ValidateCreateTopics(within(), 1, 1, nil, topic)
		if validated == nil {
			answers, _ := c.admin.ValidateCreateTopics(within(), 1, 1, nil, topic)
			validated = answers[topic].Err
		}
		return object{
			"same": outcome(c.tryCreate(topic, 1, 1)), "bad_replication": outcome(c.tryCreate(topic, 1, 9999)),
			"bad_partitions": outcome(c.tryCreate(topic, 0, 1)), "validate_only": outcome(validated),
		}
	})
	s.check("admin.create_bad_names", func(c *client) answer {
		names := object{"empty": "", "dot": ".", "dots": "..", "slash": "a/b", "space": "a b", "umlaut": "ä", "long": strings.Repeat("x", 250)}
		for what, name := range names {
			names[what] = outcome(c.tryCreate(name.(string), 1, 1))
		}
		return names
	})
	s.check("admin.create_colliding_name", func(c *client) answer {
		c.create(c.name("a.b"), 1)
		return outcome(c.tryCreate(c.name("a_b"), 1, 1))
	})
	s.check("admin.create_bad_counts", func(c *client) answer {
		return object{
			"partitions_0": outcome(c.tryCreate(c.name("none"), 0, 1)), "partitions_-7": outcome(c.tryCreate(c.name("none"), -7, 1)),
			"replication_0": outcome(c.tryCreate(c.name("none"), 1, 0)), "replication_-7": outcome(c.tryCreate(c.name("none"), 1, -7)),
		}
	})
	s.check("admin.create_replication_3", func(c *client) answer {
		return outcome(c.tryCreate(c.name("three"), 1, 3))
	})
	s.check("admin.create_bad_configs", func(c *client) answer {
		bad := map[string][]string{
			"unknown": {"no.such.config", "1"}, "not_a_number": {"retention.ms", "soon"},
			"below_range": {"max.message.bytes", "-1"}, "not_in_set": {"cleanup.policy", "burn"}, "not_a_bool": {"preallocate", "perhaps"},
		}
		found := object{}
		for what, config := range bad {
			found[what] = outcome(c.tryCreate(c.name("bad"), 1, 1, config...))
		}
		return found
	})
	s.check("admin.create_validate_only", func(c *client) answer {
		topic := c.name("validated")
		dry := func(partitions int32) string {
			answers, err := c.admin.ValidateCreateTopics(within(), partitions, 1, nil, topic)
			must(err)
			return outcome(answers[topic].Err)
		}
		return object{"good": dry(1), "bad": dry(0), "there": outcome(kerr.ErrorForCode(c.metadata(topic).ErrorCode))}
	})
}
