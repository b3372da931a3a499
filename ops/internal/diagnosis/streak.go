package diagnosis

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/ops/internal/figures"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/attention"
	"github.com/nextrun/nextrun/store"
)

// InARow says that something, such as "failed", happened so many times after each other, since when, and
// whether it ever went well. Times are written by at.
func InARow(what string, times int, s figures.Streak, at func(time.Time) string) string {
	text := Since(what, times, s, at)
	switch {
	case text == what || s.Success.IsZero() && s.Cut:
		return text
	case s.Success.IsZero():
		return text + "; no success is recorded"
	}
	return text + "; the last success was that of " + at(s.Success)
}

// Since is the part of [InARow] that says how often and since when.
func Since(what string, times int, s figures.Streak, at func(time.Time) string) string {
	if times < 2 || s.Since.IsZero() {
		return what
	}
	text := fmt.Sprintf("%s %d times in a row, since %s", what, times, at(s.Since))
	if s.Success.IsZero() {
		text += " or earlier"
	}
	return text
}

// Unsteady says what is wrong with a task whose newest tick that ended did so well, by its newest ticks; empty: nothing.
// If runs failed, failed is the newest of them; nil: ticks were lost.
func Unsteady(newest []figures.TickResult) (text string, failed *figures.TickResult) {
	states := make([]string, len(newest))
	for i, k := range newest {
		states[i] = stateOf(k)
	}
	if i := slices.IndexFunc(states, func(s string) bool { ended, _ := attention.Ended(s); return ended }); i >= 0 {
		if _, wrong := attention.Ended(states[i]); wrong {
			return "", nil
		}
	}
	text = attention.Of(states)
	if i := slices.Index(states, "failed"); i >= 0 && strings.Contains(text, "failed") {
		failed = &newest[i]
	}
	return text, failed
}

// stateOf is the state of a tick for the rule of package attention.
func stateOf(k figures.TickResult) string {
	if k.Decision != periodic.Submitted {
		return attention.State(string(k.Decision), k.Reason)
	}
	return k.State
}

// readStreak reads how the task has done lately.
func (f *Facts) readStreak(ctx context.Context, db *store.DB) error {
	history, err := figures.Of(db).HistoryBefore(ctx, []string{f.Task.ID}, attention.Window, periodic.Never)
	if err == nil && len(history) > 0 {
		f.unsteady, f.wrong = Unsteady(history[0].Ticks)
	}
	if err == nil {
		var of map[string]figures.Streak
		of, err = figures.Of(db).Streaks(ctx, []string{f.Task.ID})
		f.streak = of[f.Task.ID]
	}
	return err
}

// inARow adds to a sentence about the last failure how many there were.
func (f *Facts) inARow(what string) string {
	if more := InARow("", f.streak.Failed, f.streak, at); more != "" {
		return sentence(what) + " It has failed" + sentence(more)
	}
	return sentence(what)
}

// ofLately says that the task does not do well, although its last run did.
func ofLately(f *Facts) []Finding {
	if f.unsteady == "" || !f.Task.Enabled {
		return nil
	}
	what, do, k := f.unsteady, "its newest ticks: nextrun tick list --task "+f.Task.ID, f.wrong
	switch {
	case k != nil:
		what += ", the newest of them that of " + at(k.Due) + ": " + text.FirstLine(k.Result)
		if k.Own {
			do = "the output of that run: nextrun job log " + k.JID
		}
	case strings.Contains(what, "had not ended"):
		do += "; its jobs end after the next tick is due, because they run or wait for long: a longer interval helps, or faster jobs"
	}
	return []Finding{{taskUnsteady, capital(sentence(strings.TrimSuffix(what, ": "))), do}}
}
