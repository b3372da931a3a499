package dashboard

import (
	"slices"
	"strings"
	"time"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/calendar/explain"
	"github.com/nextrun/nextrun/ops/dashboard/internal/show"
	"github.com/nextrun/nextrun/periodic"
)

// timerNotes are what may surprise whoever wrote a timer.
type timerNotes struct {
	Findings []string `json:"findings,omitempty"`
	Clocks   []string `json:"clock_changes,omitempty"` // what changes of the clock do to it
}

func notesOn(schedule calendar.Schedule, now time.Time) (n timerNotes) {
	for _, f := range explain.Lint(schedule, now) {
		if strings.HasPrefix(f.Code, "dst-") { // nothing is wrong now
			n.Clocks = append(n.Clocks, f.Sentence())
		} else {
			n.Findings = append(n.Findings, f.Sentence())
		}
	}
	return n
}

// How far an edit of a timer looks ahead, how many ticks it looks at, and how many of those that are gained and lost it lists.
const (
	previewDays  = 30
	previewTicks = 20_000
	mostChanges  = 12
)

// preview is what another timer would change.
type preview struct {
	timerNotes

	Timer  string      `json:"timer"`
	Words  string      `json:"timer_in_words,omitempty"`
	Error  string      `json:"error,omitempty"`
	Place  string      `json:"-"` // the timer, and a caret under what is wrong
	Days   int         `json:"days"`
	Gained []time.Time `json:"gained"` // the first ones
	Lost   []time.Time `json:"lost"`
	Gains  int         `json:"gained_in_all"`
	Losses int         `json:"lost_in_all"`
	Kept   int         `json:"kept"`
	More   bool        `json:"more"` // there are too many to look at them all
}

// tryTimer compares the ticks of a task with those that it would have with another timer, and with its calendars.
func tryTimer(t *periodic.Task, timer string, now time.Time) *preview {
	p, changed := &preview{Timer: show.Shorten(timer, calendar.MaxLength), Days: previewDays}, *t
	other, err := calendar.ParseAt(timer, t.Anchor())
	if changed.Timer = timer; err == nil {
		_, err = changed.Upcoming(now, 1)
	}
	if err != nil {
		p.Error, p.Place = show.Printable(err.Error()), show.Place(err)
		return p
	}
	p.Words, p.timerNotes = explain.Schedule(other), notesOn(other, now)
	until := now.AddDate(0, 0, previewDays)
	fresh, old := p.ticks(&changed, now, &until), p.ticks(t, now, &until)
	without := func(list, others []time.Time) []time.Time {
		return slices.DeleteFunc(slices.Clone(list), func(at time.Time) bool {
			_, found := slices.BinarySearchFunc(others, at, time.Time.Compare)
			return found || !at.Before(until)
		})
	}
	p.Gained, p.Lost = without(fresh, old), without(old, fresh)
	p.Gains, p.Losses, p.Kept = len(p.Gained), len(p.Lost), len(without(fresh, p.Gained))
	p.Gained, p.Lost = p.Gained[:min(p.Gains, mostChanges)], p.Lost[:min(p.Losses, mostChanges)]
	return p
}

// ticks are those of a task until a time, or until an earlier one, if there are too many. A row with a problem has none.
func (p *preview) ticks(t *periodic.Task, now time.Time, until *time.Time) (list []time.Time) {
	const part = 500
	for looked, after := 0, now; after.Before(*until); looked += part {
		coming, err := t.Upcoming(after, part)
		for _, u := range coming {
			if u.LeftOut == "" && u.Due.Before(*until) {
				list = append(list, u.Due)
			}
			after = u.Due
		}
		switch {
		case err != nil || len(coming) < part:
			return list
		case looked > previewTicks && after.Before(*until):
			p.More, *until = true, after
		}
	}
	return list
}
