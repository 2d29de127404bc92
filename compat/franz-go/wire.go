package main

import (
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// declareWire: requests that clients send by themselves, seen one by one.
func declareWire(s *suite) {
	s.check("wire.leader_epoch", func(c *client) answer {
		request := kadm.OffsetForLeaderEpochRequest{}
		request.Add(filled(c), 0, 0)
		found := got(c.admin.OffetForLeaderEpoch(within(), request))[filled(c)][0]
		return []any{found.LeaderEpoch, found.EndOffset, outcome(found.Err)}
	})
	s.check("wire.find_coordinator", func(c *client) answer {
		found := c.admin.FindGroupCoordinators(within(), "any-group")["any-group"]
		return object{"error": outcome(found.Err), "node_is_known": found.NodeID >= 0}
	})
	s.check("wire.init_producer_id", func(c *client) answer {
		request := kmsg.NewPtrInitProducerIDRequest()
		request.TransactionTimeoutMillis = 60_000
		first, second := got(request.RequestWith(within(), c.raw)), got(request.RequestWith(within(), c.raw))
		return object{
			"error": outcome(kerr.ErrorForCode(first.ErrorCode)), "epoch": first.ProducerEpoch,
			"ids_differ": first.ProducerID != second.ProducerID,
		}
	})
	s.check("wire.topic_ids", func(c *client) answer {
		one, again, two := c.metadata(filled(c)).TopicID, c.metadata(filled(c)).TopicID, c.metadata(timed(c)).TopicID
		return object{"given": one != [16]byte{}, "stable": one == again, "differ": one != two}
	})
	s.check("wire.api_versions", func(c *client) answer {
		request := kmsg.NewPtrApiVersionsRequest()
		request.ClientSoftwareName, request.ClientSoftwareVersion = "compat", "1"
		response := got(request.RequestWith(within(), c.raw))
		minima := object{}
		needed := map[int16]bool{0: true, 1: true, 2: true, 3: true, 10: true, 18: true, 19: true, 20: true, 22: true, 23: true, 32: true, 33: true, 37: true, 44: true, 60: true, 75: true}
		for _, key := range response.ApiKeys {
			if needed[key.ApiKey] {
				minima[kmsg.NameForKey(key.ApiKey)] = key.MinVersion
			}
		}
		return minima
	})
}
