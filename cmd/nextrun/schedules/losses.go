package schedules

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/nextrun/nextrun/periodic"
)

// NewExport begins the item of a task that is written.
func NewExport(e *Export) Item {
	item := Item{File: e.Task.ID, Source: e.Task.Timer, Entry: &Entry{Task: e.Task}}
	if e.Handler != nil && e.Handler.Limits.Concurrency > 0 {
		item.Change("lost: the concurrency of its handler")
	}
	return item
}

// Refuse makes an item one that is not written.
func (i *Item) Refuse(why string) { i.Entry, i.Changed, i.Refused = nil, nil, why }

// Lose names the columns that the other program has no equivalent for, if they are not
// as a new task has them. has are those that it knows.
func (i *Item) Lose(has ...string) {
	t := &i.Entry.Task
	set := []struct {
		column string
		set    bool
	}{
		{"starts", !t.Starts.IsZero()}, {"ends", !t.Ends.IsZero()}, {"deadline", t.Deadline != nil}, {"jitter", t.Jitter != 0},
		{"retry_limit", t.RetryLimit != nil}, {"retry_delay", t.RetryDelay != 0}, {"timeout", t.Timeout != 0},
		{"concurrency", t.Concurrency != 0}, {"priority", t.Priority != 0}, {"group_", t.Group != "default"},
		{"sink", t.Sink != periodic.SinkJob}, {"paused", !t.Pause.Since.IsZero()},
	}
	var lost []string
	for _, s := range set {
		if s.set && !slices.Contains(has, s.column) {
			lost = append(lost, s.column)
		}
	}
	if len(lost) > 0 {
		i.Change("lost: " + strings.Join(lost, ", "))
	}
}

// Program is what runs the jobs of a task: the command of its handler, or else the one in
// its args. If there is none, it says why.
func (e *Export) Program() (p CommandPayload, why string) {
	if e.Handler != nil && e.Handler.Command != nil {
		c := e.Handler.Command
		return CommandPayload{Command: c.Argv, Env: c.Env, Dir: c.Dir}, ""
	}
	if err := json.Unmarshal([]byte(e.Task.Args), &p); err == nil && len(p.Command) > 0 {
		return p, ""
	}
	if e.Handler != nil && e.Handler.SQL != nil {
		return p, fmt.Sprintf("the handler %q runs SQL; there is no command", e.Task.Task)
	}
	if e.Handler != nil {
		return p, fmt.Sprintf("the handler %q makes an HTTP call; there is no command", e.Task.Task)
	}
	return p, fmt.Sprintf("the configuration has no handler %q; name its file with --config", e.Task.Task)
}
