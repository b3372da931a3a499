package diagnosis

import (
	"context"
	"fmt"

	"github.com/nextrun/nextrun/internal/hookbook"
	"github.com/nextrun/nextrun/internal/span"
	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/store"
)

// hookFact is a hook of the task whose events were not all delivered.
type hookFact struct {
	lag  outbox.Lag
	dead string // why its newest dead event is dead; empty: it has none
}

func readHooks(ctx context.Context, db *store.DB, id string) ([]hookFact, error) {
	lags, err := db.Outbox().Lag(ctx)
	if err != nil {
		return nil, err
	}
	var list []hookFact
	for _, l := range lags {
		if !hookbook.IsAbout(l.Topic, id) || l.Dead == 0 && l.Age < waitsLong {
			continue
		}
		f := hookFact{lag: l}
		dead, err := db.Outbox().List(ctx, outbox.Filter{Topic: l.Topic, Status: outbox.Dead, Limit: 1})
		if err != nil {
			return nil, err
		}
		if len(dead) > 0 {
			f.dead = dead[0].Problem
		}
		list = append(list, f)
	}
	return list, nil
}

// ofHooks says which hooks nobody has heard.
func ofHooks(f *Facts) []Finding {
	var list []Finding
	for _, h := range f.hooks {
		l := &h.lag
		if l.Dead > 0 {
			list = append(list, Finding{
				hookDead, fmt.Sprintf("A hook of it was given up (events: %d): %s", l.Dead, sentence(text.FirstLine(h.dead))),
				"to deliver again: nextrun event resend --dead " + l.Topic,
			})
		}
		switch {
		case l.Pending == 0:
		case l.Problem != "":
			list = append(list, Finding{
				hookRefused, fmt.Sprintf("A hook of it has been waiting for delivery for %s: %s", span.Text(l.Age), sentence(text.FirstLine(l.Problem))),
				"more about it: nextrun event list --topic " + l.Topic,
			})
		case l.Age >= waitsLong:
			list = append(list, Finding{
				hookNoRelay, fmt.Sprintf("A hook of it has been waiting for a relay for %s.", span.Text(l.Age)),
				"is a process running whose configuration has this hook? start one: nextrun relay --config FILE",
			})
		}
	}
	return list
}
