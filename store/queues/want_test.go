package queues_test

import (
	"crypto/rand"
	"errors"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/sqldb"
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
	refused := 0
	for _, s := range done {
		reason, ok := want[s.JID]
		if s.Refused != "" {
			refused++
		}
		if ok != (s.Refused != "") || !strings.Contains(s.Refused, reason) || s.Passing {
			t.Errorf("submission %+v, want it refused for good: %v %s", s, ok, reason)
		}
	}
	if refused != len(want) {
		t.Errorf("%d jobs were refused, want %d", refused, len(want))
	}
}

// ends asks how open jobs have ended, by their ids.
func (f *fixture) ends(q sink.Submitter, open []sink.Open) map[string]sink.JobEnd {
	f.Helper()
	by := map[string]sink.JobEnd{}
	if err := f.db.View(f.Context(), func(tx *sqldb.Tx) error {
		ends, err := q.(sink.EndTeller).Ends(f.Context(), tx.DBTX(), open)
		for _, e := range ends {
			by[e.JID] = e
		}
		return err
	}); err != nil {
		f.Fatal(err)
	}
	return by
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

// A statement that cannot tell how jobs end is a warning about the queue, which takes jobs
// nevertheless.
func TestSQLWithABadOutcome(t *testing.T) {
	t.Parallel()
	legacy(t, func(t *testing.T, f *fixture, k queues.SQL) {
		for statement, want := range map[string]string{
			`SELECT ref, nonsense AS outcome FROM nextrun_open`:                                                  "nonsense",
			`SELECT ref FROM nextrun_open`:                                                                       "it must return outcome",
			`SELECT 'success' AS outcome FROM nextrun_open`:                                                      "it must return ref or jid",
			`DELETE FROM legacy WHERE jid IN (SELECT jid FROM nextrun_open) RETURNING jid, 'success' AS outcome`: "it writes",
		} {
			k.Outcome = statement
			q := f.queue(k)
			report := f.report(q)
			if len(report.Problems) > 0 || len(report.Warnings) != 1 ||
				!strings.HasPrefix(report.Warnings[0], "how its jobs end cannot be read: outcome: ") || !strings.Contains(report.Warnings[0], want) {
				t.Errorf("%s: %+v", statement, report)
			}
		}
		f.accept(f.queue(k), f.tasks(1)...)
	})
}

// A remove_job, or an add_jobs, with the key of a running job takes the key and the
// retries away. The job still runs.
func TestGraphileJobThatLostItsKeyIsPending(t *testing.T) {
	f := graphileFixture(t)
	q := f.queue(queues.GraphileWorker{})
	open := f.accept(q, f.tasks(1)...)
	f.Exec("UPDATE graphile_worker._private_jobs SET attempts = 1, locked_at = now(), locked_by = 'w'")
	f.Exec("UPDATE graphile_worker._private_jobs SET key = NULL, attempts = max_attempts")
	wantStates(t, f.pending(q, open...), map[string]string{open[0].JID: "running"})
	wantSame(t, f.cancel(q, open...))
	f.Exec("UPDATE graphile_worker._private_jobs SET locked_at = NULL, locked_by = NULL") // it failed
	wantStates(t, f.pending(q, open...), nil)
}
