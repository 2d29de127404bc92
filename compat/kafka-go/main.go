// client BOOTSTRAP: kafka-go (segmentio), asked in JSON lines.
package main

import (
	"context"
	"errors"
	"maps"
	"os"
	"strconv"
	"time"

	"github.com/segmentio/kafka-go"
	"streamstack/compat/go-adapter"
)

type object = adapter.Object
type ask = adapter.Ask

const wait = 20 * time.Second

var bootstrap string

func main() {
	bootstrap = os.Args[1]
	handlers := adapter.Handlers{
		"create": create, "delete": remove, "grow": grow, "partitions": partitions, "topics": topics, "shape": shape,
		"cluster": cluster, "configs": configs, "alter": alter, "alter_all": alterAll,
		"produce": produce, "offset": offset, "read": read,
		"api_versions": apiVersions, "coordinator": coordinator, "producer_id": producerID,
		"delete_records": cannot("delete records"),
		"log_dirs":       cannot("describe the log directories"),
		"leader_epoch":   cannot("ask for the end of a leader epoch"),
		"topic_id":       cannot("show topic ids, which are above its version of Metadata"),
	}
	maps.Copy(handlers, memberAsks)
	maps.Copy(handlers, transactionAsks)
	adapter.Serve(handlers, codeOf)
}

func cannot(reason string) func(*ask) (any, error) {
	return func(*ask) (any, error) { return nil, adapter.Cannot(reason) }
}

func codeOf(err error) (any, bool) {
	var code kafka.Error
	if errors.As(err, &code) {
		return int(code), true
	}
	return nil, false
}

func within() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	context.AfterFunc(ctx, cancel)
	return ctx
}

// clientOf knows the topics by name. A transport answers Metadata from what it was told of all topics, among which views
// are not, unless it is given names.
func clientOf(topics ...string) (*kafka.Client, func()) {
	transport := &kafka.Transport{MetadataTopics: topics}
	return &kafka.Client{Addr: kafka.TCP(bootstrap), Timeout: wait, Transport: transport}, transport.CloseIdleConnections
}

func apiVersions(*ask) (any, error) {
	client, end := clientOf()
	defer end()
	response, err := client.ApiVersions(within(), &kafka.ApiVersionsRequest{})
	if err != nil {
		return nil, err
	}
	found := object{}
	for _, key := range response.ApiKeys {
		found[strconv.Itoa(key.ApiKey)] = []int{key.MinVersion, key.MaxVersion}
	}
	return found, response.Error
}

func coordinator(a *ask) (any, error) {
	client, end := clientOf()
	defer end()
	response, err := client.FindCoordinator(within(), &kafka.FindCoordinatorRequest{Key: a.Group, KeyType: kafka.CoordinatorKeyTypeConsumer})
	if err != nil {
		return nil, err
	}
	return response.Coordinator.NodeID, response.Error
}

func producerID(*ask) (any, error) {
	client, end := clientOf()
	defer end()
	response, err := client.InitProducerID(within(), &kafka.InitProducerIDRequest{TransactionTimeoutMs: 60_000})
	if err != nil {
		return nil, err
	}
	if response.Error != nil {
		return nil, response.Error
	}
	return []int{response.Producer.ProducerID, response.Producer.ProducerEpoch}, nil
}
