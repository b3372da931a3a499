package executor

import (
	"maps"
	"slices"
	"time"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/jobqueue/exchange"
)

const (
	// secondLook is when to look again after a claim that found nothing: another
	// executor may have locked jobs for a moment without taking them.
	secondLook = 100 * time.Millisecond
	// recordPause is the least time between two records of the last group, which
	// only the next process of that name reads.
	recordPause = time.Second
	// kindsTime is how long claims reuse the kinds of waiting jobs that an earlier
	// claim found, unless a change is reported.
	kindsTime = 100 * time.Millisecond
	// limitPause is the least time between two looks for jobs that limits hold back,
	// while no job ends here: those that they wait for may run elsewhere.
	limitPause = 500 * time.Millisecond
	// behindPause is the same while there are groups that the claim did not get to.
	behindPause = 20 * time.Millisecond
)

// claims holds what one claim leaves for the next.
type claims struct {
	tasks         []string
	limited       bool // the last claim left jobs that are beyond a limit
	turn          exchange.Turn
	kinds         []exchange.Kind // that wait, as the last claim found
	kindsUntil    time.Time       // until when to rely on that
	groupRecorded time.Time       // when the group of the turn was
	freedAt       time.Time       // when a job ended here last
	looks         int             // how many claims to make if they find nothing; 0: none is due
	at            time.Time       // not before
	compare       bool            // jobs may run under our id that we do not have: the reply to their claim was lost
	ready         bool            // the executor has said that it lives: others would notice its death
}

func newClaims(handlers map[string]handler) claims {
	return claims{tasks: slices.Sorted(maps.Keys(handlers))}
}

// when is when to claim, if there is a reason.
func (c *claims) when() (time.Time, bool) { return c.at, c.looks > 0 && c.ready }

func (c *claims) due(now time.Time) bool {
	at, planned := c.when()
	return planned && !at.After(now)
}

// look plans this many claims, the first at once; they may find nothing.
func (c *claims) look(times int) { c.looks, c.at = max(c.looks, times), time.Time{} }

// changed says that there may be new jobs.
func (c *claims) changed() {
	c.kinds = nil
	c.look(2)
}

// freed says that a job has ended here, for which others may wait because of a limit.
func (c *claims) freed() {
	if c.freedAt = time.Now(); c.limited {
		c.look(1)
	}
}

// compose returns the next claim.
func (c *claims) compose(cfg Config, limit int, now time.Time) exchange.Claim {
	r := exchange.Claim{
		Limit: limit, Tasks: c.tasks, Groups: cfg.Groups,
		Turn: c.turn, High: cfg.High, Low: cfg.Low,
	}
	if now.Before(c.kindsUntil) {
		r.Kinds = c.kinds
	}
	if now.Sub(c.groupRecorded) >= recordPause {
		r.Name = service.WorkerName(cfg.Name)
	}
	return r
}

// planNext plans the claim after one with this result.
func (c *claims) planNext(r exchange.Claim, result exchange.Result, now time.Time) {
	if r.Name != "" && result.Turn.Group != c.turn.Group {
		c.groupRecorded = now
	}
	c.turn = result.Turn
	if len(r.Only) > 0 {
		return
	}
	c.limited = result.Limited
	if c.kinds = result.Kinds; len(r.Kinds) == 0 {
		c.kindsUntil = now.Add(kindsTime)
	}
	switch {
	case len(result.Chosen) == 0 && result.Limited:
		c.looks, c.at = 2, now.Add(limitPause)
		if result.More {
			c.at = now.Add(behindPause)
		}
		if c.freedAt.After(now) { // it did not see that end
			c.at = time.Time{}
		}
	case len(result.Chosen) > 0 || result.More: // also if it could not begin them: others wait behind
		c.looks, c.at = 2, time.Time{}
	case len(r.Kinds) > 0: // of those kinds there are none left
	default:
		c.looks--
		c.at = now.Add(secondLook)
	}
}
