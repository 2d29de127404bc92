package main

import (
	"errors"
	"time"

	"github.com/segmentio/kafka-go"
	"streamstack/compat/go-adapter"
)

// session is a producer id that is bound to a transactional id. The client has the calls around a transaction, but its
// writer takes no part in one: what can be moved in a transaction is positions.
type session struct {
	transactionalID string
	producer        kafka.ProducerSession
}

var sessions adapter.Members[session]

var transactionAsks = adapter.Handlers{
	"open_producer":  openProducer,
	"begin":          func(*ask) (any, error) { return nil, nil },
	"send":           cannot("write in a transaction"),
	"send_positions": func(a *ask) (any, error) { return nil, sendPositions(a) },
	"end":            func(a *ask) (any, error) { return nil, endTransaction(a) },
	"close_producer": func(*ask) (any, error) { return nil, nil },
}

func openProducer(a *ask) (any, error) {
	client, end := clientOf()
	defer end()
	request := &kafka.InitProducerIDRequest{
		TransactionalID: a.Transaction, TransactionTimeoutMs: int(a.TimeoutMs), ProducerID: -1, ProducerEpoch: -1,
	}
	response, err := client.InitProducerID(within(), request)
	if err != nil {
		return nil, err
	}
	if response.Error != nil {
		return nil, response.Error
	}
	sessions.Put(a.Producer, session{a.Transaction, *response.Producer})
	return nil, nil
}

func sendPositions(a *ask) error {
	client, end := clientOf()
	defer end()
	s := sessions.Get(a.Producer)
	added, err := client.AddOffsetsToTxn(within(), &kafka.AddOffsetsToTxnRequest{
		TransactionalID: s.transactionalID, ProducerID: s.producer.ProducerID, ProducerEpoch: s.producer.ProducerEpoch, GroupID: a.Group,
	})
	if err == nil && errors.Is(added.Error, kafka.ConcurrentTransactions) {
		// The transaction before is still being ended: the client leaves it to its user to ask again.
		time.Sleep(20 * time.Millisecond)
		return sendPositions(a)
	}
	if err != nil {
		return err
	}
	if added.Error != nil {
		return added.Error
	}
	request := &kafka.TxnOffsetCommitRequest{
		TransactionalID: s.transactionalID, GroupID: a.Group, ProducerID: s.producer.ProducerID, ProducerEpoch: s.producer.ProducerEpoch,
		GenerationID: -1, Topics: map[string][]kafka.TxnOffsetCommit{},
	}
	for _, p := range a.Positions {
		moved := kafka.TxnOffsetCommit{Partition: int(p.Partition), Offset: p.Offset, Metadata: p.Metadata}
		request.Topics[p.Topic] = append(request.Topics[p.Topic], moved)
	}
	response, err := client.TxnOffsetCommit(within(), request)
	if err != nil {
		return err
	}
	for _, partitions := range response.Topics {
		for _, partition := range partitions {
			if partition.Error != nil {
				return partition.Error
			}
		}
	}
	return nil
}

func endTransaction(a *ask) error {
	client, end := clientOf()
	defer end()
	s := sessions.Get(a.Producer)
	response, err := client.EndTxn(within(), &kafka.EndTxnRequest{
		TransactionalID: s.transactionalID, ProducerID: s.producer.ProducerID, ProducerEpoch: s.producer.ProducerEpoch, Committed: a.Commit,
	})
	if err != nil {
		return err
	}
	return response.Error
}
