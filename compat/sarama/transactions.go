package main

import (
	"time"

	"github.com/IBM/sarama"
	"streamstack/compat/go-adapter"
)

var producers adapter.Members[sarama.SyncProducer]

func (c *client) transactionAsks() adapter.Handlers {
	return adapter.Handlers{
		"open_producer":  c.openProducer,
		"begin":          func(a *ask) (any, error) { return nil, producers.Get(a.Producer).BeginTxn() },
		"send":           func(a *ask) (any, error) { return sendAll(producers.Get(a.Producer), a) },
		"send_positions": func(a *ask) (any, error) { return nil, sendPositions(a) },
		"end": func(a *ask) (any, error) {
			if a.Commit {
				return nil, producers.Get(a.Producer).CommitTxn()
			}
			return nil, producers.Get(a.Producer).AbortTxn()
		},
		"close_producer": func(a *ask) (any, error) { return nil, producers.Get(a.Producer).Close() },
	}
}

func (c *client) openProducer(a *ask) (any, error) {
	config := idempotent(config())
	config.Producer.Transaction.ID = a.Transaction
	config.Producer.Transaction.Timeout = time.Duration(a.TimeoutMs) * time.Millisecond
	config.Producer.Flush.Frequency = 20 * time.Millisecond
	config.Producer.Partitioner = sarama.NewManualPartitioner
	config.Producer.Return.Successes = true
	config.Producer.Timeout = wait
	producer, err := sarama.NewSyncProducer(c.bootstrap, config)
	if err == nil {
		producers.Put(a.Producer, producer)
	}
	return nil, err
}

// sendPositions in the name of a member, or of a group that has none.
func sendPositions(a *ask) error {
	metadata := sarama.NewConsumerGroupMetadata(a.Group)
	if a.Member != "" {
		m := members.Get(a.Member)
		m.mutex.Lock()
		defer m.mutex.Unlock()
		if m.session == nil {
			return sarama.ErrRebalanceInProgress
		}
		metadata = sarama.NewConsumerGroupMetadataFromSession(m.session, a.Group, nil)
	}
	offsets := map[string][]*sarama.PartitionOffsetMetadata{}
	for _, p := range a.Positions {
		offsets[p.Topic] = append(offsets[p.Topic], &sarama.PartitionOffsetMetadata{
			Partition: p.Partition, Offset: p.Offset, LeaderEpoch: -1, Metadata: &p.Metadata,
		})
	}
	return producers.Get(a.Producer).AddOffsetsToTxnWithGroupMetadata(offsets, metadata)
}
