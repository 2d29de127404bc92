// checks BOOTSTRAP kafka|feed PREFIX [PART OF A NAME]: franz-go against a broker, one JSON line a check.
// checks BOOTSTRAP: franz-go in groups, asked in JSON lines.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
)

type answer = any
type object = map[string]any

type check struct {
	name string
	run  func(c *client) answer
}

// suite keeps checks in the order in which they were declared.
type suite struct{ checks []check }

func (s *suite) check(name string, run func(c *client) answer) {
	s.checks = append(s.checks, check{name, run})
}

// fault is a broker's refusal that no check asked for, carried to the check's answer by a panic.
type fault struct{ code string }

func main() {
	if len(os.Args) == 2 {
		serveMembers(os.Args[1])
		return
	}
	bootstrap, name, prefix, only := os.Args[1], os.Args[2], os.Args[3], ""
	if len(os.Args) > 4 {
		only = os.Args[4]
	}
	s := &suite{}
	switch name {
	case "kafka":
		declareProduce(s)
		declareFetch(s)
		declareTopics(s)
		declareConfigs(s)
		declareWire(s)
	case "groups":
		declareConsole(s)
	case "transactions":
		declareTransactionWire(s)
	case "feed":
		declareNames(s)
		declareHistory(s)
		declareBounds(s)
		declareRefusals(s)
	}
	c := newClient(bootstrap, prefix)
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	for _, check := range s.checks {
		if strings.Contains(check.name, only) {
			must(out.Encode(object{"check": check.name, "answer": answerOf(check, c)}))
		}
	}
}

func answerOf(check check, c *client) (given answer) {
	defer func() {
		switch err := recover().(type) {
		case nil:
		case fault:
			given = object{"error": err.code}
		default:
			given = object{"crash": fmt.Sprint(err)}
		}
	}()
	return check.run(c)
}

// outcome is "ok" or the protocol's name of the error; an error of the client's own making is told in its words.
func outcome(err error) string {
	var kafka *kerr.Error
	switch {
	case err == nil:
		return "ok"
	case errors.As(err, &kafka):
		return kafka.Message
	default:
		return "client: " + err.Error()
	}
}

// must ends the check with the broker's refusal, or with a crash.
func must(err error) {
	var kafka *kerr.Error
	switch {
	case err == nil:
	case errors.As(err, &kafka):
		panic(fault{kafka.Message})
	default:
		panic(err)
	}
}

func got[T any](value T, err error) T {
	must(err)
	return value
}
