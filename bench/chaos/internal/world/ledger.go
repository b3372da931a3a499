// Package world is the world around nextrun: people who make and edit tasks, with timers whose ticks follow from plain arithmetic, what
// the handlers of jobs call, the consumer of a queue that is not nextrun's, and who receives events. A ledger notes what it sees.
package world

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// Run is one run of a job, as the handler saw it.
type Run struct {
	Job, Task  string    // jid and id
	Due        string    // as nextrun wrote it; empty: not for a tick
	Begin, End time.Time // zero for commands
	Succeeded  bool
}

// Ledger is what happened outside of the database: the runs of jobs and the events that arrived.
type Ledger struct {
	mu        sync.Mutex
	runs      []Run
	delivered map[string][]int // aggregate -> versions, in the order of their first arrival
}

// NewLedger returns an empty ledger.
func NewLedger() *Ledger { return &Ledger{delivered: map[string][]int{}} }

// Begins notes that a run begins. The function that it returns notes the end.
func (l *Ledger) Begins(jid, task, due string) (ends func(succeeded bool)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := len(l.runs)
	l.runs = append(l.runs, Run{Job: jid, Task: task, Due: due, Begin: time.Now()})
	return func(succeeded bool) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.runs[i].End, l.runs[i].Succeeded = time.Now(), succeeded
	}
}

// Arrived notes an event, which may come again.
func (l *Ledger) Arrived(aggregate string, version int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !slices.Contains(l.delivered[aggregate], version) {
		l.delivered[aggregate] = append(l.delivered[aggregate], version)
	}
}

// Runs are all runs, in the order in which they began; those of commands are the last.
func (l *Ledger) Runs() []Run {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.runs)
}

// Delivered are the versions of an aggregate whose events arrived, in the order of their first arrival.
func (l *Ledger) Delivered(aggregate string) []int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.delivered[aggregate])
}

// ReadFile adds the runs of commands, each of which has written a line when it began.
func (l *Ledger) ReadFile(name string) error {
	file, err := os.Open(name)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // it is only read
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		words := strings.Split(lines.Text(), " ")
		if len(words) != 3 {
			return fmt.Errorf("%s has a line %q", name, lines.Text())
		}
		l.runs = append(l.runs, Run{Job: words[0], Task: words[1], Due: words[2], Succeeded: true})
	}
	return lines.Err()
}
