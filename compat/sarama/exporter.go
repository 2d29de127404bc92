package main

import (
	"fmt"
	"sort"

	"github.com/IBM/sarama"
)

// exporter makes the calls of kafka_exporter for one topic and one group, and tells the figures that it would show.
func (c *client) exporter(a *ask) (any, error) {
	client, err := sarama.NewClient(c.bootstrap, config())
	if err != nil {
		return nil, err
	}
	defer client.Close()
	if err := client.RefreshMetadata(); err != nil {
		return nil, err
	}
	figures := []string{fmt.Sprintf("kafka_brokers %d", len(client.Brokers()))}
	partitions, err := client.Partitions(a.Topic)
	if err != nil {
		return nil, err
	}
	figures = append(figures, fmt.Sprintf("kafka_topic_partitions %d", len(partitions)))
	ends := map[int32]int64{}
	for _, p := range partitions {
		told, err := partitionFigures(client, a.Topic, p, ends)
		if err != nil {
			return nil, err
		}
		figures = append(figures, told...)
	}
	for _, broker := range client.Brokers() {
		told, err := groupFigures(client, broker, a, partitions, ends)
		if err != nil {
			return nil, err
		}
		figures = append(figures, told...)
	}
	sort.Strings(figures)
	return figures, nil
}

func partitionFigures(client sarama.Client, topic string, p int32, ends map[int32]int64) ([]string, error) {
	leader, err := client.Leader(topic, p)
	if err != nil {
		return nil, err
	}
	if ends[p], err = client.GetOffset(topic, p, sarama.OffsetNewest); err != nil {
		return nil, err
	}
	oldest, err := client.GetOffset(topic, p, sarama.OffsetOldest)
	if err != nil {
		return nil, err
	}
	replicas, err := client.Replicas(topic, p)
	if err != nil {
		return nil, err
	}
	inSync, err := client.InSyncReplicas(topic, p)
	if err != nil {
		return nil, err
	}
	return []string{
		fmt.Sprintf("kafka_topic_partition_leader %d %d", p, leader.ID()),
		fmt.Sprintf("kafka_topic_partition_current_offset %d %d", p, ends[p]),
		fmt.Sprintf("kafka_topic_partition_oldest_offset %d %d", p, oldest),
		fmt.Sprintf("kafka_topic_partition_replicas %d %d", p, len(replicas)),
		fmt.Sprintf("kafka_topic_partition_in_sync_replica %d %d", p, len(inSync)),
	}, nil
}

// groupFigures asks each broker for its groups, their members and their positions.
func groupFigures(client sarama.Client, broker *sarama.Broker, a *ask, partitions []int32, ends map[int32]int64) ([]string, error) {
	if err := broker.Open(client.Config()); err != nil && err != sarama.ErrAlreadyConnected {
		return nil, err
	}
	defer broker.Close()
	groups, err := broker.ListGroups(&sarama.ListGroupsRequest{})
	if err != nil {
		return nil, err
	}
	if _, ok := groups.Groups[a.Group]; !ok {
		return nil, nil
	}
	described, err := broker.DescribeGroups(&sarama.DescribeGroupsRequest{Groups: []string{a.Group}})
	if err != nil {
		return nil, err
	}
	figures := []string{fmt.Sprintf("kafka_consumergroup_members %d", len(described.Groups[0].Members))}
	request := &sarama.OffsetFetchRequest{ConsumerGroup: a.Group, Version: 1}
	for _, p := range partitions {
		request.AddPartition(a.Topic, p)
	}
	found, err := broker.FetchOffset(request)
	if err != nil {
		return nil, err
	}
	for _, p := range partitions {
		block := found.GetBlock(a.Topic, p)
		if block.Err != sarama.ErrNoError {
			return nil, block.Err
		}
		if block.Offset >= 0 {
			figures = append(figures, fmt.Sprintf("kafka_consumergroup_current_offset %d %d", p, block.Offset),
				fmt.Sprintf("kafka_consumergroup_lag %d %d", p, ends[p]-block.Offset))
		}
	}
	return figures, nil
}
