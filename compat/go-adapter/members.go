package adapter

import (
	"encoding/json"
	"sync"
)

// Place is a partition, [topic, partition] in JSON.
type Place struct {
	Topic     string
	Partition int32
}

func (p *Place) UnmarshalJSON(data []byte) error {
	return json.Unmarshal(data, &[]any{&p.Topic, &p.Partition})
}

func (p Place) MarshalJSON() ([]byte, error) {
	return json.Marshal([]any{p.Topic, p.Partition})
}

// Position of a group, [topic, partition, offset, metadata] in JSON.
type Position struct {
	Place
	Offset   int64
	Metadata string
}

func (p *Position) UnmarshalJSON(data []byte) error {
	return json.Unmarshal(data, &[]any{&p.Topic, &p.Partition, &p.Offset, &p.Metadata})
}

func (p Position) MarshalJSON() ([]byte, error) {
	return json.Marshal([]any{p.Topic, p.Partition, p.Offset, p.Metadata})
}

// Told is what a member tells of itself. Its client calls it from several goroutines.
type Told struct {
	mutex             sync.Mutex
	partitions, taken []Place
	read              []any
	fault             error
}

func (t *Told) Gained(places ...Place) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.partitions = append(t.partitions, places...)
}

func (t *Told) Lost(places ...Place) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.taken = append(t.taken, places...)
	kept := []Place{}
	for _, had := range t.partitions {
		if !contains(places, had) {
			kept = append(kept, had)
		}
	}
	t.partitions = kept
}

func contains(places []Place, wanted Place) bool {
	for _, place := range places {
		if place == wanted {
			return true
		}
	}
	return false
}

func (t *Told) Read(topic string, partition int32, offset int64, value []byte) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.read = append(t.read, []any{topic, partition, offset, string(value)})
}

// Failed ends the check that looks at the member.
func (t *Told) Failed(err error) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.fault = err
}

// Answer to the ask "member".
func (t *Told) Answer(generation any) Object {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	answer := Object{"partitions": append([]Place{}, t.partitions...), "taken": append([]Place{}, t.taken...), "read": append([]any{}, t.read...), "generation": generation}
	if t.fault != nil {
		answer["error"] = t.fault.Error()
	}
	return answer
}

// Members by their names.
type Members[M any] struct {
	mutex sync.Mutex
	all   map[string]M
}

func (m *Members[M]) Put(name string, member M) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.all == nil {
		m.all = map[string]M{}
	}
	m.all[name] = member
}

func (m *Members[M]) Get(name string) M {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return m.all[name]
}
