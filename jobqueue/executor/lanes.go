package executor

import (
	"slices"
	"time"

	"github.com/nextrun/nextrun/internal/jobdb"
	"github.com/nextrun/nextrun/jobqueue"
)

const (
	// laneAfter is how long the loop waits for the answer to a request. One that takes
	// longer goes on beside the loop, which sends the next: a row that is slow to write
	// delays only what is in the same transaction.
	laneAfter = 50 * time.Millisecond
	// maxLanes bounds the requests without an answer.
	maxLanes = 6
	// slowRow is from when on a request is slow.
	slowRow = 500 * time.Millisecond
	// slowAgain: a task of which two jobs in this time were slow alone is named.
	slowAgain = time.Minute
	// maxNamed bounds the tasks that are remembered as slow.
	maxNamed = 1000
)

// lanes are the requests that have no answer yet. What they report is not sent again, and
// the jobs that they may claim take up room, until the answer is there.
type lanes struct {
	parallel bool // the store gains by two requests at the same time
	answers  chan answer
	open     int  // requests without an answer
	claims   int  // how many of them may claim jobs
	answered bool // one has got an answer without an error since the last round that succeeded or failed
	newest   int  // number of the newest sync
	ofNewest int  // how many open requests are its own

	maybeSlow map[string]bool      // tasks of jobs in slow requests: their reports go alone
	slowAlone map[string]time.Time // when a job of a task was slow alone, last
	named     map[string]bool      // tasks that the user was told of
}

func newLanes(store jobdb.Store) lanes {
	s, ok := store.(interface{ Concurrent() bool })
	return lanes{
		parallel: ok && s.Concurrent(),
		answers:  make(chan answer, maxLanes), maybeSlow: map[string]bool{}, slowAlone: map[string]time.Time{}, named: map[string]bool{},
	}
}

// full reports whether there is no lane for another sync, of two requests at most.
func (s *lanes) full() bool { return s.open+2 > maxLanes }

// findSlow finds the tasks whose jobs are slow to write. Of a request for several jobs nobody knows
// which one it was: what the jobs of these tasks say next is sent alone.
func (s *lanes) findSlow(a answer, now time.Time) (culprit *jobqueue.Job, took time.Duration) {
	jobs := slices.Clone(a.result.Claimed)
	for _, it := range a.items {
		jobs = append(jobs, it.attempt.job)
	}
	took = now.Sub(a.asked)
	isSlow := took >= slowRow && a.err == nil
	if !isSlow && len(a.items) == 1 {
		delete(s.maybeSlow, a.items[0].attempt.job.Task)
	}
	if !isSlow || len(s.maybeSlow) >= maxNamed {
		return nil, 0
	}
	for _, job := range jobs {
		s.maybeSlow[job.Task] = true
	}
	if len(jobs) != 1 || s.named[jobs[0].Task] || len(s.named) >= maxNamed {
		return nil, 0
	}
	task := jobs[0].Task
	again := now.Sub(s.slowAlone[task]) < slowAgain
	if s.slowAlone[task] = now; !again {
		return nil, 0
	}
	s.named[task] = true
	return &jobs[0], took
}

// isMaybeSlow reports whether the row of an item may be slow to write.
func (s *lanes) isMaybeSlow(it item) bool { return s.maybeSlow[it.attempt.job.Task] }

// mayClaim reports whether to send a claim now. One with limits does not see what a claim without
// an answer has got, so it waits for that.
func (s *lanes) mayClaim(c *claims) bool { return s.claims == 0 || !c.limited && len(c.most) == 0 }

// leastApart is how many reports there are, and how many jobs are wanted, at least, for two
// requests at the same time. With fewer, one more commit costs more than it saves.
const leastApart = 20

// apart reports whether to send reports and a claim as two requests at the same time. A
// claim with limits has to see which jobs have ended, so it goes with their reports.
func (s *lanes) apart(items []item, c jobdb.Claim, limited, hooks bool) bool {
	if len(items) == 1 && s.isMaybeSlow(items[0]) {
		return c.Limit > 0
	}
	return s.parallel && len(items) >= leastApart && c.Limit >= leastApart && !limited && len(c.Most) == 0 && !hooks
}
