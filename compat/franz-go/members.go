package main

import (
	"context"
	"errors"
	"maps"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"streamstack/compat/go-adapter"
)

type ask = adapter.Ask

// member is a client of kgo that reads in a goroutine of its own.
type member struct {
	told   *adapter.Told
	client *kgo.Client
	group  string
}

// serveMembers answers asks in JSON lines: of groups, of their operators, and of transactions.
func serveMembers(bootstrap string) {
	c := newClient(bootstrap, "")
	members := &adapter.Members[*member]{}
	handlers := adapter.Handlers{
		"create":     func(a *ask) (any, error) { return nil, c.createAsked(a) },
		"partitions": func(a *ask) (any, error) { return c.partitions(a.Topic) },
		"produce":    func(a *ask) (any, error) { return c.tryProduce(a.Topic, a.Partition, records(a)) },
		"join": func(a *ask) (any, error) {
			joined, err := join(bootstrap, a)
			members.Put(a.Member, joined)
			return nil, err
		},
		"member": func(a *ask) (any, error) {
			m := members.Get(a.Member)
			id, generation := m.client.GroupMetadata()
			return m.told.Answer([]any{id, generation}), nil
		},
		"commit":    func(a *ask) (any, error) { return nil, members.Get(a.Member).commit(a.Positions) },
		"committed": func(a *ask) (any, error) { return c.committed(members.Get(a.Member).group, a.Of) },
		"leave": func(a *ask) (any, error) {
			members.Get(a.Member).client.Close()
			return nil, nil
		},
		"groups":          func(*ask) (any, error) { return c.groups() },
		"group":           func(a *ask) (any, error) { return c.group(a.Group) },
		"group_positions": func(a *ask) (any, error) { return c.groupPositions(a.Group) },
		"move":            func(a *ask) (any, error) { return nil, c.move(a.Group, a.Positions) },
		"forget":          func(a *ask) (any, error) { return nil, c.forget(a.Group, a.Of) },
		"delete_group":    func(a *ask) (any, error) { _, err := c.admin.DeleteGroup(within(), a.Group); return nil, err },
	}
	maps.Copy(handlers, c.recordAsks())
	maps.Copy(handlers, c.transactionAsks(members))
	adapter.Serve(handlers, codeOf)
}

func codeOf(err error) (any, bool) {
	var refused *kerr.Error
	if errors.As(err, &refused) {
		return refused.Message, true
	}
	return nil, false
}

func (c *client) createAsked(a *ask) error {
	configs := []string{}
	for name, value := range a.Configs {
		configs = append(configs, name, value)
	}
	return c.tryCreate(a.Topic, a.Partitions, a.Replicas, configs...)
}

func records(a *ask) [][]*kgo.Record {
	batches := [][]*kgo.Record{}
	for _, batch := range a.Batches {
		records := []*kgo.Record{}
		for _, record := range batch {
			sent := &kgo.Record{Key: adapter.Bytes(record.Key), Value: adapter.Bytes(record.Value)}
			for _, header := range record.Headers {
				sent.Headers = append(sent.Headers, kgo.RecordHeader{Key: *header[0], Value: adapter.Bytes(header[1])})
			}
			records = append(records, sent)
		}
		batches = append(batches, records)
	}
	return batches
}

func join(bootstrap string, a *ask) (*member, error) {
	if a.Protocol == "consumer" && a.Instance != "" {
		return nil, adapter.Cannot("come back as a static member of the consumer group protocol: its leave does not name the instance")
	}
	told := &adapter.Told{}
	gained := func(_ context.Context, _ *kgo.Client, places map[string][]int32) { told.Gained(listed(places)...) }
	lost := func(_ context.Context, _ *kgo.Client, places map[string][]int32) { told.Lost(listed(places)...) }
	options := []kgo.Opt{
		kgo.SeedBrokers(bootstrap), kgo.ConsumerGroup(a.Group), kgo.ConsumeTopics(a.Topics...), kgo.DisableAutoCommit(),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.SessionTimeout(time.Duration(a.SessionMs) * time.Millisecond),
		kgo.HeartbeatInterval(300 * time.Millisecond), kgo.FetchMaxWait(100 * time.Millisecond),
		kgo.OnPartitionsAssigned(gained), kgo.OnPartitionsRevoked(lost), kgo.OnPartitionsLost(lost),
	}
	balancer := kgo.RangeBalancer()
	if a.Assignor == "cooperative" {
		balancer = kgo.CooperativeStickyBalancer()
	}
	options = append(options, kgo.Balancers(balancer))
	if a.Protocol == "consumer" {
		options = append(options, kgo.ServerSideBalancer())
	}
	if a.Instance != "" {
		options = append(options, kgo.InstanceID(a.Instance))
	}
	client, err := kgo.NewClient(options...)
	if err != nil {
		return nil, err
	}
	joined := &member{told, client, a.Group}
	go joined.read()
	return joined, nil
}

func listed(places map[string][]int32) []adapter.Place {
	all := []adapter.Place{}
	for topic, partitions := range places {
		for _, partition := range partitions {
			all = append(all, adapter.Place{Topic: topic, Partition: partition})
		}
	}
	return all
}

func (m *member) read() {
	for {
		found := m.client.PollFetches(context.Background())
		if found.IsClientClosed() {
			return
		}
		// What it can try again, it does by itself.
		found.EachError(func(_ string, _ int32, err error) {
			var refused *kerr.Error
			if errors.As(err, &refused) && !refused.Retriable {
				m.told.Failed(err)
			}
		})
		found.EachRecord(func(r *kgo.Record) { m.told.Read(r.Topic, r.Partition, r.Offset, r.Value) })
	}
}

// commit also writes what a user adds to a position, which its client lets a hook do.
func (m *member) commit(positions []adapter.Position) error {
	offsets, notes := map[string]map[int32]kgo.EpochOffset{}, map[adapter.Place]string{}
	for _, p := range positions {
		if offsets[p.Topic] == nil {
			offsets[p.Topic] = map[int32]kgo.EpochOffset{}
		}
		offsets[p.Topic][p.Partition] = kgo.EpochOffset{Epoch: -1, Offset: p.Offset}
		notes[p.Place] = p.Metadata
	}
	ctx := kgo.PreCommitFnContext(within(), func(request *kmsg.OffsetCommitRequest) error {
		for t := range request.Topics {
			topic := &request.Topics[t]
			for n := range topic.Partitions {
				note := notes[adapter.Place{Topic: topic.Topic, Partition: topic.Partitions[n].Partition}]
				topic.Partitions[n].Metadata = &note
			}
		}
		return nil
	})
	var failed error
	m.client.CommitOffsetsSync(ctx, offsets, func(_ *kgo.Client, _ *kmsg.OffsetCommitRequest, response *kmsg.OffsetCommitResponse, err error) {
		failed = errors.Join(err, refusalOf(response))
	})
	return failed
}

func refusalOf(response *kmsg.OffsetCommitResponse) error {
	if response == nil {
		return nil
	}
	for _, topic := range response.Topics {
		for _, partition := range topic.Partitions {
			if err := kerr.ErrorForCode(partition.ErrorCode); err != nil {
				return err
			}
		}
	}
	return nil
}
