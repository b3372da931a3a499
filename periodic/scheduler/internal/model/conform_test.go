package model

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/explore"
	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/periodic/batch"
	"github.com/nextrun/nextrun/periodic/leader"
)

func TestMain(m *testing.M) { migrated.VerifyTestMain(m) }

// What the model says of the database is what the databases do: random actions leave the
// same rows behind.
func TestModelIsLikeTheDatabases(t *testing.T) {
	migrated.Both(t, func(t *testing.T, d *migrated.Database) {
		r := newReal(d)
		sqlite := d.Kind == storetest.SQLite
		for n, s := range scenes {
			if len(s.roles) > 2 || s.roles[0].led && !sqlite { // PostgreSQL judges the lock by its own clock
				continue
			}
			s.sqlite, s.left = sqlite, budget{ahead: 8, back: 2, crash: 2, end: 1, edit: 5, job: 6, mark: 2}
			if !sqlite {
				s.left.lose = 1
			}
			s.edits = sorted(edits)
			if !s.roles[0].others {
				s.edits = slices.DeleteFunc(s.edits, func(name string) bool { return name == "moves it to another queue" })
			}
			s.fine = false
			for walk := range *flagWalks {
				r.walk(t, s, rand.New(rand.NewPCG(*flagSeed, uint64(n*1000+walk))))
				if t.Failed() {
					return
				}
			}
		}
	})
}

// walk does the same random actions in the model and on the database, one transaction after the other.
func (r *served) walk(t *testing.T, s scene, rng *rand.Rand) {
	w := s.first()
	r.begin(w)
	var done []string
	for range 25 {
		choice := w.Actions()
		if open := slices.IndexFunc(w.instances, func(i instance) bool { return i.tx != nil }); open >= 0 {
			choice = slices.DeleteFunc(choice, func(a action) bool { return !strings.HasPrefix(a.Name, w.instances[open].id()+" ") })
		}
		if len(choice) == 0 {
			return
		}
		a := choose(choice, rng)
		next := a.Next()
		done = append(done, a.Name)
		if err := r.follow(w, next, a.Name); err != nil {
			t.Errorf("scene %q: %v, after\n%s", s.name, err, explore.Steps(done))
			return
		}
		if w = next; slices.ContainsFunc(w.instances, func(i instance) bool { return i.tx != nil }) {
			continue // to be done when it commits
		}
		if have, want := r.rows(), w.rowsText(); have != want {
			t.Errorf("scene %q: the rows are\n%s\nand in the model\n%s\nafter\n%s", s.name, have, want, explore.Steps(done))
			return
		}
	}
}

// choose chooses who does something, and then what: users could do more than all others.
func choose(all []action, rng *rand.Rand) action {
	by := map[string][]action{}
	for _, a := range all {
		who, _, _ := strings.Cut(strings.TrimPrefix(a.Name, "a "), " ")
		by[who] = append(by[who], a)
	}
	who := sorted(by)
	some := by[who[rng.IntN(len(who))]]
	return some[rng.IntN(len(some))]
}

// follow does on the database what has led from one state of the model to the next.
func (r *served) follow(w, next *world, name string) error {
	for n := range w.instances {
		before, after := &w.instances[n], &next.instances[n]
		if what, ours := strings.CutPrefix(name, before.id()+" "); ours {
			err := r.followProcess(before, after, what)
			if p := r.process(before); after.held == nil {
				p.batch = batch.Batch{}
			} else if after.held.batch.Now.IsZero() {
				p.batch.Now = time.Time{}
			}
			return err
		}
	}
	r.now = at(next.now)
	if strings.Contains(name, "standby") {
		return r.serverFails(next)
	}
	if id, ok := strings.CutPrefix(name[strings.Index(name, " the task ")+1:], "the task "); ok {
		return r.mark(id, next)
	}
	if what, ok := strings.CutPrefix(name, "a user "); ok {
		what, id, _ := strings.Cut(strings.TrimSuffix(what, ")"), " (task ")
		return r.user(what, id, w, next)
	}
	r.followJobs(w, next)
	return nil
}

// followJobs does what a worker has done.
func (r *served) followJobs(w, next *world) {
	for n, j := range next.tables.jobs {
		if n >= len(w.tables.jobs) || w.tables.jobs[n] == j {
			continue
		}
		table, which, args := "job", "tracker = ? AND due IS NULL AND state IN ('waiting', 'running')", []any{j.tracker}
		if j.other {
			table = "other_queue"
		}
		if !j.due.IsZero() {
			which, args = "tracker = ? AND due = ?", append(args, utc(j.due))
		}
		query, args := `UPDATE `+table+` SET state = ? WHERE `+which, append([]any{string(j.state)}, args...)
		if !j.other && !j.pending() {
			query, args = strings.Replace(query, " WHERE", ", finished = ? WHERE", 1), slices.Insert(args, 1, any(utc(j.ended)))
		}
		r.Exec(query, args...)
	}
}

func (r *served) followProcess(before, after *instance, what string) error {
	switch {
	case what == "commits":
		return r.do(before, submit)
	case reads[what].Limit > 0:
		return r.do(before, what)
	case what == submit && after.tx == nil && !before.led:
		return r.do(before, submit) // it is too early, or a job is in the way
	case what == "starts: it removes the marks of its name":
		return r.clear(r.db.Periodic().Update, before.name)
	case what == "removes expired marks":
		return r.fenced(before, after)
	case strings.HasPrefix(what, "acquires the lock"):
		return r.acquire(before, after.token)
	case what == "renews the lock":
		if ok, err := r.db.Periodic().Locks().Renew(r.Context(), r.process(before).fence, ttl*unit); err != nil || !ok {
			return fmt.Errorf("the lock is not renewed: %w", err)
		}
	}
	return nil
}

// fenced removes expired marks, in a leader's transaction.
func (r *served) fenced(before, after *instance) error {
	if !before.led || before.token == 0 {
		return r.clear(r.db.Periodic().Update, "")
	}
	err := r.clear(r.process(before).commit.Update, "")
	if lost := errors.Is(err, leader.ErrLost); lost != (after.token == 0) {
		return fmt.Errorf("the lock is lost: %v, in the model %v", lost, after.token == 0)
	} else if lost {
		return nil
	}
	return err
}
