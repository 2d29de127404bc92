package main

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"streamstack/compat/go-adapter"
)

// producer writes in transactions.
type producer struct {
	transactionalID string
	client          *kgo.Client
}

func (c *client) transactionAsks(members *adapter.Members[*member]) adapter.Handlers {
	producers := &adapter.Members[*producer]{}
	of := func(a *ask) *producer { return producers.Get(a.Producer) }
	return adapter.Handlers{
		"open_producer": func(a *ask) (any, error) {
			opened, err := c.openProducer(a)
			producers.Put(a.Producer, opened)
			return nil, err
		},
		"begin":          func(a *ask) (any, error) { return nil, of(a).client.BeginTransaction() },
		"send":           func(a *ask) (any, error) { return of(a).send(a) },
		"send_positions": func(a *ask) (any, error) { return nil, of(a).sendPositions(a, members) },
		"end":            func(a *ask) (any, error) { return nil, of(a).end(a.Commit) },
		"close_producer": func(a *ask) (any, error) {
			of(a).client.Close()
			return nil, nil
		},
	}
}

func (c *client) openProducer(a *ask) (*producer, error) {
	made, err := kgo.NewClient(
		kgo.SeedBrokers(c.bootstrap), kgo.TransactionalID(a.Transaction),
		kgo.TransactionTimeout(time.Duration(a.TimeoutMs)*time.Millisecond), kgo.RecordPartitioner(kgo.ManualPartitioner()),
	)
	if err != nil {
		return nil, err
	}
	// Otherwise it asks for its id with the first record.
	_, _, err = made.ProducerID(within())
	return &producer{a.Transaction, made}, err
}

func (p *producer) send(a *ask) (any, error) {
	offsets := []int64{}
	for _, batch := range records(a) {
		for _, record := range batch {
			record.Topic, record.Partition = a.Topic, a.Partition
		}
		for _, result := range p.client.ProduceSync(within(), batch...) {
			if result.Err != nil {
				return nil, result.Err
			}
			offsets = append(offsets, result.Record.Offset)
		}
	}
	return offsets, nil
}

// sendPositions is what the client's GroupTransactSession does at its end, for positions that are told.
func (p *producer) sendPositions(a *ask, members *adapter.Members[*member]) error {
	id, epoch, err := p.client.ProducerID(within())
	if err != nil {
		return err
	}
	request := kmsg.NewPtrTxnOffsetCommitRequest()
	request.TransactionalID, request.Group, request.ProducerID, request.ProducerEpoch = p.transactionalID, a.Group, id, epoch
	request.Generation = -1
	if a.Member != "" {
		request.MemberID, request.Generation = members.Get(a.Member).client.GroupMetadata()
	}
	for _, position := range a.Positions {
		partition := kmsg.NewTxnOffsetCommitRequestTopicPartition()
		partition.Partition, partition.Offset, partition.Metadata = position.Partition, position.Offset, &position.Metadata
		topic := kmsg.NewTxnOffsetCommitRequestTopic()
		topic.Topic, topic.Partitions = position.Topic, append(topic.Partitions, partition)
		request.Topics = append(request.Topics, topic)
	}
	response, err := request.RequestWith(within(), p.client)
	if err != nil {
		return err
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

func (p *producer) end(commit bool) error {
	if !commit {
		if err := p.client.AbortBufferedRecords(context.Background()); err != nil {
			return err
		}
	}
	return p.client.EndTransaction(within(), kgo.TransactionEndTry(commit))
}
