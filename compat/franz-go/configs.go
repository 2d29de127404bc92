package main

import (
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// describe asks DescribeConfigs with synonyms and documentation, for a topic or a broker.
func describe(c *client, kind kmsg.ConfigResourceType, name string) (map[string]kmsg.DescribeConfigsResponseResourceConfig, error) {
	request := kmsg.NewPtrDescribeConfigsRequest()
	request.IncludeSynonyms, request.IncludeDocumentation = true, true
	resource := kmsg.NewDescribeConfigsRequestResource()
	resource.ResourceType, resource.ResourceName = kind, name
	request.Resources = append(request.Resources, resource)
	response, err := request.RequestWith(within(), c.raw)
	if err != nil {
		return nil, err
	}
	found := map[string]kmsg.DescribeConfigsResponseResourceConfig{}
	for _, config := range response.Resources[0].Configs {
		if !strings.HasPrefix(config.Name, "streamstack.") {
			found[config.Name] = config
		}
	}
	return found, kerr.ErrorForCode(response.Resources[0].ErrorCode)
}

func topicConfigs(c *client, topic string) map[string]kmsg.DescribeConfigsResponseResourceConfig {
	return got(describe(c, kmsg.ConfigResourceTypeTopic, topic))
}

func shown(c *client, topic string, names ...string) object {
	found, all := object{}, topicConfigs(c, topic)
	for _, name := range names {
		found[name] = []any{all[name].Value, all[name].Source.String()}
	}
	return found
}

func set(name, value string) kadm.AlterConfig {
	return kadm.AlterConfig{Op: kadm.SetConfig, Name: name, Value: &value}
}

func tryAlter(c *client, topic string, changes ...kadm.AlterConfig) error {
	answers, err := c.admin.AlterTopicConfigs(within(), changes, topic)
	if err != nil {
		return err
	}
	return answers[0].Err
}

// declareConfigs: described, changed step by step, and refused.
func declareConfigs(s *suite) {
	parts := map[string]func(kmsg.DescribeConfigsResponseResourceConfig) any{
		"values":  func(e kmsg.DescribeConfigsResponseResourceConfig) any { return e.Value },
		"sources": func(e kmsg.DescribeConfigsResponseResourceConfig) any { return e.Source.String() },
		"types":   func(e kmsg.DescribeConfigsResponseResourceConfig) any { return e.ConfigType.String() },
		"flags":   func(e kmsg.DescribeConfigsResponseResourceConfig) any { return []bool{e.ReadOnly, e.IsSensitive} },
		"documented": func(e kmsg.DescribeConfigsResponseResourceConfig) any {
			return e.Documentation != nil && *e.Documentation != ""
		},
	}
	for _, part := range []string{"values", "sources", "types", "flags", "documented"} {
		s.check("admin.describe_configs."+part, func(c *client) answer {
			topic, found := c.create(c.name("described-"+part), 1), object{}
			for name, entry := range topicConfigs(c, topic) {
				found[name] = parts[part](entry)
			}
			return found
		})
	}
	s.check("admin.describe_configs.unknown", func(c *client) answer {
		_, err := describe(c, kmsg.ConfigResourceTypeTopic, c.name("nowhere"))
		return outcome(err)
	})
	s.check("admin.describe_configs.broker_names", func(c *client) answer {
		node := got(c.admin.ListBrokers(within())).NodeIDs()[0]
		found, err := describe(c, kmsg.ConfigResourceTypeBroker, strconv.Itoa(int(node)))
		must(err)
		there := object{}
		for _, name := range []string{"num.partitions", "message.max.bytes", "auto.create.topics.enable", "log.dirs", "listeners", "log.retention.hours"} {
			entry, ok := found[name]
			there[name] = []any{ok, entry.ConfigType.String()}
		}
		return there
	})
	s.check("admin.alter_configs", func(c *client) answer {
		topic := c.create(c.name("altered"), 1, "retention.ms", "1000")
		compact, remove := "compact", "delete"
		steps := [][]kadm.AlterConfig{
			{set("retention.ms", "2000"), set("max.message.bytes", "5000")},
			{{Op: kadm.DeleteConfig, Name: "retention.ms"}},
			{{Op: kadm.AppendConfig, Name: "cleanup.policy", Value: &compact}},
			{{Op: kadm.SubtractConfig, Name: "cleanup.policy", Value: &remove}},
			{{Op: kadm.DeleteConfig, Name: "cleanup.policy"}},
		}
		seen := []any{}
		for _, step := range steps {
			done := outcome(tryAlter(c, topic, step...))
			time.Sleep(200 * time.Millisecond)
			seen = append(seen, []any{done, shown(c, topic, "retention.ms", "max.message.bytes", "cleanup.policy")})
		}
		return seen
	})
	s.check("admin.alter_configs.refused", func(c *client) answer {
		topic, one := c.create(c.name("unaltered"), 1), "1"
		dry := got(c.admin.ValidateAlterTopicConfigs(within(), []kadm.AlterConfig{set("retention.ms", "7000")}, topic))
		return object{
			"unknown_config":     outcome(tryAlter(c, topic, set("no.such.config", "1"))),
			"bad_value":          outcome(tryAlter(c, topic, set("retention.ms", "soon"))),
			"bad_value_and_good": outcome(tryAlter(c, topic, set("retention.ms", "soon"), set("segment.ms", "7000"))),
			"append_to_number":   outcome(tryAlter(c, topic, kadm.AlterConfig{Op: kadm.AppendConfig, Name: "retention.ms", Value: &one})),
			"unknown_topic":      outcome(tryAlter(c, c.name("nowhere"), set("retention.ms", "1"))),
			"validate_only":      outcome(dry[0].Err),
			"then":               shown(c, topic, "retention.ms", "segment.ms"),
		}
	})
	s.check("admin.alter_configs.cluster", func(c *client) answer {
		topic, seen := c.create(c.name("inherits"), 1), []any{}
		steps := []kadm.AlterConfig{set("message.max.bytes", "777000"), {Op: kadm.DeleteConfig, Name: "message.max.bytes"}}
		for _, step := range steps {
			before := shown(c, topic, "max.message.bytes")
			answers := got(c.admin.AlterBrokerConfigs(within(), []kadm.AlterConfig{step}))
			after := shown(c, topic, "max.message.bytes")
			// Kafka answers before its broker has taken the change over, and the value's source may change before the value.
			for tries := 0; tries < 100 && reflect.DeepEqual(before, after); tries++ {
				time.Sleep(100 * time.Millisecond)
				after = shown(c, topic, "max.message.bytes")
			}
			time.Sleep(500 * time.Millisecond)
			seen = append(seen, []any{outcome(answers[0].Err), shown(c, topic, "max.message.bytes")})
		}
		return seen
	})
	s.check("admin.legacy_alter_configs", func(c *client) answer {
		topic := c.create(c.name("legacy"), 1, "retention.ms", "1000", "segment.ms", "5000")
		answers := got(c.admin.AlterTopicConfigsState(within(), []kadm.AlterConfig{set("retention.ms", "3000")}, topic))
		time.Sleep(200 * time.Millisecond)
		return []any{outcome(answers[0].Err), shown(c, topic, "retention.ms", "segment.ms")}
	})
}
