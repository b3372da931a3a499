package queues_test

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic/sink"
	"github.com/nextrun/nextrun/store/queues"
)

// wantStates compares pending jobs, by their ids.
func wantStates(t *testing.T, got []sink.Pending, want map[string]string) {
	t.Helper()
	for _, p := range got {
		if string(p.State) != want[p.JID] {
			t.Errorf("job %s is %s, want %q", p.JID, p.State, want[p.JID])
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d jobs are pending, want %d", len(got), len(want))
	}
}

func wantSame(t *testing.T, got []string, want ...string) {
	t.Helper()
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// wantRefused checks which jobs were refused for good, and parts of the reasons.
func wantRefused(t *testing.T, done []sink.Submission, want map[string]string) {
	t.Helper()
	checkRefused(t, done, false, want)
}

// wantPassing checks which jobs were refused for now.
func wantPassing(t *testing.T, done []sink.Submission, want map[string]string) {
	t.Helper()
	checkRefused(t, done, true, want)
}

func checkRefused(t *testing.T, done []sink.Submission, passing bool, want map[string]string) {
	t.Helper()
	refused := 0
	for _, s := range done {
		reason, ok := want[s.JID]
		if s.Refused != "" {
			refused++
		}
		if ok != (s.Refused != "") || !strings.Contains(s.Refused, reason) || s.Passing != (passing && ok) {
			t.Errorf("submission %+v, want it refused: %v (passing: %v) %s", s, ok, passing, reason)
		}
	}
	if refused != len(want) {
		t.Errorf("%d jobs were refused, want %d", refused, len(want))
	}
}

// broken is what somebody did to the tables of a queue, and what the queue says then;
// with want "" it can be used nevertheless.
type broken struct{ setup, want string }

// wantSaysWhy checks what a queue says about tables that it cannot use.
func wantSaysWhy(t *testing.T, fixtureOf func(*testing.T) *fixture, k queues.Kind, all map[string]broken) {
	t.Helper()
	for name, b := range all {
		t.Run(name, func(t *testing.T) {
			f := fixtureOf(t)
			job := f.task("t", "{}")
			f.Exec(b.setup)
			q := f.queue(k)
			if b.want == "" {
				f.accept(q, job)
			} else {
				f.unusable(q, b.want)
			}
		})
	}
}

// wantNotOnSQLite checks that a queue of PostgreSQL cannot be opened on SQLite.
func wantNotOnSQLite(t *testing.T, k queues.Kind) {
	t.Helper()
	f := newFixture(t, storetest.New(t, storetest.SQLite))
	if _, err := queues.OpenIn(f.db, k); err == nil || !strings.Contains(err.Error(), "SQLite") {
		t.Errorf("on SQLite: %v, want an error", err)
	}
}

// wantRunsSince checks when a job that runs was started, in UTC, and that a reference
// of another kind of queue names no job of this one.
func wantRunsSince(t *testing.T, f *fixture, q sink.Submitter, running sink.Open, want, otherRef string) {
	t.Helper()
	for _, p := range f.pending(q, running) {
		if got := p.Started.Format("15:04"); got != want {
			t.Errorf("the job started at %s UTC, want %s", got, want)
		}
	}
	running.Ref = otherRef
	if got := f.pending(q, running); len(got) > 0 {
		t.Errorf("%v is pending, which is no job of this queue", got)
	}
}

// role is the fixture as another role sees it, which has all rights in nextrun's
// tables and none in the other system's.
type role struct {
	*fixture
	name, url string
}

func (f *fixture) role() role {
	f.Helper()
	name := strings.ToLower("nextrun_test_" + rand.Text())
	f.Exec("CREATE ROLE " + name + " LOGIN PASSWORD 'secret'")
	f.Cleanup(func() { f.Exec("DROP OWNED BY " + name + "; DROP ROLE " + name) })
	f.Exec("GRANT USAGE ON SCHEMA public TO " + name + "; GRANT ALL ON ALL TABLES IN SCHEMA public TO " + name)
	u, err := url.Parse(f.URL)
	if err != nil {
		f.Fatal(err)
	}
	u.User = url.UserPassword(name, "secret")
	return role{&fixture{Database: f.Database, db: open(f, u.String())}, name, u.String()}
}

func sha224(text string) string {
	sum := sha256.Sum224([]byte(text))
	return hex.EncodeToString(sum[:])
}

// wantLocksPassedOver checks, for two jobs of which a worker has locked the first,
// that a look takes no locks, that Cancel does not wait, and that Probe does not
// wait for a locked table.
func wantLocksPassedOver(t *testing.T, f *fixture, q sink.Submitter, table string, open []sink.Open, lock string) {
	t.Helper()
	worker, err := f.SQL.Beginx()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = worker.Rollback() }()
	if _, err := worker.Exec(lock); err != nil {
		t.Fatal(err)
	}
	if got := f.pending(q, open...); len(got) != 2 {
		t.Errorf("%d jobs are pending, want both", len(got))
	}
	wantSame(t, f.cancel(q, open...), open[1].JID)
	if _, err := worker.Exec("LOCK TABLE " + table + " IN SHARE MODE"); err != nil {
		t.Fatal(err)
	}
	err = f.db.UpdateWithin(t.Context(), sqldb.BriefLockWait, func(tx *sqldb.Tx) error { return q.(prober).Probe(t.Context(), tx.DBTX()) })
	if !errors.Is(err, sqldb.ErrContended) {
		t.Errorf("Probe of the locked table: %v, want %v", err, sqldb.ErrContended)
	}
}

// sortOut submits jobs until the queue has taken or refused each of them, as a scheduler
// does: on a slow machine the search for those that are refused ends early, and leaves
// others for later.
func (f *fixture) sortOut(q sink.Submitter, jobs ...jobqueue.Job) (all []sink.Submission) {
	f.Helper()
	for tries := 1; len(jobs) > 0; tries++ {
		done, err := f.submit(q, jobs...)
		switch {
		case err == nil:
		case !errors.Is(err, sqldb.ErrRefused) || len(jobs) == 1:
			f.Fatal(err)
		default: // it did not get far
			half := len(jobs) / 2
			return append(append(all, f.sortOut(q, jobs[:half]...)...), f.sortOut(q, jobs[half:]...)...)
		}
		left := map[string]bool{}
		for _, s := range done {
			if left[s.JID] = s.Passing && strings.Contains(s.Refused, "refused too many jobs of the same batch"); !left[s.JID] {
				all = append(all, s)
			}
		}
		jobs = slices.DeleteFunc(slices.Clone(jobs), func(j jobqueue.Job) bool { return !left[j.JID] })
		if tries > 100 {
			f.Fatalf("%d jobs are left again and again", len(jobs))
		}
	}
	return all
}
