// Package adapter is the loop of a client's program that is written in Go: asks in, answers out, each in a goroutine.
package adapter

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
)

// Object is a JSON object of an answer.
type Object = map[string]any

// Ask has the fields of all asks; which of them count is told by Do.
type Ask struct {
	ID           int64             `json:"id"`
	Do           string            `json:"do"`
	Topic        string            `json:"topic"`
	Partitions   int32             `json:"partitions"`
	Replicas     int16             `json:"replicas"`
	Configs      map[string]string `json:"configs"`
	ValidateOnly bool              `json:"validate_only"`
	Assignment   [][]int32         `json:"assignment"`
	Total        int32             `json:"total"`
	Kind         string            `json:"kind"`
	Name         string            `json:"name"`
	Changes      [][3]*string      `json:"changes"` // config, operation, value
	Partition    int32             `json:"partition"`
	Batches      [][]Record        `json:"batches"`
	Codec        string            `json:"codec"`
	Acks         *int16            `json:"acks"`
	Idempotent   *bool             `json:"idempotent"`
	AutoCreate   bool              `json:"auto_create"`
	MaxBytes     int32             `json:"max_bytes"`
	Before       int64             `json:"before"`
	At           int64             `json:"at"`
	Committed    bool              `json:"committed"`
	Start        int64             `json:"start"`
	End          *int64            `json:"end"`
	Count        *int              `json:"count"`
	MaxWaitMs    int64             `json:"max_wait_ms"`
	Reset        string            `json:"reset"`
	Group        string            `json:"group"`
	Member       string            `json:"member"`
	Topics       []string          `json:"topics"`
	Protocol     string            `json:"protocol"`
	Assignor     string            `json:"assignor"`
	Instance     string            `json:"instance"`
	SessionMs    int64             `json:"session_ms"`
	Of           []Place           `json:"of"`
	Positions    []Position        `json:"positions"`
	Producer     string            `json:"producer"`
	Transaction  string            `json:"transactional_id"`
	TimeoutMs    int64             `json:"timeout_ms"`
	Commit       bool              `json:"commit"`
}

// Record is one to be sent.
type Record struct {
	Key       *string      `json:"key"`
	Value     *string      `json:"value"`
	Headers   [][2]*string `json:"headers"`
	Timestamp *int64       `json:"timestamp"`
}

// Read is a record as it was found.
type Read struct {
	Offset    int64    `json:"offset"`
	Key       *string  `json:"key"`
	Value     *string  `json:"value"`
	Headers   [][2]any `json:"headers"`
	Timestamp int64    `json:"timestamp"`
}

// Cannot is the reason why the client has no way to do what was asked.
type Cannot string

func (c Cannot) Error() string { return string(c) }

// Done tells whether a reading that found so many records, the last at an offset, is at its end.
func (a *Ask) Done(found int, last int64) bool {
	return a.Count != nil && found >= *a.Count || a.End != nil && found > 0 && last >= *a.End-1
}

// NothingToCome: the reading starts at the end of the partition.
func (a *Ask) NothingToCome() bool { return a.End != nil && a.Start >= *a.End }

// Bytes of a text, nil if there is none.
func Bytes(text *string) []byte {
	if text == nil {
		return nil
	}
	return []byte(*text)
}

// Text of bytes, nil if there are none.
func Text(bytes []byte) *string {
	if bytes == nil {
		return nil
	}
	text := string(bytes)
	return &text
}

// Handlers by the name of the ask.
type Handlers map[string]func(*Ask) (any, error)

// Serve answers until the input ends. codeOf finds the broker's code in an error.
func Serve(handlers Handlers, codeOf func(error) (any, bool)) {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 64<<20)
	out, writing := json.NewEncoder(os.Stdout), sync.Mutex{}
	out.SetEscapeHTML(false)
	var asked sync.WaitGroup
	for in.Scan() {
		ask := &Ask{MaxBytes: 1 << 20, MaxWaitMs: 100}
		if err := json.Unmarshal(in.Bytes(), ask); err != nil {
			panic(err)
		}
		asked.Go(func() {
			answer := answered(handlers, ask, codeOf)
			answer["id"] = ask.ID
			writing.Lock()
			defer writing.Unlock()
			if err := out.Encode(answer); err != nil {
				panic(err)
			}
		})
	}
	asked.Wait()
}

func answered(handlers Handlers, ask *Ask, codeOf func(error) (any, bool)) (answer Object) {
	defer func() {
		if fault := recover(); fault != nil {
			answer = Object{"crash": fmt.Sprint(fault)}
		}
	}()
	handler, ok := handlers[ask.Do]
	if !ok {
		return Object{"crash": "no handler for " + ask.Do}
	}
	value, err := handler(ask)
	var reason Cannot
	switch {
	case err == nil:
		return Object{"ok": value}
	case errors.As(err, &reason):
		return Object{"cannot": string(reason)}
	}
	if code, ok := codeOf(err); ok {
		return Object{"refused": code}
	}
	return Object{"crash": fmt.Sprintf("%T: %v", err, err)}
}
