// client BOOTSTRAP: sarama, asked in JSON lines.
package main

import (
	"errors"
	"maps"
	"os"

	"github.com/IBM/sarama"
	"streamstack/compat/go-adapter"
)

type object = adapter.Object
type ask = adapter.Ask

// client is a connection for admin calls; producers and consumers are made for each ask.
type client struct {
	bootstrap []string
	admin     sarama.ClusterAdmin
}

func main() {
	bootstrap := os.Args[1:2]
	admin, err := sarama.NewClusterAdmin(bootstrap, config())
	if err != nil {
		panic(err)
	}
	c := &client{bootstrap, admin}
	handlers := adapter.Handlers{
		"create": c.create, "delete": c.delete, "grow": c.grow, "partitions": c.partitions, "topics": c.topics,
		"delete_records": c.deleteRecords, "log_dirs": c.logDirs, "shape": c.shape, "topic_id": c.topicID, "cluster": c.cluster,
		"configs": c.configs, "alter": c.alter, "alter_all": c.alterAll,
		"produce": c.produce, "offset": c.offset, "read": c.read,
		"api_versions": c.apiVersions, "coordinator": c.coordinator, "producer_id": c.producerID,
		"leader_epoch": cannot("ask for the end of a leader epoch"),
	}
	maps.Copy(handlers, c.memberAsks())
	maps.Copy(handlers, c.transactionAsks())
	adapter.Serve(handlers, codeOf)
}

// config with the newest version that sarama speaks, which it does not take by itself.
func config() *sarama.Config {
	config := sarama.NewConfig()
	config.Version = sarama.MaxVersion
	config.Metadata.AllowAutoTopicCreation = false
	return config
}

func cannot(reason string) func(*ask) (any, error) {
	return func(*ask) (any, error) { return nil, adapter.Cannot(reason) }
}

func codeOf(err error) (any, bool) {
	var code sarama.KError
	if errors.As(err, &code) && code > 0 {
		return int16(code), true
	}
	var grown *sarama.TopicPartitionError
	if errors.As(err, &grown) {
		return int16(grown.Err), true
	}
	var altered *sarama.AlterConfigError
	if errors.As(err, &altered) {
		return int16(altered.Err), true
	}
	var unfit sarama.ConfigurationError
	if errors.As(err, &unfit) {
		return "client: " + err.Error(), true
	}
	return nil, false
}
