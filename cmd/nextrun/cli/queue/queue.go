package queue

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/internal/foreign"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

// Command returns `nextrun queue` with its commands.
func Command(env *ui.Env) *cobra.Command {
	return ui.Group(&cobra.Command{
		Use:   "queue",
		Short: "Show and check the queues that are not nextrun's own",
	}, listCommand(env), checkCommand(env), triggerCommand(env))
}

// withQueue runs fn with a queue of the configuration file.
func withQueue(ctx context.Context, env *ui.Env, name string, fn func(foreign.Queue) error) error {
	return env.WithQueues(ctx, func(_ *store.DB, configured ui.Queues) error {
		q, found := configured[periodic.Sink(name)].(foreign.Queue)
		if !found {
			return notThere(configured, name)
		}
		return fn(q)
	})
}

// notThere says that no queue of the configuration has a name.
func notThere(configured ui.Queues, name string) error {
	switch {
	case name == string(periodic.SinkJob) || name == string(periodic.SinkEvent):
		return ui.Usagef("%s is built in; name a queue of the section queues of the configuration", name)
	case len(configured) == 0:
		return ui.Usagef("no queues are configured; %s", ui.NameTheFile)
	}
	var names []string
	for _, sink := range slices.Sorted(maps.Keys(configured)) {
		names = append(names, string(sink))
	}
	return ui.Usagef("the configuration has no queue %q; use one of %s", name, strings.Join(names, ", "))
}

// queueJSON is the JSON form of a queue.
type queueJSON struct {
	Name     string        `json:"name"`
	Type     string        `json:"type"`
	Version  string        `json:"version"` // empty: none found
	Problems []problemJSON `json:"problems"`
	Grants   []string      `json:"grants"`
}

type problemJSON struct {
	Level  string `json:"level"` // error or warning
	Text   string `json:"text"`
	Remedy string `json:"remedy,omitempty"`
}

func newQueueJSON(name string, report foreign.Report) queueJSON {
	found := queueJSON{
		Name: name, Type: report.Kind, Version: report.Found,
		Problems: []problemJSON{}, Grants: append([]string{}, report.Grants...),
	}
	for _, p := range report.Problems {
		level := "error"
		if p.Warning {
			level = "warning"
		}
		found.Problems = append(found.Problems, problemJSON{level, p.Text, p.Remedy})
	}
	return found
}

// String is the problem on one line.
func (p problemJSON) String() string {
	text := p.Text
	if p.Level == "warning" {
		text = "warning: " + text
	}
	if p.Remedy != "" {
		text += ": " + p.Remedy
	}
	return text
}

// text is all problems on one line.
func (q queueJSON) text() string {
	lines := make([]string, len(q.Problems))
	for i, p := range q.Problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "; ")
}
