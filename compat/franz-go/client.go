package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const wait = 20 * time.Second

const (
	latest   int64 = -1
	earliest int64 = -2
	newest   int64 = -3
)

// client is what the checks ask of kgo and kadm, in a few words.
type client struct {
	bootstrap, prefix string
	raw               *kgo.Client
	admin             *kadm.Client
}

func newClient(bootstrap, prefix string) *client {
	raw := got(kgo.NewClient(kgo.SeedBrokers(bootstrap)))
	return &client{bootstrap, prefix, raw, kadm.NewClient(raw)}
}

func (c *client) name(topic string) string { return c.prefix + "-" + topic }

func within() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	context.AfterFunc(ctx, cancel)
	return ctx
}

// create makes a topic and waits until it can be written to.
func (c *client) create(topic string, partitions int32, configs ...string) string {
	must(c.tryCreate(topic, partitions, 1, configs...))
	waitFor(wait, func() bool { n, err := c.partitions(topic); return err == nil && n > 0 })
	return topic
}

func (c *client) tryCreate(topic string, partitions int32, replicas int16, configs ...string) error {
	settings := map[string]*string{}
	for i := 0; i < len(configs); i += 2 {
		settings[configs[i]] = &configs[i+1]
	}
	_, err := c.admin.CreateTopic(within(), partitions, replicas, settings, topic)
	return err
}

func (c *client) metadata(topic string) kmsg.MetadataResponseTopic {
	request := kmsg.NewPtrMetadataRequest()
	asked := kmsg.NewMetadataRequestTopic()
	asked.Topic = &topic
	request.Topics = append(request.Topics, asked)
	response := got(request.RequestWith(within(), c.raw))
	return response.Topics[0]
}

// partitions tells how many there are, or the topic's or a partition's error. It creates nothing.
func (c *client) partitions(topic string) (int, error) {
	found := c.metadata(topic)
	if err := kerr.ErrorForCode(found.ErrorCode); err != nil {
		return 0, err
	}
	for _, partition := range found.Partitions {
		if err := kerr.ErrorForCode(partition.ErrorCode); err != nil {
			return 0, err
		}
	}
	return len(found.Partitions), nil
}

func (c *client) partitionsOutcome(topic string) string {
	_, err := c.partitions(topic)
	return outcome(err)
}

// tryProduce sends the batches one after the other, each flushed before the next, and returns the offsets.
func (c *client) tryProduce(topic string, partition int32, batches [][]*kgo.Record, options ...kgo.Opt) ([]int64, error) {
	defaults := []kgo.Opt{
		kgo.SeedBrokers(c.bootstrap),
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.UnknownTopicRetries(2),
	}
	producer := got(kgo.NewClient(append(defaults, options...)...))
	defer producer.Close()
	offsets := []int64{}
	for _, batch := range batches {
		for _, record := range batch {
			record.Topic, record.Partition = topic, partition
		}
		for _, result := range producer.ProduceSync(within(), batch...) {
			if result.Err != nil {
				return offsets, result.Err
			}
			offsets = append(offsets, result.Record.Offset)
		}
	}
	return offsets, nil
}

func (c *client) produce(topic string, partition int32, batch []*kgo.Record, options ...kgo.Opt) []int64 {
	return got(c.tryProduce(topic, partition, [][]*kgo.Record{batch}, options...))
}

// offset asks ListOffsets for a time or one of its special times; isolation 1 is read_committed.
func (c *client) offset(topic string, partition int32, at int64, isolation int8) (offset, timestamp int64, err error) {
	asker := got(kgo.NewClient(kgo.SeedBrokers(c.bootstrap), kgo.RetryTimeout(wait)))
	defer asker.Close()
	request := kmsg.NewPtrListOffsetsRequest()
	request.ReplicaID, request.IsolationLevel = -1, isolation
	wanted := kmsg.NewListOffsetsRequestTopic()
	wanted.Topic = topic
	in := kmsg.NewListOffsetsRequestTopicPartition()
	in.Partition, in.Timestamp = partition, at
	wanted.Partitions = append(wanted.Partitions, in)
	request.Topics = append(request.Topics, wanted)
	response, err := request.RequestWith(within(), asker)
	if err != nil {
		return 0, 0, err
	}
	found := response.Topics[0].Partitions[0]
	return found.Offset, found.Timestamp, kerr.ErrorForCode(found.ErrorCode)
}

func (c *client) bounds(topic string, partition int32, isolation ...int8) (begin, end int64) {
	level := int8(len(isolation))
	begin, _, err := c.offset(topic, partition, earliest, level)
	must(err)
	end, _, err = c.offset(topic, partition, latest, level)
	must(err)
	return begin, end
}

type reading struct {
	topic     string
	partition int32
	start     int64 // negative: from the earliest
	until     int   // so many records; 0: to the end of the partition
	committed bool
	options   []kgo.Opt
}

// read assigns the partition and reads as the reading says.
func (c *client) read(r reading) []*kgo.Record {
	return got(c.tryRead(r))
}

func (c *client) readAll(topic string, partition int32) []*kgo.Record {
	return c.read(reading{topic: topic, partition: partition, start: -1})
}

func (c *client) tryRead(r reading) ([]*kgo.Record, error) {
	isolation := []int8{}
	level := kgo.ReadUncommitted()
	if r.committed {
		isolation, level = []int8{1}, kgo.ReadCommitted()
	}
	end := int64(-1)
	if r.until == 0 {
		var begin int64
		begin, end = c.bounds(r.topic, r.partition, isolation...)
		if r.start < 0 {
			r.start = begin
		}
	}
	at := map[string]map[int32]kgo.Offset{r.topic: {r.partition: kgo.NewOffset().At(r.start)}}
	options := []kgo.Opt{
		kgo.SeedBrokers(c.bootstrap), kgo.ConsumePartitions(at), kgo.FetchIsolationLevel(level),
		kgo.ConsumeResetOffset(kgo.NoResetOffset()), kgo.FetchMaxWait(100 * time.Millisecond),
		kgo.MetadataMinAge(100 * time.Millisecond),
	}
	consumer := got(kgo.NewClient(append(options, r.options...)...))
	defer consumer.Close()
	return drain(consumer, r, end)
}

func drain(consumer *kgo.Client, r reading, end int64) ([]*kgo.Record, error) {
	records, ctx := []*kgo.Record{}, within()
	if end >= 0 && r.start == end {
		// Nothing is to come: one poll shows that a fetch there is answered without an error.
		short, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
		defer cancel()
		ctx = short
	}
	for {
		fetches := consumer.PollFetches(ctx)
		for _, e := range fetches.Errors() {
			if ctx.Err() != nil {
				if end >= 0 && r.start == end {
					return records, nil
				}
				return records, fmt.Errorf("%d records, then nothing", len(records))
			}
			return records, e.Err
		}
		records = append(records, fetches.Records()...)
		if r.until > 0 && len(records) >= r.until {
			return records[:r.until], nil
		}
		if n := len(records); r.until == 0 && n > 0 && records[n-1].Offset >= end-1 {
			return records, nil
		}
	}
}

func waitFor(limit time.Duration, condition func() bool) bool {
	for end := time.Now().Add(limit); ; time.Sleep(50 * time.Millisecond) {
		if condition() {
			return true
		}
		if time.Now().After(end) {
			return false
		}
	}
}

func batch(values ...string) []*kgo.Record {
	records := []*kgo.Record{}
	for _, value := range values {
		records = append(records, &kgo.Record{Value: []byte(value)})
	}
	return records
}

// each makes every value a batch of its own.
func each(values ...string) [][]*kgo.Record {
	batches := [][]*kgo.Record{}
	for _, value := range values {
		batches = append(batches, batch(value))
	}
	return batches
}

func text(bytes []byte) any {
	if bytes == nil {
		return nil
	}
	return string(bytes)
}

func values(records []*kgo.Record) []any {
	found := []any{}
	for _, record := range records {
		found = append(found, text(record.Value))
	}
	return found
}

func headers(records []*kgo.Record) []any {
	found := []any{}
	for _, record := range records {
		of := []any{}
		for _, header := range record.Headers {
			of = append(of, []any{header.Key, text(header.Value)})
		}
		found = append(found, of)
	}
	return found
}

// digest tells offsets, keys and values of many records in a few characters.
func digest(records []*kgo.Record) string {
	state := sha256.New()
	for _, r := range records {
		fmt.Fprintf(state, "%d|%v|%v\n", r.Offset, text(r.Key), text(r.Value))
	}
	return fmt.Sprintf("%d records %x", len(records), state.Sum(nil)[:8])
}
