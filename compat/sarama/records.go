package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/IBM/sarama"
	"streamstack/compat/go-adapter"
)

const wait = 20 * time.Second

var codecs = map[string]sarama.CompressionCodec{
	"": sarama.CompressionNone, "none": sarama.CompressionNone, "gzip": sarama.CompressionGZIP,
	"snappy": sarama.CompressionSnappy, "lz4": sarama.CompressionLZ4, "zstd": sarama.CompressionZSTD,
}

func idempotent(config *sarama.Config) *sarama.Config {
	config.Producer.Idempotent, config.Producer.RequiredAcks = true, sarama.WaitForAll
	config.Net.MaxOpenRequests = 1
	return config
}

// produce sends the batches one after the other, each flushed before the next.
func (c *client) produce(a *ask) (any, error) {
	config := config()
	if a.Idempotent == nil || *a.Idempotent {
		idempotent(config)
	} else if a.Acks != nil {
		config.Producer.RequiredAcks = sarama.RequiredAcks(*a.Acks)
	}
	config.Metadata.AllowAutoTopicCreation = a.AutoCreate
	config.Producer.Compression = codecs[a.Codec]
	config.Producer.MaxMessageBytes = int(a.MaxBytes)
	config.Producer.Flush.Frequency = 20 * time.Millisecond
	config.Producer.Partitioner = sarama.NewManualPartitioner
	config.Producer.Return.Successes = true
	config.Producer.Timeout = wait
	producer, err := sarama.NewSyncProducer(c.bootstrap, config)
	if err != nil {
		return nil, err
	}
	defer producer.Close()
	return sendAll(producer, a)
}

// sendAll sends the batches one after the other, each flushed before the next.
func sendAll(producer sarama.SyncProducer, a *ask) (any, error) {
	offsets := []int64{}
	for _, batch := range a.Batches {
		messages := []*sarama.ProducerMessage{}
		for _, record := range batch {
			messages = append(messages, message(a, record))
		}
		if err := producer.SendMessages(messages); err != nil {
			var each sarama.ProducerErrors
			if errors.As(err, &each) {
				return nil, each[0].Err
			}
			return nil, err
		}
		for _, sent := range messages {
			offsets = append(offsets, sent.Offset)
		}
	}
	return offsets, nil
}

func message(a *ask, record adapter.Record) *sarama.ProducerMessage {
	sent := &sarama.ProducerMessage{Topic: a.Topic, Partition: a.Partition}
	if record.Key != nil {
		sent.Key = sarama.StringEncoder(*record.Key)
	}
	if record.Value != nil {
		sent.Value = sarama.StringEncoder(*record.Value)
	}
	for _, header := range record.Headers {
		sent.Headers = append(sent.Headers, sarama.RecordHeader{Key: []byte(*header[0]), Value: adapter.Bytes(header[1])})
	}
	if record.Timestamp != nil {
		sent.Timestamp = time.UnixMilli(*record.Timestamp)
	}
	return sent
}

func isolation(a *ask) sarama.IsolationLevel {
	if a.Committed {
		return sarama.ReadCommitted
	}
	return sarama.ReadUncommitted
}

func (c *client) offset(a *ask) (any, error) {
	where := map[string]map[int32]int64{a.Topic: {a.Partition: a.At}}
	found, err := c.admin.ListOffsets(where, &sarama.ListOffsetsOptions{IsolationLevel: isolation(a)})
	if err != nil {
		return nil, err
	}
	one := found[a.Topic][a.Partition]
	if !errors.Is(one.Err, sarama.ErrNoError) {
		return nil, one.Err
	}
	return []int64{one.Offset, one.Timestamp}, nil
}

func (c *client) read(a *ask) (any, error) {
	if a.Reset == "earliest" {
		return nil, adapter.Cannot("go to the earliest offset by itself when its offset is out of range")
	}
	config := config()
	config.Consumer.IsolationLevel = isolation(a)
	config.Consumer.Fetch.Default = a.MaxBytes
	config.Consumer.MaxWaitTime = time.Duration(a.MaxWaitMs) * time.Millisecond
	config.Consumer.Return.Errors = true
	config.Metadata.Retry.Max = 60
	consumer, err := sarama.NewConsumer(c.bootstrap, config)
	if err != nil {
		return nil, err
	}
	defer consumer.Close()
	from, err := consumer.ConsumePartition(a.Topic, a.Partition, a.Start)
	if err != nil {
		return nil, err
	}
	defer from.Close()
	return drained(a, from)
}

func drained(a *ask, from sarama.PartitionConsumer) (any, error) {
	found, limit := []adapter.Read{}, wait
	if a.NothingToCome() {
		limit = 300 * time.Millisecond
	}
	end := time.After(limit)
	for {
		select {
		case record := <-from.Messages():
			found = append(found, shown(record))
			if a.Done(len(found), record.Offset) {
				return found, nil
			}
		case err := <-from.Errors():
			return nil, err.Err
		case <-end:
			if a.NothingToCome() {
				return found, nil
			}
			return nil, fmt.Errorf("%d records, then nothing", len(found))
		}
	}
}

func shown(r *sarama.ConsumerMessage) adapter.Read {
	headers := [][2]any{}
	for _, header := range r.Headers {
		headers = append(headers, [2]any{string(header.Key), adapter.Text(header.Value)})
	}
	return adapter.Read{Offset: r.Offset, Key: adapter.Text(r.Key), Value: adapter.Text(r.Value), Headers: headers, Timestamp: r.Timestamp.UnixMilli()}
}
