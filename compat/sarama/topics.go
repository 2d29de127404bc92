package main

import (
	"strconv"

	"github.com/IBM/sarama"
)

func (c *client) create(a *ask) (any, error) {
	detail := &sarama.TopicDetail{NumPartitions: a.Partitions, ReplicationFactor: a.Replicas, ConfigEntries: map[string]*string{}}
	for name, value := range a.Configs {
		detail.ConfigEntries[name] = &value
	}
	if a.Assignment != nil {
		detail.ReplicaAssignment = map[int32][]int32{}
		for partition, replicas := range a.Assignment {
			detail.ReplicaAssignment[int32(partition)] = replicas
		}
	}
	return nil, c.admin.CreateTopic(a.Topic, detail, a.ValidateOnly)
}

func (c *client) delete(a *ask) (any, error) { return nil, c.admin.DeleteTopic(a.Topic) }

func (c *client) grow(a *ask) (any, error) {
	return nil, c.admin.CreatePartitions(a.Topic, a.Total, nil, a.ValidateOnly)
}

// deleteRecords: sarama does not tell where the partition then begins.
func (c *client) deleteRecords(a *ask) (any, error) {
	return nil, c.admin.DeleteRecords(a.Topic, map[int32]int64{a.Partition: a.Before})
}

// logDirs tells the sizes of the topic's partitions; sarama asks for all topics.
func (c *client) logDirs(a *ask) (any, error) {
	brokers, _, err := c.admin.DescribeCluster()
	if err != nil {
		return nil, err
	}
	found, err := c.admin.DescribeLogDirs([]int32{brokers[0].ID()})
	sizes := []int64{}
	for _, dir := range found[brokers[0].ID()] {
		for _, topic := range dir.Topics {
			for _, partition := range topic.Partitions {
				if topic.Topic == a.Topic {
					sizes = append(sizes, partition.Size)
				}
			}
		}
	}
	return sizes, err
}

// described is one topic of Metadata, or its error or a partition's.
func (c *client) described(topic string) (*sarama.TopicMetadata, error) {
	found, err := c.admin.DescribeTopics([]string{topic})
	if err != nil {
		return nil, err
	}
	if found[0].Err != sarama.ErrNoError {
		return nil, found[0].Err
	}
	for _, partition := range found[0].Partitions {
		if partition.Err != sarama.ErrNoError {
			return nil, partition.Err
		}
	}
	return found[0], nil
}

func (c *client) partitions(a *ask) (any, error) {
	found, err := c.described(a.Topic)
	if err != nil {
		return nil, err
	}
	return len(found.Partitions), nil
}

func (c *client) shape(a *ask) (any, error) {
	found, err := c.described(a.Topic)
	if err != nil {
		return nil, err
	}
	rows := []any{}
	for _, p := range found.Partitions {
		rows = append(rows, []any{p.ID, len(p.Replicas), len(p.Isr), p.Leader >= 0})
	}
	return rows, nil
}

func (c *client) topicID(a *ask) (any, error) {
	found, err := c.described(a.Topic)
	if err != nil {
		return nil, err
	}
	return found.Uuid.String(), nil
}

func (c *client) topics(*ask) (any, error) {
	found, err := c.admin.ListTopics()
	names := []string{}
	for name := range found {
		names = append(names, name)
	}
	return names, err
}

func (c *client) cluster(*ask) (any, error) {
	brokers, controller, err := c.admin.DescribeCluster()
	if err != nil {
		return nil, err
	}
	nodes := []int32{}
	for _, broker := range brokers {
		nodes = append(nodes, broker.ID())
	}
	return object{"nodes": nodes, "controller": controller, "id": nil, "host": brokers[0].Addr()[:9]}, nil
}

func kindOf(a *ask) sarama.ConfigResourceType {
	if a.Kind == "broker" {
		return sarama.BrokerResource
	}
	return sarama.TopicResource
}

func (c *client) configs(a *ask) (any, error) {
	resource := &sarama.ConfigResource{Type: kindOf(a), Name: a.Name}
	options := sarama.DescribeConfigsOptions{IncludeSynonyms: true, IncludeDocumentation: true}
	results, err := c.admin.DescribeConfigs([]*sarama.ConfigResource{resource}, options)
	if err != nil {
		return nil, err
	}
	if results[0].ErrorCode != sarama.ErrNoError {
		return nil, results[0].ErrorCode
	}
	found := object{}
	for _, entry := range results[0].Configs {
		synonyms := []any{}
		for _, s := range entry.Synonyms {
			synonyms = append(synonyms, []any{s.ConfigName, s.ConfigValue, s.Source})
		}
		found[entry.Name] = object{
			"value": entry.Value, "source": entry.Source, "type": entry.Type, "read_only": entry.ReadOnly,
			"sensitive": entry.Sensitive, "documented": entry.Documentation != nil && *entry.Documentation != "", "synonyms": synonyms,
		}
	}
	return found, nil
}

var operations = map[string]sarama.IncrementalAlterConfigsOperation{
	"SET": sarama.IncrementalAlterConfigsOperationSet, "DELETE": sarama.IncrementalAlterConfigsOperationDelete,
	"APPEND": sarama.IncrementalAlterConfigsOperationAppend, "SUBTRACT": sarama.IncrementalAlterConfigsOperationSubtract,
}

func (c *client) alter(a *ask) (any, error) {
	entries := map[string]sarama.IncrementalAlterConfigsEntry{}
	for _, change := range a.Changes {
		entries[*change[0]] = sarama.IncrementalAlterConfigsEntry{Operation: operations[*change[1]], Value: change[2]}
	}
	return nil, c.admin.IncrementalAlterConfig(kindOf(a), a.Name, entries, a.ValidateOnly)
}

func (c *client) alterAll(a *ask) (any, error) {
	entries := map[string]*string{}
	for name, value := range a.Configs {
		entries[name] = &value
	}
	return nil, c.admin.AlterConfig(sarama.TopicResource, a.Topic, entries, false)
}

func (c *client) apiVersions(*ask) (any, error) {
	broker, err := c.admin.Controller()
	if err != nil {
		return nil, err
	}
	response, err := broker.ApiVersions(&sarama.ApiVersionsRequest{Version: 3, ClientSoftwareName: "compat", ClientSoftwareVersion: "1"})
	if err != nil {
		return nil, err
	}
	found := object{}
	for _, key := range response.ApiKeys {
		found[strconv.Itoa(int(key.ApiKey))] = []int16{key.MinVersion, key.MaxVersion}
	}
	return found, nil
}

func (c *client) coordinator(a *ask) (any, error) {
	broker, err := c.admin.Coordinator(a.Group)
	if err != nil {
		return nil, err
	}
	return broker.ID(), nil
}

func (c *client) producerID(*ask) (any, error) {
	one, err := sarama.NewClient(c.bootstrap, idempotent(config()))
	if err != nil {
		return nil, err
	}
	defer one.Close()
	response, err := one.InitProducerID()
	if err != nil {
		return nil, err
	}
	return []any{response.ProducerID, response.ProducerEpoch}, nil
}
