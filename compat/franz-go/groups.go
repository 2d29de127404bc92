package main

import (
	"errors"

	"github.com/twmb/franz-go/pkg/kadm"
	"streamstack/compat/go-adapter"
)

func (c *client) groups() (any, error) {
	found, err := c.admin.ListGroups(within())
	rows := []any{}
	for _, group := range found.Sorted() {
		rows = append(rows, []any{group.Group, group.ProtocolType, group.State, group.GroupType})
	}
	return rows, err
}

func (c *client) group(name string) (any, error) {
	described, err := c.admin.DescribeGroups(within(), name)
	if err != nil {
		return nil, err
	}
	found := described[name]
	if found.Err != nil {
		return nil, found.Err
	}
	members := []any{}
	for _, m := range found.Members {
		places := []adapter.Place{}
		if assigned, ok := m.Assigned.AsConsumer(); ok {
			for _, topic := range assigned.Topics {
				places = append(places, listed(map[string][]int32{topic.Topic: topic.Partitions})...)
			}
		}
		members = append(members, object{"client": m.ClientID, "host": m.ClientHost, "instance": m.InstanceID, "partitions": places})
	}
	return object{
		"state": found.State, "kind": found.ProtocolType, "protocol": found.Protocol, "coordinator": found.Coordinator.NodeID, "members": members,
	}, nil
}

func (c *client) positions(group string) (kadm.OffsetResponses, error) {
	found, err := c.admin.FetchOffsets(within(), group)
	if err != nil {
		return nil, err
	}
	return found, found.Error()
}

func (c *client) groupPositions(group string) (any, error) {
	found, err := c.positions(group)
	rows := []adapter.Position{}
	found.Each(func(one kadm.OffsetResponse) {
		at := adapter.Place{Topic: one.Topic, Partition: one.Partition}
		rows = append(rows, adapter.Position{Place: at, Offset: one.At, Metadata: one.Metadata})
	})
	return rows, err
}

// committed tells of each of the partitions in turn.
func (c *client) committed(group string, of []adapter.Place) (any, error) {
	found, err := c.positions(group)
	rows := []adapter.Position{}
	for _, at := range of {
		position := adapter.Position{Place: at, Offset: -1}
		if one, ok := found.Lookup(at.Topic, at.Partition); ok {
			position.Offset, position.Metadata = one.At, one.Metadata
		}
		rows = append(rows, position)
	}
	return rows, err
}

func (c *client) move(group string, positions []adapter.Position) error {
	offsets := kadm.Offsets{}
	for _, p := range positions {
		offsets.Add(kadm.Offset{Topic: p.Topic, Partition: p.Partition, At: p.Offset, LeaderEpoch: -1, Metadata: p.Metadata})
	}
	return c.admin.CommitAllOffsets(within(), group, offsets)
}

func (c *client) forget(group string, of []adapter.Place) error {
	set := kadm.TopicsSet{}
	for _, at := range of {
		set.Add(at.Topic, at.Partition)
	}
	found, err := c.admin.DeleteOffsets(within(), group, set)
	return errors.Join(err, found.Error())
}
