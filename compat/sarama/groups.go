package main

import (
	"sort"

	"github.com/IBM/sarama"
	"streamstack/compat/go-adapter"
)

func (c *client) groups(*ask) (any, error) {
	found, err := c.admin.ListConsumerGroups()
	rows := []any{}
	for name, kind := range found {
		rows = append(rows, []any{name, kind})
	}
	return rows, err
}

func (c *client) group(a *ask) (any, error) {
	described, err := c.admin.DescribeConsumerGroups([]string{a.Group})
	if err != nil {
		return nil, err
	}
	found := described[0]
	if found.Err != sarama.ErrNoError {
		return nil, found.Err
	}
	members := []any{}
	for _, m := range found.Members {
		places := []adapter.Place{}
		assigned, err := m.GetMemberAssignment()
		if err != nil {
			return nil, err
		}
		if assigned != nil {
			places = listed(assigned.Topics)
		}
		members = append(members, object{"client": m.ClientId, "host": m.ClientHost, "instance": m.GroupInstanceId, "partitions": places})
	}
	return object{"state": found.State, "kind": found.ProtocolType, "protocol": found.Protocol, "members": members}, nil
}

func (c *client) groupPositions(a *ask) (any, error) { return c.positions(a.Group, nil) }

// committed tells of each of the partitions in turn.
func (c *client) committed(group string, of []adapter.Place) (any, error) {
	asked := map[string][]int32{}
	for _, at := range of {
		asked[at.Topic] = append(asked[at.Topic], at.Partition)
	}
	return c.positions(group, asked)
}

func (c *client) positions(group string, asked map[string][]int32) (any, error) {
	found, err := c.admin.ListConsumerGroupOffsets(group, asked)
	if err != nil {
		return nil, err
	}
	rows := []adapter.Position{}
	for topic, blocks := range found.Blocks {
		for partition, block := range blocks {
			if block.Err != sarama.ErrNoError {
				return nil, block.Err
			}
			rows = append(rows, adapter.Position{Place: adapter.Place{Topic: topic, Partition: partition}, Offset: block.Offset, Metadata: block.Metadata})
		}
	}
	sort.Slice(rows, func(i, j int) bool { return rows[i].Partition < rows[j].Partition })
	return rows, nil
}

func (c *client) move(a *ask) (any, error) {
	offsets := map[string]map[int32]sarama.OffsetAndMetadata{}
	for _, p := range a.Positions {
		if offsets[p.Topic] == nil {
			offsets[p.Topic] = map[int32]sarama.OffsetAndMetadata{}
		}
		offsets[p.Topic][p.Partition] = sarama.OffsetAndMetadata{Offset: p.Offset, LeaderEpoch: -1, Metadata: p.Metadata}
	}
	response, err := c.admin.AlterConsumerGroupOffsets(a.Group, offsets, nil)
	if err != nil {
		return nil, err
	}
	for _, partitions := range response.Errors {
		for _, code := range partitions {
			if code != sarama.ErrNoError {
				return nil, code
			}
		}
	}
	return nil, nil
}

func (c *client) forget(a *ask) (any, error) {
	for _, at := range a.Of {
		if err := c.admin.DeleteConsumerGroupOffset(a.Group, at.Topic, at.Partition); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

func (c *client) deleteGroup(a *ask) (any, error) { return nil, c.admin.DeleteConsumerGroup(a.Group) }
