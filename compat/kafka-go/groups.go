package main

import (
	"slices"

	"github.com/segmentio/kafka-go"
	"streamstack/compat/go-adapter"
)

func groups(*ask) (any, error) {
	client, end := clientOf()
	defer end()
	found, err := client.ListGroups(within(), &kafka.ListGroupsRequest{})
	if err != nil {
		return nil, err
	}
	rows := []any{}
	for _, group := range found.Groups {
		rows = append(rows, []any{group.GroupID, group.ProtocolType})
	}
	return rows, found.Error
}

func group(a *ask) (any, error) {
	client, end := clientOf()
	defer end()
	found, err := client.DescribeGroups(within(), &kafka.DescribeGroupsRequest{GroupIDs: []string{a.Group}})
	if err != nil {
		return nil, err
	}
	group := found.Groups[0]
	members := []any{}
	for _, m := range group.Members {
		places := []adapter.Place{}
		for _, topic := range m.MemberAssignments.Topics {
			for _, partition := range topic.Partitions {
				places = append(places, adapter.Place{Topic: topic.Topic, Partition: int32(partition)})
			}
		}
		// The name of the client is that of its process.
		members = append(members, object{"client": m.ClientID != "", "host": m.ClientHost, "partitions": places})
	}
	return object{"state": group.GroupState, "members": members}, group.Error
}

// groupPositions are those of the partitions that are named, since there is no call for all.
func groupPositions(a *ask) (any, error) {
	found, err := committed(a.Group, a.Of)
	return slices.DeleteFunc(found, func(p adapter.Position) bool { return p.Offset < 0 }), err
}

func committed(group string, of []adapter.Place) ([]adapter.Position, error) {
	client, end := clientOf()
	defer end()
	asked := map[string][]int{}
	for _, at := range of {
		asked[at.Topic] = append(asked[at.Topic], int(at.Partition))
	}
	found, err := client.OffsetFetch(within(), &kafka.OffsetFetchRequest{GroupID: group, Topics: asked})
	if err != nil {
		return nil, err
	}
	if found.Error != nil {
		return nil, found.Error
	}
	rows := []adapter.Position{}
	for _, at := range of {
		for _, p := range found.Topics[at.Topic] {
			if p.Error != nil {
				return nil, p.Error
			}
			if p.Partition == int(at.Partition) {
				rows = append(rows, adapter.Position{Place: at, Offset: p.CommittedOffset, Metadata: p.Metadata})
			}
		}
	}
	return rows, nil
}

func move(a *ask) (any, error) {
	client, end := clientOf()
	defer end()
	topics := map[string][]kafka.OffsetCommit{}
	for _, p := range a.Positions {
		topics[p.Topic] = append(topics[p.Topic], kafka.OffsetCommit{Partition: int(p.Partition), Offset: p.Offset, Metadata: p.Metadata})
	}
	found, err := client.OffsetCommit(within(), &kafka.OffsetCommitRequest{GroupID: a.Group, GenerationID: -1, Topics: topics})
	if err != nil {
		return nil, err
	}
	for _, partitions := range found.Topics {
		for _, p := range partitions {
			if p.Error != nil {
				return nil, p.Error
			}
		}
	}
	return nil, nil
}

func forget(a *ask) (any, error) {
	client, end := clientOf()
	defer end()
	topics := map[string][]int{}
	for _, at := range a.Of {
		topics[at.Topic] = append(topics[at.Topic], int(at.Partition))
	}
	found, err := client.OffsetDelete(within(), &kafka.OffsetDeleteRequest{GroupID: a.Group, Topics: topics})
	if err != nil {
		return nil, err
	}
	if found.Error != nil {
		return nil, found.Error
	}
	for _, partitions := range found.Topics {
		for _, p := range partitions {
			if p.Error != nil {
				return nil, p.Error
			}
		}
	}
	return nil, nil
}

func deleteGroup(a *ask) (any, error) {
	client, end := clientOf()
	defer end()
	found, err := client.DeleteGroups(within(), &kafka.DeleteGroupsRequest{GroupIDs: []string{a.Group}})
	if err != nil {
		return nil, err
	}
	return nil, found.Errors[a.Group]
}
