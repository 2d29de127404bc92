package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/IBM/sarama"
	"streamstack/compat/go-adapter"
)

// member is a consumer group client whose sessions run in a goroutine of their own.
type member struct {
	told    adapter.Told
	client  sarama.ConsumerGroup
	group   string
	mutex   sync.Mutex
	session sarama.ConsumerGroupSession
	end     context.CancelFunc
	ended   chan struct{}
}

var members adapter.Members[*member]

func (c *client) memberAsks() adapter.Handlers {
	return adapter.Handlers{
		"join":      c.join,
		"member":    func(a *ask) (any, error) { return members.Get(a.Member).answer(), nil },
		"commit":    func(a *ask) (any, error) { return nil, members.Get(a.Member).commit(a.Positions) },
		"committed": func(a *ask) (any, error) { return c.committed(members.Get(a.Member).group, a.Of) },
		"leave":     func(a *ask) (any, error) { return nil, members.Get(a.Member).leave() },
		"groups":    c.groups, "group": c.group, "group_positions": c.groupPositions,
		"move": c.move, "forget": c.forget, "delete_group": c.deleteGroup,
		"exporter": c.exporter,
	}
}

func (c *client) join(a *ask) (any, error) {
	if a.Protocol != "classic" {
		return nil, adapter.Cannot("speak the consumer group protocol (KIP-848)")
	}
	if a.Assignor == "cooperative" {
		return nil, adapter.Cannot("rebalance cooperatively")
	}
	config := config()
	config.Consumer.Group.Session.Timeout = time.Duration(a.SessionMs) * time.Millisecond
	config.Consumer.Group.Heartbeat.Interval = 300 * time.Millisecond
	config.Consumer.Group.InstanceId = a.Instance
	config.Consumer.Offsets.Initial = sarama.OffsetOldest
	config.Consumer.Offsets.AutoCommit.Enable = false
	config.Consumer.MaxWaitTime = 100 * time.Millisecond
	client, err := sarama.NewConsumerGroup(c.bootstrap, a.Group, config)
	if err != nil {
		return nil, err
	}
	ctx, end := context.WithCancel(context.Background())
	joined := &member{client: client, group: a.Group, end: end, ended: make(chan struct{})}
	members.Put(a.Member, joined)
	go joined.run(ctx, a.Topics)
	return nil, nil
}

// run consumes session after session, as its documentation tells a user to.
func (m *member) run(ctx context.Context, topics []string) {
	defer close(m.ended)
	for ctx.Err() == nil {
		if err := m.client.Consume(ctx, topics, m); err != nil && !errors.Is(err, sarama.ErrClosedConsumerGroup) {
			time.Sleep(200 * time.Millisecond) // the broker may be gone for a while
		}
	}
}

func (m *member) leave() error {
	m.end()
	<-m.ended
	return m.client.Close()
}

func (m *member) Setup(session sarama.ConsumerGroupSession) error {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.session = session
	m.told.Gained(listed(session.Claims())...)
	return nil
}

func (m *member) Cleanup(session sarama.ConsumerGroupSession) error {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.session = nil
	m.told.Lost(listed(session.Claims())...)
	return nil
}

func (m *member) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	for {
		select {
		case r, ok := <-claim.Messages():
			if !ok {
				return nil
			}
			m.told.Read(r.Topic, r.Partition, r.Offset, r.Value)
		case <-session.Context().Done():
			return nil
		}
	}
}

func listed(claims map[string][]int32) []adapter.Place {
	places := []adapter.Place{}
	for topic, partitions := range claims {
		for _, partition := range partitions {
			places = append(places, adapter.Place{Topic: topic, Partition: partition})
		}
	}
	return places
}

func (m *member) answer() adapter.Object {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.session == nil {
		return m.told.Answer(nil)
	}
	return m.told.Answer([]any{m.session.GenerationID(), m.session.MemberID()})
}

// commit: the client marks positions and then writes them; a refusal it shows nowhere, so the positions are read again.
func (m *member) commit(positions []adapter.Position) error {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.session == nil {
		return sarama.ErrRebalanceInProgress
	}
	for _, p := range positions {
		m.session.MarkOffset(p.Topic, p.Partition, p.Offset, p.Metadata)
	}
	m.session.Commit()
	return nil
}
