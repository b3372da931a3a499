package consumers_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"
	"time"
)

// journal is what worker programs print.
type journal struct {
	mutex   sync.Mutex
	partial []byte
	begun   []work
	done    map[string]time.Time // by jid
	strange []string             // lines that are not understood
	ready   chan struct{}
}

// work is a job that a worker began.
type work struct {
	jid      string
	due      time.Time
	args     proofArgs
	at, done time.Time
}

// proofArgs are the args of a task: they name the task, to which no queue has to
// lead back, and say how long a job takes.
type proofArgs struct {
	Task string `json:"task"`
	Text string `json:"text"`
	MS   int    `json:"ms"`
}

func (a proofArgs) String() string {
	text, err := json.Marshal(a)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// Write takes what a worker prints.
func (j *journal) Write(text []byte) (int, error) {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	j.partial = append(j.partial, text...)
	for {
		line, rest, found := bytes.Cut(j.partial, []byte("\n"))
		if !found {
			return len(text), nil
		}
		if err := j.line(line); err != nil {
			j.strange = append(j.strange, fmt.Sprintf("%s: %v", line, err))
		}
		j.partial = rest
	}
}

func (j *journal) line(line []byte) error {
	var event struct {
		Event, JID string
		Due        *time.Time
		At         time.Time
		Args       proofArgs
	}
	if err := json.Unmarshal(line, &event); err != nil {
		return err
	}
	switch event.Event {
	case "ready":
		j.ready <- struct{}{}
	case "job":
		w := work{jid: event.JID, args: event.Args, at: event.At}
		if event.Due != nil {
			w.due = event.Due.UTC()
		}
		j.begun = append(j.begun, w)
	case "done":
		if j.done == nil {
			j.done = map[string]time.Time{}
		}
		j.done[event.JID] = event.At
	default:
		return fmt.Errorf("unknown event %q", event.Event)
	}
	return nil
}

// all returns the jobs that have begun. Where a worker does not print when a job
// has ended, that is when its work was over at the earliest.
func (j *journal) all() []work {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	list := make([]work, len(j.begun))
	for i, w := range j.begun {
		w.done = w.at.Add(time.Duration(w.args.MS) * time.Millisecond)
		if done, ok := j.done[w.jid]; ok && done.After(w.done) {
			w.done = done
		}
		list[i] = w
	}
	return list
}

// mistakes are the lines that were not understood.
func (j *journal) mistakes() []string {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	return j.strange
}
