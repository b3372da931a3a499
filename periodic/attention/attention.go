// Package attention is the rule for a task that needs somebody although its newest run ended well, or
// has not ended: it loses ticks, or it fails most of the time. The filter of tasks asks it in SQL, and pages and
// commands of the same ticks, so that they agree. What fails now is not its concern.
package attention

import (
	"fmt"
	"slices"
	"strings"
)

// Window is how many of a task's newest ticks are looked at.
const Window = 10

// A task loses ticks if so many of them were skipped, since a job of an earlier tick had not ended,
// after so many jobs at least: one long run, however many ticks it costs, is no pattern.
const (
	Skips = 4
	Long  = 2
)

// A task fails most of the time if so many ticks went wrong, and at least half of those that ended, and
// one of the newest so many that ended: as many successes after each other end it, and a loss of ticks, too.
const (
	Wrong     = 3
	Recovered = 3
)

// Pending begin the reasons of ticks that were skipped since a job had not ended; see reasons.PendingText.
var Pending = []string{"the job of ", "a job of the task "}

// Skipped stands for the state of such a tick.
const Skipped = "overlap"

// State is that of a tick for the rule: of its job or event, otherwise its decision.
func State(state, reason string) string {
	if state == "skipped" && slices.ContainsFunc(Pending, func(begin string) bool { return strings.HasPrefix(reason, begin) }) {
		return Skipped
	}
	return state
}

// Ended are the states of ticks that ended well or not.
func Ended(state string) (ended, wrong bool) {
	wrong = state == "failed" || state == "missed" || state == "late"
	return wrong || state == "success", wrong
}

// Of says what is wrong with a task by the states of its newest ticks, the newest first; empty: nothing.
func Of(states []string) (text string) {
	states = states[:min(len(states), Window)]
	ended, wrong, failed, late, skips, long := 0, 0, 0, 0, 0, 0
	for i, s := range states {
		if s == Skipped {
			skips++
		} else if i > 0 && states[i-1] == Skipped {
			long++
		}
		if e, w := Ended(s); e {
			if ended++; w {
				if s == "failed" {
					failed++
				}
				if wrong++; ended <= Recovered {
					late++
				}
			}
		}
	}
	switch {
	case !slices.ContainsFunc(states[:min(len(states), Recovered)], func(s string) bool { return s != "success" }):
	case wrong >= Wrong && 2*wrong >= ended && late > 0:
		text = fmt.Sprintf("%d of its last %d runs failed", wrong, ended)
		if failed < wrong {
			text += " or did not take place"
		}
		return text
	case skips >= Skips && long >= Long:
		return fmt.Sprintf("%d of its last %d ticks were skipped, because the job before had not ended", skips, len(states))
	}
	return ""
}
