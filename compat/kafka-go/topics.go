package main

import (
	"context"
	"time"

	"github.com/segmentio/kafka-go"
	"streamstack/compat/go-adapter"
)

func create(a *ask) (any, error) {
	client, end := clientOf()
	defer end()
	topic := kafka.TopicConfig{Topic: a.Topic, NumPartitions: int(a.Partitions), ReplicationFactor: int(a.Replicas)}
	for name, value := range a.Configs {
		topic.ConfigEntries = append(topic.ConfigEntries, kafka.ConfigEntry{ConfigName: name, ConfigValue: value})
	}
	for partition, replicas := range a.Assignment {
		assigned := kafka.ReplicaAssignment{Partition: partition}
		for _, replica := range replicas {
			assigned.Replicas = append(assigned.Replicas, int(replica))
		}
		topic.ReplicaAssignments = append(topic.ReplicaAssignments, assigned)
	}
	ctx := within()
	if a.ValidateOnly {
		// It waits for the topic to appear, which then does not.
		short, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		ctx = short
	}
	response, err := client.CreateTopics(ctx, &kafka.CreateTopicsRequest{Topics: []kafka.TopicConfig{topic}, ValidateOnly: a.ValidateOnly})
	if err != nil {
		return nil, err
	}
	return nil, response.Errors[a.Topic]
}

func remove(a *ask) (any, error) {
	client, end := clientOf()
	defer end()
	response, err := client.DeleteTopics(within(), &kafka.DeleteTopicsRequest{Topics: []string{a.Topic}})
	if err != nil {
		return nil, err
	}
	return nil, response.Errors[a.Topic]
}

func grow(a *ask) (any, error) {
	client, end := clientOf()
	defer end()
	topic := kafka.TopicPartitionsConfig{Name: a.Topic, Count: a.Total}
	request := &kafka.CreatePartitionsRequest{Topics: []kafka.TopicPartitionsConfig{topic}, ValidateOnly: a.ValidateOnly}
	response, err := client.CreatePartitions(within(), request)
	if err != nil {
		return nil, err
	}
	return nil, response.Errors[a.Topic]
}

// described is one topic of Metadata, or its error or a partition's.
func described(name string) (kafka.Topic, error) {
	client, end := clientOf(name)
	defer end()
	response, err := client.Metadata(within(), &kafka.MetadataRequest{Topics: []string{name}})
	if err != nil {
		return kafka.Topic{}, err
	}
	topic := response.Topics[0]
	if topic.Error != nil {
		return topic, topic.Error
	}
	for _, partition := range topic.Partitions {
		if partition.Error != nil {
			return topic, partition.Error
		}
	}
	return topic, nil
}

func partitions(a *ask) (any, error) {
	topic, err := described(a.Topic)
	return len(topic.Partitions), err
}

func shape(a *ask) (any, error) {
	topic, err := described(a.Topic)
	rows := []any{}
	for _, p := range topic.Partitions {
		rows = append(rows, []any{p.ID, len(p.Replicas), len(p.Isr), p.Leader.Host != ""})
	}
	return rows, err
}

func topics(*ask) (any, error) {
	client, end := clientOf()
	defer end()
	response, err := client.Metadata(within(), &kafka.MetadataRequest{})
	if err != nil {
		return nil, err
	}
	names := []string{}
	for _, topic := range response.Topics {
		names = append(names, topic.Name)
	}
	return names, nil
}

func cluster(*ask) (any, error) {
	client, end := clientOf()
	defer end()
	response, err := client.Metadata(within(), &kafka.MetadataRequest{})
	if err != nil {
		return nil, err
	}
	nodes := []int{}
	for _, broker := range response.Brokers {
		nodes = append(nodes, broker.ID)
	}
	return object{"nodes": nodes, "controller": response.Controller.ID, "id": response.ClusterID != "", "host": response.Brokers[0].Host}, nil
}

func kindOf(a *ask) kafka.ResourceType {
	if a.Kind == "broker" {
		return kafka.ResourceTypeBroker
	}
	return kafka.ResourceTypeTopic
}

func configs(a *ask) (any, error) {
	client, end := clientOf()
	defer end()
	resource := kafka.DescribeConfigRequestResource{ResourceType: kindOf(a), ResourceName: a.Name}
	request := &kafka.DescribeConfigsRequest{
		Resources: []kafka.DescribeConfigRequestResource{resource}, IncludeSynonyms: true, IncludeDocumentation: true,
	}
	response, err := client.DescribeConfigs(within(), request)
	if err != nil {
		return nil, err
	}
	if response.Resources[0].Error != nil {
		return nil, response.Resources[0].Error
	}
	found := object{}
	for _, entry := range response.Resources[0].ConfigEntries {
		synonyms := []any{}
		for _, s := range entry.ConfigSynonyms {
			synonyms = append(synonyms, []any{s.ConfigName, s.ConfigValue, s.ConfigSource})
		}
		found[entry.ConfigName] = object{
			"value": entry.ConfigValue, "source": entry.ConfigSource, "type": entry.ConfigType, "read_only": entry.ReadOnly,
			"sensitive": entry.IsSensitive, "documented": entry.ConfigDocumentation != "", "synonyms": synonyms,
		}
	}
	return found, nil
}

var operations = map[string]kafka.ConfigOperation{
	"SET": kafka.ConfigOperationSet, "DELETE": kafka.ConfigOperationDelete,
	"APPEND": kafka.ConfigOperationAppend, "SUBTRACT": kafka.ConfigOperationSubtract,
}

func alter(a *ask) (any, error) {
	if a.Name == "" {
		return nil, adapter.Cannot("name the cluster in a config request, only one broker")
	}
	client, end := clientOf()
	defer end()
	resource := kafka.IncrementalAlterConfigsRequestResource{ResourceType: kindOf(a), ResourceName: a.Name}
	for _, change := range a.Changes {
		one := kafka.IncrementalAlterConfigsRequestConfig{Name: *change[0], ConfigOperation: operations[*change[1]]}
		one.Value = string(adapter.Bytes(change[2]))
		resource.Configs = append(resource.Configs, one)
	}
	request := &kafka.IncrementalAlterConfigsRequest{
		Resources: []kafka.IncrementalAlterConfigsRequestResource{resource}, ValidateOnly: a.ValidateOnly,
	}
	response, err := client.IncrementalAlterConfigs(within(), request)
	if err != nil {
		return nil, err
	}
	return nil, response.Resources[0].Error
}

func alterAll(a *ask) (any, error) {
	client, end := clientOf()
	defer end()
	resource := kafka.AlterConfigRequestResource{ResourceType: kafka.ResourceTypeTopic, ResourceName: a.Topic}
	for name, value := range a.Configs {
		resource.Configs = append(resource.Configs, kafka.AlterConfigRequestConfig{Name: name, Value: value})
	}
	response, err := client.AlterConfigs(within(), &kafka.AlterConfigsRequest{Resources: []kafka.AlterConfigRequestResource{resource}})
	if err != nil {
		return nil, err
	}
	for _, refused := range response.Errors {
		if refused != nil {
			return nil, refused
		}
	}
	return nil, nil
}
