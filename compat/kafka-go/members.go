package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/segmentio/kafka-go"
	"streamstack/compat/go-adapter"
)

// member is a consumer group whose generations run in a goroutine of their own, with a reader for each partition.
type member struct {
	told       adapter.Told
	group      *kafka.ConsumerGroup
	name       string
	mutex      sync.Mutex
	generation *kafka.Generation
	end        context.CancelFunc
}

var members adapter.Members[*member]

var memberAsks = adapter.Handlers{
	"join":      join,
	"member":    func(a *ask) (any, error) { return members.Get(a.Member).answer(), nil },
	"commit":    func(a *ask) (any, error) { return nil, members.Get(a.Member).commit(a.Positions) },
	"committed": func(a *ask) (any, error) { return committed(members.Get(a.Member).name, a.Of) },
	"leave": func(a *ask) (any, error) {
		left := members.Get(a.Member)
		left.end()
		return nil, left.group.Close()
	},
	"groups": groups, "group": group, "group_positions": groupPositions, "move": move, "forget": forget, "delete_group": deleteGroup,
}

func join(a *ask) (any, error) {
	switch {
	case a.Protocol != "classic":
		return nil, adapter.Cannot("speak the consumer group protocol (KIP-848)")
	case a.Assignor == "cooperative":
		return nil, adapter.Cannot("rebalance cooperatively")
	case a.Instance != "":
		return nil, adapter.Cannot("be a static member")
	}
	made, err := kafka.NewConsumerGroup(kafka.ConsumerGroupConfig{
		ID: a.Group, Brokers: []string{bootstrap}, Topics: a.Topics, StartOffset: kafka.FirstOffset,
		SessionTimeout: time.Duration(a.SessionMs) * time.Millisecond, RebalanceTimeout: 10 * time.Second,
		HeartbeatInterval: 300 * time.Millisecond, JoinGroupBackoff: 200 * time.Millisecond,
	})
	if err != nil {
		return nil, err
	}
	ctx, end := context.WithCancel(context.Background())
	joined := &member{group: made, name: a.Group, end: end}
	members.Put(a.Member, joined)
	go joined.run(ctx)
	return nil, nil
}

func (m *member) run(ctx context.Context) {
	for ctx.Err() == nil {
		generation, err := m.group.Next(ctx)
		switch {
		case errors.Is(err, kafka.ErrGroupClosed):
			return
		case err != nil:
			continue // it joins again by itself
		}
		m.mutex.Lock()
		m.generation = generation
		places := []adapter.Place{}
		for topic, assigned := range generation.Assignments {
			for _, partition := range assigned {
				places = append(places, adapter.Place{Topic: topic, Partition: int32(partition.ID)})
				generation.Start(func(ctx context.Context) { m.read(ctx, topic, partition) })
			}
		}
		m.told.Gained(places...)
		m.mutex.Unlock()
		generation.Start(func(ctx context.Context) {
			<-ctx.Done()
			m.told.Lost(places...)
		})
	}
}

func (m *member) read(ctx context.Context, topic string, assigned kafka.PartitionAssignment) {
	reader := kafka.NewReader(kafka.ReaderConfig{
		Brokers: []string{bootstrap}, Topic: topic, Partition: assigned.ID, MinBytes: 1, MaxBytes: 1 << 20,
		MaxWait: 100 * time.Millisecond, ReadBackoffMax: 500 * time.Millisecond, MaxAttempts: 100,
	})
	defer reader.Close()
	if err := reader.SetOffset(assigned.Offset); err != nil {
		m.told.Failed(err)
		return
	}
	for ctx.Err() == nil {
		record, err := reader.ReadMessage(ctx)
		if err != nil {
			continue // the broker may be gone for a while; a generation that ends does so by its context
		}
		m.told.Read(record.Topic, int32(record.Partition), record.Offset, record.Value)
	}
}

func (m *member) answer() adapter.Object {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.generation == nil {
		return m.told.Answer(nil)
	}
	return m.told.Answer([]any{m.generation.ID, m.generation.MemberID})
}

func (m *member) commit(positions []adapter.Position) error {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.generation == nil {
		return kafka.RebalanceInProgress
	}
	offsets := map[string]map[int]int64{}
	for _, p := range positions {
		if p.Metadata != "" {
			return adapter.Cannot("add metadata to a member's position")
		}
		if offsets[p.Topic] == nil {
			offsets[p.Topic] = map[int]int64{}
		}
		offsets[p.Topic][int(p.Partition)] = p.Offset
	}
	return m.generation.CommitOffsets(offsets)
}
