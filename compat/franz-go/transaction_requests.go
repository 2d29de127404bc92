package main

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"
)

// Requests of transactions, one by one, in the version that is wanted.

// versioned speaks one version of one API, whatever the broker could do.
type versioned struct {
	*client
	version int16
	raw     *kgo.Client
}

func (c *client) at(key kmsg.Key, version int16) *versioned {
	versions := kversion.Stable()
	versions.SetMaxKeyVersion(key.Int16(), version)
	return &versioned{c, version, got(kgo.NewClient(kgo.SeedBrokers(c.bootstrap), kgo.MaxVersions(versions)))}
}

// inVersions asks the same in each of the versions.
func (c *client) inVersions(key kmsg.Key, from, to int16, ask func(v *versioned) answer) answer {
	told := object{}
	for version := from; version <= to; version++ {
		v := c.at(key, version)
		told[fmt.Sprintf("v%d", version)] = ask(v)
		v.raw.Close()
	}
	return told
}

// identity is what a producer shows of itself.
type identity struct {
	id       string
	producer int64
	epoch    int16
}

func (i identity) as(id string) identity      { return identity{id, i.producer, i.epoch} }
func (i identity) by(producer int64) identity { return identity{i.id, producer, i.epoch} }
func (i identity) in(epoch int16) identity    { return identity{i.id, i.producer, epoch} }
func (v *versioned) named(what string) string {
	return v.name(fmt.Sprintf("wire-%s-v%d", what, v.version))
}
func (v *versioned) opened(what string) identity { return v.client.bound(v.named(what)) }

// codeOnceIdle asks again while the transaction before is ending, or a new partition has no leader yet.
func codeOnceIdle(ask func() int16) string {
	var code int16
	waitFor(wait, func() bool {
		code = ask()
		return code != kerr.ConcurrentTransactions.Code && code != kerr.NotLeaderForPartition.Code
	})
	return outcome(kerr.ErrorForCode(code))
}

func initProducerID(raw *kgo.Client, id string, timeoutMs int32, current identity) *kmsg.InitProducerIDResponse {
	request := kmsg.NewPtrInitProducerIDRequest()
	request.TransactionalID, request.TransactionTimeoutMillis = &id, timeoutMs
	request.ProducerID, request.ProducerEpoch = current.producer, current.epoch
	return got(request.RequestWith(within(), raw))
}

var nobody = identity{producer: -1, epoch: -1}

// bound gives a transactional id a producer, in the newest version.
func (c *client) bound(id string) identity {
	var told *kmsg.InitProducerIDResponse
	codeOnceIdle(func() int16 { told = initProducerID(c.raw, id, 60_000, nobody); return told.ErrorCode })
	must(kerr.ErrorForCode(told.ErrorCode))
	return identity{id, told.ProducerID, told.ProducerEpoch}
}

func (v *versioned) addPartitions(by identity, topics ...string) string {
	request := kmsg.NewPtrAddPartitionsToTxnRequest()
	request.TransactionalID, request.ProducerID, request.ProducerEpoch = by.id, by.producer, by.epoch
	for _, name := range topics {
		topic := kmsg.NewAddPartitionsToTxnRequestTopic()
		topic.Topic, topic.Partitions = name, []int32{0}
		request.Topics = append(request.Topics, topic)
	}
	codes := ""
	codeOnceIdle(func() int16 {
		response := got(request.RequestWith(within(), v.raw))
		codes = ""
		last := int16(0)
		for _, topic := range response.Topics {
			last = topic.Partitions[0].ErrorCode
			codes += outcome(kerr.ErrorForCode(last)) + " "
		}
		return last
	})
	return codes
}

func (v *versioned) addOffsets(by identity, group string) string {
	request := kmsg.NewPtrAddOffsetsToTxnRequest()
	request.TransactionalID, request.ProducerID, request.ProducerEpoch, request.Group = by.id, by.producer, by.epoch, group
	return codeOnceIdle(func() int16 { return got(request.RequestWith(within(), v.raw)).ErrorCode })
}

// committer is for whom positions are sent.
type committer struct {
	member     string
	generation int32
}

func (v *versioned) sendPosition(by identity, group, topic string, who committer) string {
	request := kmsg.NewPtrTxnOffsetCommitRequest()
	request.TransactionalID, request.ProducerID, request.ProducerEpoch, request.Group = by.id, by.producer, by.epoch, group
	request.MemberID, request.Generation = who.member, who.generation
	partition := kmsg.NewTxnOffsetCommitRequestTopicPartition()
	partition.Offset = 1
	moved := kmsg.NewTxnOffsetCommitRequestTopic()
	moved.Topic, moved.Partitions = topic, append(moved.Partitions, partition)
	request.Topics = append(request.Topics, moved)
	return codeOnceIdle(func() int16 { return got(request.RequestWith(within(), v.raw)).Topics[0].Partitions[0].ErrorCode })
}

func (v *versioned) end(by identity, commit bool) (string, int16) {
	request := kmsg.NewPtrEndTxnRequest()
	request.TransactionalID, request.ProducerID, request.ProducerEpoch, request.Commit = by.id, by.producer, by.epoch, commit
	var response *kmsg.EndTxnResponse
	code := codeOnceIdle(func() int16 { response = got(request.RequestWith(within(), v.raw)); return response.ErrorCode })
	return code, response.ProducerEpoch
}

// batchOf one record, in a transaction.
func batchOf(by identity, sequence int32, value string) []byte {
	record := kmsg.Record{Value: []byte(value)}
	record.Length = int32(len(record.AppendTo(nil)) - 1)
	now := time.Now().UnixMilli()
	batch := kmsg.RecordBatch{
		PartitionLeaderEpoch: -1, Magic: 2, Attributes: 0x10, FirstTimestamp: now, MaxTimestamp: now,
		ProducerID: by.producer, ProducerEpoch: by.epoch, FirstSequence: sequence, NumRecords: 1, Records: record.AppendTo(nil),
	}
	bytes := batch.AppendTo(nil)
	binary.BigEndian.PutUint32(bytes[8:], uint32(len(bytes)-12))
	binary.BigEndian.PutUint32(bytes[17:], crc32.Checksum(bytes[21:], crc32.MakeTable(crc32.Castagnoli)))
	return bytes
}

func (v *versioned) produce(by identity, id *string, topic string, sequence int32) string {
	request := kmsg.NewPtrProduceRequest()
	request.TransactionID, request.Acks, request.TimeoutMillis = id, -1, 10_000
	partition := kmsg.NewProduceRequestTopicPartition()
	partition.Records = batchOf(by, sequence, "sent")
	sent := kmsg.NewProduceRequestTopic()
	sent.Topic, sent.Partitions = topic, append(sent.Partitions, partition)
	request.Topics = append(request.Topics, sent)
	return codeOnceIdle(func() int16 { return got(request.RequestWith(within(), v.raw)).Topics[0].Partitions[0].ErrorCode })
}
