package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/segmentio/kafka-go"
	"streamstack/compat/go-adapter"
)

var codecs = map[string]kafka.Compression{"gzip": kafka.Gzip, "snappy": kafka.Snappy, "lz4": kafka.Lz4, "zstd": kafka.Zstd}

// produce sends the batches one after the other, each flushed before the next.
func produce(a *ask) (any, error) {
	if a.Idempotent != nil && *a.Idempotent {
		return nil, adapter.Cannot("write idempotently")
	}
	offsets, writing := []int64{}, sync.Mutex{}
	transport := &kafka.Transport{}
	if !a.AutoCreate {
		transport.MetadataTopics = []string{a.Topic}
	}
	defer transport.CloseIdleConnections()
	writer := &kafka.Writer{
		Addr: kafka.TCP(bootstrap), Topic: a.Topic, Transport: transport, AllowAutoTopicCreation: a.AutoCreate,
		Balancer:    kafka.BalancerFunc(func(kafka.Message, ...int) int { return int(a.Partition) }),
		Compression: codecs[a.Codec], RequiredAcks: kafka.RequireAll, BatchSize: 10_000, BatchBytes: int64(a.MaxBytes),
		BatchTimeout: 20 * time.Millisecond, MaxAttempts: 5,
		Completion: func(messages []kafka.Message, _ error) {
			writing.Lock()
			defer writing.Unlock()
			for _, message := range messages {
				offsets = append(offsets, message.Offset)
			}
		},
	}
	if a.AutoCreate {
		writer.MaxAttempts = 10
	}
	if a.Acks != nil {
		writer.RequiredAcks = kafka.RequiredAcks(*a.Acks)
	}
	for _, batch := range a.Batches {
		messages := []kafka.Message{}
		for _, record := range batch {
			messages = append(messages, message(record))
		}
		if err := writer.WriteMessages(within(), messages...); err != nil {
			return nil, errors.Join(refusal(first(err)), writer.Close())
		}
	}
	return offsets, writer.Close()
}

// refusal: a transport knows no topic that metadata marks as internal.
func refusal(err error) error {
	if strings.Contains(err.Error(), "topic not found") {
		return adapter.Cannot("write to a topic that metadata marks as internal")
	}
	return err
}

// first of the errors of the messages of a batch, which are all the same.
func first(err error) error {
	var each kafka.WriteErrors
	if errors.As(err, &each) {
		for _, one := range each {
			if one != nil {
				return one
			}
		}
	}
	return err
}

func message(record adapter.Record) kafka.Message {
	sent := kafka.Message{Key: adapter.Bytes(record.Key), Value: adapter.Bytes(record.Value)}
	for _, header := range record.Headers {
		sent.Headers = append(sent.Headers, kafka.Header{Key: *header[0], Value: adapter.Bytes(header[1])})
	}
	if record.Timestamp != nil {
		sent.Time = time.UnixMilli(*record.Timestamp)
	}
	return sent
}

func isolation(a *ask) kafka.IsolationLevel {
	if a.Committed {
		return kafka.ReadCommitted
	}
	return kafka.ReadUncommitted
}

func offset(a *ask) (any, error) {
	client, end := clientOf(a.Topic)
	defer end()
	asked := kafka.OffsetRequest{Partition: int(a.Partition), Timestamp: a.At}
	request := &kafka.ListOffsetsRequest{Topics: map[string][]kafka.OffsetRequest{a.Topic: {asked}}, IsolationLevel: isolation(a)}
	response, err := client.ListOffsets(within(), request)
	if err != nil {
		return nil, err
	}
	found := response.Topics[a.Topic][0]
	if found.Error != nil {
		return nil, found.Error
	}
	for at := range found.Offsets {
		return []any{at, nil}, nil // the time there is the one that was asked for
	}
	if a.At == kafka.FirstOffset {
		return []any{found.FirstOffset, nil}, nil
	}
	return []any{found.LastOffset, nil}, nil
}

func read(a *ask) (any, error) {
	if a.Reset == "earliest" {
		return nil, adapter.Cannot("go to the earliest offset by itself when its offset is out of range")
	}
	reader := kafka.NewReader(kafka.ReaderConfig{
		Brokers: []string{bootstrap}, Topic: a.Topic, Partition: int(a.Partition), IsolationLevel: isolation(a),
		MinBytes: 1, MaxBytes: int(a.MaxBytes), MaxWait: time.Duration(a.MaxWaitMs) * time.Millisecond,
		ReadLagInterval: -1, MaxAttempts: 60, OffsetOutOfRangeError: true, ReadBackoffMax: 500 * time.Millisecond,
	})
	defer reader.Close()
	if err := reader.SetOffset(a.Start); err != nil {
		return nil, err
	}
	limit := wait
	if a.NothingToCome() {
		limit = 300 * time.Millisecond
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	found := []adapter.Read{}
	for {
		record, err := reader.ReadMessage(ctx)
		switch {
		case err != nil && ctx.Err() != nil && a.NothingToCome():
			return found, nil
		case err != nil && ctx.Err() != nil:
			return nil, fmt.Errorf("%d records, then nothing", len(found))
		case err != nil:
			return nil, err
		}
		found = append(found, shown(record))
		if a.Done(len(found), record.Offset) {
			return found, nil
		}
	}
}

func shown(r kafka.Message) adapter.Read {
	headers := [][2]any{}
	for _, header := range r.Headers {
		headers = append(headers, [2]any{header.Key, adapter.Text(header.Value)})
	}
	return adapter.Read{Offset: r.Offset, Key: adapter.Text(r.Key), Value: adapter.Text(r.Value), Headers: headers, Timestamp: r.Time.UnixMilli()}
}
