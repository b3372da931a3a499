package executor

import (
	"cmp"
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
	open     int
	claims   int // how many of them may claim jobs
	round    int // of the last requests
	fresh    int // how many of that round are open

	suspects map[string]bool      // tasks of jobs in slow requests: their reports go alone
	struck   map[string]time.Time // when a job of a task was slow alone, last
	named    map[string]bool      // tasks that the user was told of
}

func newLanes(store jobdb.Store) lanes {
	s, ok := store.(interface{ Concurrent() bool })
	return lanes{
		parallel: ok && s.Concurrent(),
		answers:  make(chan answer, maxLanes), suspects: map[string]bool{}, struck: map[string]time.Time{}, named: map[string]bool{},
	}
}

// full reports whether there is no lane for another round, of two requests at most.
func (s *lanes) full() bool { return s.open+2 > maxLanes }

// begin sends a request of a round without waiting for its answer.
func (l *loop) begin(items []item, c jobdb.Claim, now time.Time) {
	q := request(l.e.worker, items, now)
	q.Claim = c
	if q.Empty() {
		return
	}
	for _, it := range items {
		it.attempt.sent = true
	}
	l.lanes.open++
	l.lanes.fresh++
	if c.Limit > 0 {
		l.lanes.claims++
		l.flight.reserved += c.Limit
	}
	round := l.lanes.round
	go func() {
		a := l.ask(q)
		a.items, a.round = items, round
		l.lanes.answers <- a
	}()
}

// await takes in answers until the round is over, or the database has taken long. It goes on
// without a time limit if there is no lane for another round.
func (l *loop) await() error {
	timer := time.NewTimer(laneAfter)
	defer timer.Stop()
	for l.lanes.fresh > 0 {
		patience := timer.C
		if l.lanes.full() || !l.lanes.parallel {
			patience = nil
		}
		select {
		case a := <-l.lanes.answers:
			if err := l.answered(a); err != nil {
				return err
			}
		case <-patience:
			return nil
		}
	}
	return nil
}

// absorb takes in the answers that have arrived.
func (l *loop) absorb() error {
	for {
		select {
		case a := <-l.lanes.answers:
			if err := l.answered(a); err != nil {
				return err
			}
		default:
			return nil
		}
	}
}

// answered takes in the answer to a request that begin has sent. If the request failed and a
// job may be to blame, it syncs the other jobs and sets that one aside.
func (l *loop) answered(a answer) error {
	c := a.to.Claim
	if l.lanes.open--; c.Limit > 0 {
		l.lanes.claims--
		l.flight.reserved -= c.Limit
	}
	if a.round == l.lanes.round {
		l.lanes.fresh--
	}
	for _, it := range a.items {
		it.attempt.sent = false
	}
	first := l.reportsBefore(a.result.Claimed)
	items := slices.DeleteFunc(slices.Clone(a.items), func(it item) bool { return l.flight.byJID[it.jid] != it.attempt })
	chosen, err := l.apply(a)
	if job, took := l.lanes.judge(a, time.Now()); job != nil {
		l.e.observer.Slow(*job, took)
	}
	return cmp.Or(first, l.delivered(items, c, chosen, err, time.Now()))
}

// reportsBefore takes in the reports of jobs that were claimed again: they were put back before.
func (l *loop) reportsBefore(claimed []jobqueue.Job) (err error) {
	for _, job := range claimed {
		for old := l.flight.byJID[job.JID]; old != nil && old.sent; {
			err = cmp.Or(err, l.answered(<-l.lanes.answers))
		}
	}
	return err
}

// judge finds the tasks whose jobs are slow to write. Of a request for several jobs nobody knows
// which one it was: what the jobs of these tasks say next is sent alone.
func (s *lanes) judge(a answer, now time.Time) (culprit *jobqueue.Job, took time.Duration) {
	jobs := slices.Clone(a.result.Claimed)
	for _, it := range a.items {
		jobs = append(jobs, it.attempt.job)
	}
	took = now.Sub(a.asked)
	isSlow := took >= slowRow && a.err == nil
	if !isSlow && len(a.items) == 1 {
		delete(s.suspects, a.items[0].attempt.job.Task)
	}
	if !isSlow || len(s.suspects) >= maxNamed {
		return nil, 0
	}
	for _, job := range jobs {
		s.suspects[job.Task] = true
	}
	if len(jobs) != 1 || s.named[jobs[0].Task] || len(s.named) >= maxNamed {
		return nil, 0
	}
	task := jobs[0].Task
	again := now.Sub(s.struck[task]) < slowAgain
	if s.struck[task] = now; !again {
		return nil, 0
	}
	s.named[task] = true
	return &jobs[0], took
}

// suspect reports whether the row of an item may be slow to write.
func (s *lanes) suspect(it item) bool { return s.suspects[it.attempt.job.Task] }

// mayClaim reports whether to send a claim now. One with limits does not see what a claim without
// an answer has got, so it waits for that.
func (s *lanes) mayClaim(c *claims) bool { return s.claims == 0 || !c.limited && len(c.most) == 0 }

// leastApart is how many reports there are, and how many jobs are wanted, at least, for two
// requests at the same time. With fewer, one more commit costs more than it saves.
const leastApart = 20

// apart reports whether to send reports and a claim as two requests at the same time. A
// claim with limits has to see which jobs have ended, so it goes with their reports.
func (s *lanes) apart(items []item, c jobdb.Claim, limited, hooks bool) bool {
	if len(items) == 1 && s.suspect(items[0]) {
		return c.Limit > 0
	}
	return s.parallel && len(items) >= leastApart && c.Limit >= leastApart && !limited && len(c.Most) == 0 && !hooks
}
