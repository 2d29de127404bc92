package main

import (
	"sort"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// declareConsole: the calls of Redpanda Console, which are kadm's and requests of kmsg.
func declareConsole(s *suite) {
	s.check("calls.console.overview", consoleOverview)
	s.check("calls.console.topics", consoleTopics)
	s.check("calls.console.groups", consoleGroups)
	s.check("calls.console.configs", consoleConfigs)
	s.check("calls.console.security", consoleSecurity)
	s.check("calls.console.reassignments", func(c *client) answer {
		found := got(c.admin.ListPartitionReassignments(within(), nil))
		return len(found.Sorted())
	})
}

func consoleOverview(c *client) answer {
	brokers := got(c.admin.ListBrokers(within()))
	metadata := got(c.admin.Metadata(within()))
	versions := got(c.admin.ApiVersions(within()))
	version := ""
	versions.Each(func(v kadm.BrokerApiVersions) { must(v.Err); version = v.VersionGuess() })
	request := kmsg.NewPtrDescribeClusterRequest()
	request.IncludeClusterAuthorizedOperations = true
	cluster := got(request.RequestWith(within(), c.raw))
	must(kerr.ErrorForCode(cluster.ErrorCode))
	_, err := kmsg.NewPtrDescribeQuorumRequest().RequestWith(within(), c.raw)
	return object{
		"brokers": len(brokers), "controller": metadata.Controller >= 0, "version known": !strings.HasPrefix(version, "unknown"),
		"operations": cluster.ClusterAuthorizedOperations, "quorum": outcome(err),
	}
}

func (c *client) consoleTopic() string {
	topic := c.name("console")
	if c.partitionsOutcome(topic) != "ok" {
		c.create(topic, 2)
		c.produce(topic, 0, []*kgo.Record{{Value: []byte("a"), Timestamp: time.Now()}, {Value: []byte("b"), Timestamp: time.Now().Add(time.Second)}})
		c.produce(topic, 1, []*kgo.Record{{Value: []byte("c")}})
	}
	return topic
}

func consoleTopics(c *client) answer {
	topic := c.consoleTopic()
	details := got(c.admin.ListTopicsWithInternal(within(), topic))
	dirs := got(c.admin.DescribeAllLogDirs(within(), details.TopicsSet()))
	sizes := map[int32]bool{}
	dirs.Each(func(dir kadm.DescribedLogDir) {
		must(dir.Err)
		dir.Topics.Each(func(p kadm.DescribedLogDirPartition) { sizes[p.Partition] = p.Size > 0 })
	})
	offsets := object{}
	for name, listed := range map[string]kadm.ListedOffsets{
		"start": got(c.admin.ListStartOffsets(within(), topic)), "end": got(c.admin.ListEndOffsets(within(), topic)),
		"committed": got(c.admin.ListCommittedOffsets(within(), topic)), "newest": got(c.admin.ListMaxTimestampOffsets(within(), topic)),
		"after all": got(c.admin.ListOffsetsAfterMilli(within(), 4_000_000_000_000, topic)),
	} {
		must(listed.Error())
		row := []int64{}
		for p := range int32(2) {
			one, _ := listed.Lookup(topic, p)
			row = append(row, one.Offset)
		}
		offsets[name] = row
	}
	return object{"partitions": len(details[topic].Partitions), "sizes": sizes, "offsets": offsets}
}

func consoleGroups(c *client) answer {
	topic, group := c.consoleTopic(), c.name("console")
	set := kadm.Offsets{}
	set.Add(kadm.Offset{Topic: topic, Partition: 0, At: 1, LeaderEpoch: -1})
	set.Add(kadm.Offset{Topic: topic, Partition: 1, At: 0, LeaderEpoch: -1})
	must(c.admin.CommitAllOffsets(within(), group, set))
	listed := got(c.admin.ListGroups(within()))[group]
	lag := got(c.admin.Lag(within(), group))[group]
	must(lag.Error())
	many := c.admin.FetchManyOffsets(within(), group, c.name("no-group"))
	counts := object{}
	for name, found := range many {
		must(found.Err)
		counts[strings.TrimPrefix(name, c.prefix)] = len(found.Fetched[topic])
	}
	kept := kadm.TopicsSet{}
	kept.Add(topic, 1)
	deleted, err := c.admin.DeleteOffsets(within(), group, kept)
	must(err)
	_, err = c.admin.DeleteGroup(within(), group)
	return object{
		"listed": []string{listed.State, listed.ProtocolType, listed.GroupType}, "state": lag.State, "lag": lag.Lag.Total(),
		"positions": counts, "forget": outcome(deleted.Error()), "delete": outcome(err),
	}
}

func consoleConfigs(c *client) answer {
	topic := c.create(c.name("console-configs"), 1)
	value := "86400000"
	changed := got(c.admin.AlterTopicConfigs(within(), []kadm.AlterConfig{{Op: kadm.SetConfig, Name: "retention.ms", Value: &value}}, topic))
	// And the old AlterConfigs, with all that is to be set.
	replaced := got(c.admin.AlterTopicConfigsState(within(), []kadm.AlterConfig{{Name: "retention.ms", Value: &value}}, topic))
	described := got(c.admin.DescribeTopicConfigs(within(), topic))
	set := []string{}
	for _, config := range described[0].Configs {
		if config.Source == kmsg.ConfigSourceDynamicTopicConfig {
			set = append(set, config.Key+"="+config.MaybeValue())
		}
	}
	sort.Strings(set)
	return object{"changed": outcome(changed[0].Err), "replaced": outcome(replaced[0].Err), "set": set}
}

func consoleSecurity(c *client) answer {
	every := kmsg.NewPtrDescribeACLsRequest()
	every.ResourceType, every.ResourcePatternType = kmsg.ACLResourceTypeAny, kmsg.ACLResourcePatternTypeAny
	every.Operation, every.PermissionType = kmsg.ACLOperationAny, kmsg.ACLPermissionTypeAny
	acls := got(every.RequestWith(within(), c.raw))
	quotas := got(kmsg.NewPtrDescribeClientQuotasRequest().RequestWith(within(), c.raw))
	users := got(kmsg.NewPtrDescribeUserSCRAMCredentialsRequest().RequestWith(within(), c.raw))
	return object{
		"acls": outcome(kerr.ErrorForCode(acls.ErrorCode)), "quotas": outcome(kerr.ErrorForCode(quotas.ErrorCode)),
		"users": outcome(kerr.ErrorForCode(users.ErrorCode)),
	}
}
