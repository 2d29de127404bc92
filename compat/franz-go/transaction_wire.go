package main

import (
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// At single requests: the code for each mistake, in every version, for clients of different ages are told different ones.

func declareTransactionWire(s *suite) {
	s.check("transactions.wire.init_producer_id", initProducerIDWire)
	s.check("transactions.wire.resume", resumeWire)
	s.check("transactions.wire.add_partitions", addPartitionsWire)
	s.check("transactions.wire.add_offsets", addOffsetsWire)
	s.check("transactions.wire.txn_offset_commit", txnOffsetCommitWire)
	s.check("transactions.wire.end_txn", endTxnWire)
	s.check("transactions.wire.end_txn_again", endTxnAgainWire)
	s.check("transactions.wire.produce", produceWire)
}

func initProducerIDWire(c *client) answer {
	return c.inVersions(kmsg.InitProducerID, 0, 5, func(v *versioned) answer {
		ask := func(id string, timeoutMs int32, current identity) []any {
			told := initProducerID(v.raw, id, timeoutMs, current)
			return []any{outcome(kerr.ErrorForCode(told.ErrorCode)), told.ProducerEpoch}
		}
		id := v.named("init")
		answers := object{
			"new": ask(id, 60_000, nobody), "again": ask(id, 60_000, nobody), "empty": ask("", 60_000, nobody),
			"no time": ask(v.named("no-time"), 0, nobody), "less": ask(v.named("less"), -1, nobody), "endless": ask(v.named("endless"), 1<<31-1, nobody),
		}
		if v.version >= 3 {
			known := v.opened("init")
			answers["another"] = ask(id, 60_000, known.by(known.producer+1_000_000))
			answers["newer"] = ask(id, 60_000, known.in(known.epoch+5))
			answers["half"] = ask(id, 60_000, known.in(-1))
			answers["of a new id"] = ask(v.named("init-new"), 60_000, identity{"", 7, 3})
		}
		return answers
	})
}

// resumeWire: a producer goes on after an error, and asks again when the answer is lost (KIP-360).
func resumeWire(c *client) answer {
	return c.inVersions(kmsg.InitProducerID, 3, 5, func(v *versioned) answer {
		known := v.opened("resume")
		ask := func(current identity) []any {
			told := initProducerID(v.raw, current.id, 60_000, current)
			return []any{outcome(kerr.ErrorForCode(told.ErrorCode)), told.ProducerEpoch}
		}
		return []any{ask(known), ask(known), ask(known.in(known.epoch + 1)), ask(known)}
	})
}

// mistaken are the ways in which a producer can be wrong about itself.
func mistaken(by identity, ask func(identity) string) object {
	return object{
		"unknown id": ask(by.as(by.id + "-unknown")), "empty id": ask(by.as("")), "another": ask(by.by(by.producer + 1_000_000)),
		"older": ask(by.in(by.epoch - 1)), "newer": ask(by.in(by.epoch + 1)),
	}
}

func addPartitionsWire(c *client) answer {
	topic := c.create(c.name("wire-partitions"), 1)
	return c.inVersions(kmsg.AddPartitionsToTxn, 0, 3, func(v *versioned) answer {
		v.opened("partitions")
		by := v.opened("partitions")
		answers := mistaken(by, func(by identity) string { return v.addPartitions(by, topic) })
		answers["unknown topic"] = v.addPartitions(by, topic, topic+"-unknown")
		answers["good"] = v.addPartitions(by, topic)
		answers["again"] = v.addPartitions(by, topic)
		return answers
	})
}

func addOffsetsWire(c *client) answer {
	return c.inVersions(kmsg.AddOffsetsToTxn, 0, 4, func(v *versioned) answer {
		v.opened("offsets")
		by := v.opened("offsets")
		answers := mistaken(by, func(by identity) string { return v.addOffsets(by, v.named("group")) })
		answers["good"] = v.addOffsets(by, v.named("group"))
		answers["again"] = v.addOffsets(by, v.named("group"))
		return answers
	})
}

func txnOffsetCommitWire(c *client) answer {
	topic := c.create(c.name("wire-positions"), 1)
	simple := committer{"", -1}
	return c.inVersions(kmsg.TxnOffsetCommit, 0, 5, func(v *versioned) answer {
		group := v.named("positions-group")
		v.opened("positions")
		by := v.opened("positions")
		other := c.at(kmsg.AddOffsetsToTxn, 4)
		defer other.raw.Close()
		answers := object{}
		if v.version < 5 {
			answers["not added"] = v.sendPosition(by, group, topic, simple)
		}
		answers["added"] = other.addOffsets(by, group)
		for name, code := range mistaken(by, func(by identity) string { return v.sendPosition(by, group, topic, simple) }) {
			answers[name] = code
		}
		answers["unknown topic"] = v.sendPosition(by, group, topic+"-unknown", simple)
		answers["good"] = v.sendPosition(by, group, topic, simple)
		if v.version >= 3 {
			answers["member of none"] = v.sendPosition(by, group, topic, committer{"somebody", 1})
			answers["generation of none"] = v.sendPosition(by, group, topic, committer{"", 1})
			added := other.addOffsets(by, group+"-unknown")
			answers["generation of no group"] = added + " " + v.sendPosition(by, group+"-unknown", topic, committer{"somebody", 1})
		}
		return answers
	})
}

func endTxnWire(c *client) answer {
	topic := c.create(c.name("wire-end"), 1)
	return c.inVersions(kmsg.EndTxn, 0, 5, func(v *versioned) answer {
		other := c.at(kmsg.AddPartitionsToTxn, 3)
		defer other.raw.Close()
		v.opened("end")
		by := v.opened("end")
		code, _ := v.end(by, true)
		answers := object{"commit of nothing": code}
		other.addPartitions(by, topic)
		for name, code := range mistaken(by, func(by identity) string { code, _ := v.end(by, true); return code }) {
			answers[name] = code
		}
		return answers
	})
}

// endTxnAgainWire: who lost the answer asks again, and who changes its mind is told so.
func endTxnAgainWire(c *client) answer {
	topic := c.create(c.name("wire-end-again"), 1)
	return c.inVersions(kmsg.EndTxn, 0, 5, func(v *versioned) answer {
		other := c.at(kmsg.AddPartitionsToTxn, 3)
		defer other.raw.Close()
		answers := object{}
		for name, commit := range map[string]bool{"commit": true, "abort": false} {
			by := v.opened("again-" + name)
			other.addPartitions(by, topic)
			tell := func(by identity, commit bool) []any {
				code, epoch := v.end(by, commit)
				return []any{code, epoch}
			}
			answers[name] = []any{tell(by, commit), tell(by, commit), tell(by, !commit), tell(by.in(by.epoch+1), commit), tell(by.in(by.epoch+1), !commit)}
		}
		by := v.opened("nothing")
		code, epoch := v.end(by, false)
		answers["abort of nothing"] = []any{code, epoch}
		return answers
	})
}

func produceWire(c *client) answer {
	return c.inVersions(kmsg.Produce, 8, 12, func(v *versioned) answer {
		topic := c.create(v.named("produce"), 1)
		other := c.at(kmsg.AddPartitionsToTxn, 3)
		defer other.raw.Close()
		v.opened("produce")
		by := v.opened("produce")
		id := by.id
		unknown := id + "-unknown"
		answers := object{"unknown id": v.produce(by, &unknown, topic, 0), "not added": v.produce(by, &id, topic, 0)}
		other.addPartitions(by, topic)
		answers["good"] = v.produce(by, &id, topic, 0)
		answers["again"] = v.produce(by, &id, topic, 0)
		answers["without id"] = v.produce(by, nil, topic, 1)
		answers["older"] = v.produce(by.in(by.epoch-1), &id, topic, 1)
		answers["another"] = v.produce(by.by(by.producer+1_000_000), &id, topic, 0)
		ender := c.at(kmsg.EndTxn, 4)
		defer ender.raw.Close()
		ender.end(by, true)
		waitFor(wait, func() bool { _, end := c.bounds(topic, 0); _, stable := c.bounds(topic, 0, 1); return end == stable })
		answers["late"] = v.produce(by, &id, topic, 1)
		answers["newer"] = v.produce(by.in(by.epoch+1), &id, topic, 0)
		return answers
	})
}
