package config

import (
	"strings"

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
func (r *reader) withoutGone(n *node, place string, known keys) *node {
	left := *n
	left.pairs = nil
	for _, p := range n.pairs {
		if instead, found := gone[p.key.text]; found && known[p.key.text] == nil {
			r.noteGone(p.key, join(place, p.key.text), instead)
			continue
		}
		left.pairs = append(left.pairs, p)
	}
	return &left
}

func (r *reader) noteGone(n *node, what, instead string) {
	r.gone = append(r.gone, Problem{n.line, what + " is gone; use " + instead})
}

// goneRow is what to use instead of a row of a calendar that is no day; empty: it is one.
func goneRow(key, value *node) string {
	switch {
	case value.kind == isMapping || value.kind == isList:
		return "nextrun task pause --all --until TIME, or --group: a calendar holds only tasks that name it"
	case strings.Contains(key.text, " for "):
		return "days: a calendar has whole days; for times of day use the timer"
	}
	return ""
}

// several reports, and notes, that a task has several timers in one.
func (r *reader) several(n *node, place string, t *periodic.Task) bool {
	if !strings.Contains(t.Timer, ";") {
		return false
	}
	r.noteGone(n.find("timer"), "a list of timers in "+join(place, "timer"), "a task for each timer; this one is left out")
	return true
}
