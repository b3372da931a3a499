package config

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/nextrun/nextrun/periodic"
)

// gone are keys of a task that files of the first edition have, and what to use instead.
var gone = map[string]string{
	"finish_by":     "an alert on the view periodic_stale",
	"run_calendars": "days in the timer, or exclude_calendars with all other days",
	"on_excluded":   "nothing: a tick on an excluded day is skipped",
	"max_ticks":     "ends",
	"tick_count":    "ends",
	"catchup_delay": "catchup_limit",
	"spread":        "jitter",
	"concurrency":   "nextrun job limit task ID N",
	"probe_delay":   "nextrun task resume ID: a pause lasts until somebody ends it",
}

// withoutGone is a task without the keys that it had in the first edition; it notes them.
func (r *reader) withoutGone(n *yaml.Node, place string, known keys) *yaml.Node {
	n = resolve(n)
	if n.Kind != yaml.MappingNode {
		return n
	}
	left := *n
	left.Content = nil
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if instead, found := gone[key.Value]; found && known[key.Value] == nil {
			r.noteGone(key, join(place, key.Value), instead)
			continue
		}
		left.Content = append(left.Content, key, n.Content[i+1])
	}
	return &left
}

func (r *reader) noteGone(n *yaml.Node, what, instead string) {
	r.gone = append(r.gone, Problem{n.Line, what + " is gone; use " + instead})
}

// goneRow is what to use instead of a row of a calendar that is no day; empty: it is one.
func goneRow(key, value *yaml.Node) string {
	switch kind := resolve(value).Kind; {
	case kind == yaml.MappingNode || kind == yaml.SequenceNode:
		return "nextrun task pause --all --until TIME, or --group: a calendar holds only tasks that name it"
	case strings.Contains(key.Value, " for "):
		return "days: a calendar has whole days; for times of day use the timer"
	}
	return ""
}

// several reports, and notes, that a task has several timers in one.
func (r *reader) several(n *yaml.Node, place string, t *periodic.Task) bool {
	if !strings.Contains(t.Timer, ";") {
		return false
	}
	r.noteGone(find(n, "timer"), "a list of timers in "+join(place, "timer"), "a task for each timer; this one is left out")
	return true
}
