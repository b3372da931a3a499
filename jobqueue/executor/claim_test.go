package executor_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/exchange"
)

// claimer claims like an executor, and keeps its turn.
type claimer struct {
	q     *fixture
	claim exchange.Claim
}

func (q *fixture) claimer(tasks ...string) *claimer {
	return &claimer{q: q, claim: exchange.Claim{Tasks: tasks, Name: "test", High: 3, Low: 1}}
}

// next claims and returns subjects: one at a time in the order of the turns,
// more in one claim ordered by group and subject.
func (c *claimer) next(limit int) []string {
	c.q.Helper()
	c.claim.Limit = limit
	result, err := c.q.store.Sync(c.q.ctx, exchange.Request{Worker: "test@000000000001", Claim: c.claim})
	if err != nil {
		c.q.Fatal(err)
	}
	c.claim.Turn = result.Turn
	var subjects []string
	for _, job := range result.Claimed {
		if job.State != jobqueue.Running || job.Worker != "test@000000000001" {
			c.q.Errorf("claimed: %+v", job)
		}
		subjects = append(subjects, job.Subject)
	}
	slices.Sort(subjects)
	return subjects
}

// turns claims one job at a time.
func (c *claimer) turns(n int) string {
	var all []string
	for range n {
		all = append(all, c.next(1)...)
	}
	return strings.Join(all, " ")
}

// backlog submits n jobs of each letter of groups, named like a0, a1, ...
func (q *fixture) backlog(groups string, n, priority int) {
	var jobs []jobqueue.Job
	for i := range n {
		for _, g := range groups {
			jobs = append(jobs, jobqueue.Job{Task: "t", Group: string(g), Subject: fmt.Sprintf("%c%d", g, i), Priority: priority})
		}
	}
	q.submit(jobs...)
}

func TestGroupsShareABatch(t *testing.T) {
	onBoth(t, func(t *testing.T, q *fixture) {
		q.backlog("a", 500, 0)
		q.backlog("bc", 3, 0)
		c := q.claimer("t")
		if got, want := strings.Join(c.next(8), " "), "a0 a1 a2 b0 b1 b2 c0 c1"; got != want {
			t.Errorf("first batch: %s, want %s", got, want)
		}
		// After b's turn it is c's, which has one left.
		if got, want := strings.Join(c.next(3), " "), "a3 a4 c2"; got != want {
			t.Errorf("second batch: %s, want %s", got, want)
		}
		if got, want := c.turns(3), "a5 a6 a7"; got != want {
			t.Errorf("one at a time: %s, want %s", got, want)
		}
		// Whose turn it was survives the process.
		if last, err := q.store.LastGroup(q.ctx, "test"); err != nil || last != "a" {
			t.Errorf("last group %q, %v", last, err)
		}
	})
}

func TestPriorityFollowsTheCountingScheme(t *testing.T) {
	onBoth(t, func(t *testing.T, q *fixture) {
		for i := range 8 {
			q.submit(jobqueue.Job{Task: "t", Subject: fmt.Sprintf("L%d", i), Priority: jobqueue.PriorityLow},
				jobqueue.Job{Task: "t", Subject: fmt.Sprintf("H%d", i), Priority: jobqueue.PriorityHigh})
		}
		c := q.claimer("t")
		if got, want := c.turns(6), "H0 H1 H2 L0 H3 H4"; got != want {
			t.Errorf("one at a time: %s, want %s", got, want)
		}
		if got, want := strings.Join(c.next(5), " "), "H5 H6 H7 L1 L2"; got != want {
			t.Errorf("in a batch: %s, want %s", got, want)
		}
		if got, want := c.turns(5), "L3 L4 L5 L6 L7"; got != want {
			t.Errorf("without high ones: %s, want %s", got, want)
		}
	})
}

func TestClaimTakesOnlyWhatItMay(t *testing.T) {
	onBoth(t, func(t *testing.T, q *fixture) {
		q.submit(
			jobqueue.Job{Task: "foreign", Group: "a", Subject: "foreign"},
			jobqueue.Job{Task: "t", Group: "a", Subject: "first"},
			jobqueue.Job{Task: "u", Group: "a", Subject: "second", Priority: 3},
			jobqueue.Job{Task: "t", Group: "b", Subject: "third"},
		)
		if err := q.queue.SetLimit(q.ctx, jobqueue.ScopeGroup, "b", 0); err != nil {
			t.Fatal(err)
		}
		if err := q.queue.SetLimit(q.ctx, jobqueue.ScopeHandler, "t", 0); err != nil {
			t.Fatal(err)
		}
		c := q.claimer("t", "u")
		if got := c.next(10); !slices.Equal(got, []string{"second"}) {
			t.Errorf("with group b and handler t paused: %q", got)
		}
		if was, err := q.queue.DropLimit(q.ctx, jobqueue.ScopeHandler, "t"); err != nil || !was {
			t.Errorf("DropLimit: %v, %v", was, err)
		}
		if got := c.next(10); !slices.Equal(got, []string{"first"}) {
			t.Errorf("with group b paused: %q", got)
		}
		if was, err := q.queue.DropLimit(q.ctx, jobqueue.ScopeGroup, "b"); err != nil || !was {
			t.Errorf("DropLimit: %v, %v", was, err)
		}
		c.claim.Groups = []string{"z"}
		if got := c.next(10); len(got) != 0 {
			t.Errorf("of group z: %q", got)
		}
		c.claim.Groups = []string{"z", "b", "b"}
		if got := c.next(10); !slices.Equal(got, []string{"third"}) {
			t.Errorf("of groups z and b: %q", got)
		}
	})
}
