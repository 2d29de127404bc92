package main

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"streamstack/compat/go-adapter"
)

// recordAsks tells offsets, and reads records with an assigned consumer.
func (c *client) recordAsks() adapter.Handlers {
	return adapter.Handlers{
		"offset": func(a *ask) (any, error) {
			isolation := int8(0)
			if a.Committed {
				isolation = 1
			}
			offset, timestamp, err := c.offset(a.Topic, a.Partition, a.At, isolation)
			return []int64{offset, timestamp}, err
		},
		"read": c.readAsked,
	}
}

func (c *client) readAsked(a *ask) (any, error) {
	level := kgo.ReadUncommitted()
	if a.Committed {
		level = kgo.ReadCommitted()
	}
	at := map[string]map[int32]kgo.Offset{a.Topic: {a.Partition: kgo.NewOffset().At(a.Start)}}
	consumer, err := kgo.NewClient(
		kgo.SeedBrokers(c.bootstrap), kgo.ConsumePartitions(at), kgo.FetchIsolationLevel(level),
		kgo.ConsumeResetOffset(kgo.NoResetOffset()), kgo.FetchMaxWait(100*time.Millisecond), kgo.MetadataMinAge(100*time.Millisecond),
	)
	if err != nil {
		return nil, err
	}
	defer consumer.Close()
	limit := wait
	if a.NothingToCome() {
		limit = 300 * time.Millisecond
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	found := []adapter.Read{}
	for {
		fetches := consumer.PollFetches(ctx)
		fetches.EachRecord(func(r *kgo.Record) { found = append(found, told(r)) })
		if len(found) > 0 && a.Done(len(found), found[len(found)-1].Offset) {
			if a.Count != nil {
				found = found[:*a.Count]
			}
			return found, nil
		}
		switch err := fetches.Err(); {
		case ctx.Err() != nil && a.NothingToCome():
			return found, nil
		case ctx.Err() != nil:
			return nil, fmt.Errorf("%d records, then nothing", len(found))
		case err != nil:
			return nil, err
		}
	}
}

func told(r *kgo.Record) adapter.Read {
	headers := [][2]any{}
	for _, header := range r.Headers {
		headers = append(headers, [2]any{header.Key, adapter.Text(header.Value)})
	}
	return adapter.Read{Offset: r.Offset, Key: adapter.Text(r.Key), Value: adapter.Text(r.Value), Headers: headers, Timestamp: r.Timestamp.UnixMilli()}
}
