package queues_test

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lib/pq"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic/backend"
	"github.com/nextrun/nextrun/periodic/task"
	"github.com/nextrun/nextrun/store/internal/sqldb"
	"github.com/nextrun/nextrun/store/queues"
	"github.com/nextrun/nextrun/store/storetest"
)

// wantStates compares pending jobs, by their ids.
func wantStates(t *testing.T, got []task.Pending, want map[string]string) {
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
func wantRefused(t *testing.T, done []backend.Submission, want map[string]string) {
	t.Helper()
	checkRefused(t, done, false, want)
}

// wantPassing checks which jobs were refused for now.
func wantPassing(t *testing.T, done []backend.Submission, want map[string]string) {
	t.Helper()
	checkRefused(t, done, true, want)
}

func checkRefused(t *testing.T, done []backend.Submission, passing bool, want map[string]string) {
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

// wantUnusable checks that neither Submit nor Probe uses a queue, and what they say;
// with want "" both do.
func wantUnusable(t *testing.T, f *fixture, q queues.Queue, job jobqueue.Job, want string) {
	t.Helper()
	probe := f.update(func(ctx context.Context, tx jobqueue.DBTX) error {
		return q.(interface {
			Probe(ctx context.Context, tx jobqueue.DBTX) error
		}).Probe(ctx, tx)
	})
	done, submit := f.submit(q, job)
	for what, err := range map[string]error{"Probe": probe, "Submit": submit} {
		if want == "" && err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if want != "" && (!errors.Is(err, queues.ErrUnusable) || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want an error with %q", what, err, want)
		}
	}
	if want == "" {
		wantRefused(t, done, nil)
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

// listen listens on a channel. What it returns waits for a last payload, and returns
// those before it.
func (f *fixture) listen(channel string) func(last string) []string {
	f.Helper()
	listener := pq.NewListener(f.URL, time.Second, time.Second, nil)
	f.Cleanup(func() { _ = listener.Close() })
	if err := listener.Listen(channel); err != nil {
		f.Fatal(err)
	}
	return func(last string) (payloads []string) {
		f.Helper()
		for {
			select {
			case n := <-listener.Notify:
				if n == nil {
					continue
				}
				if n.Extra == last {
					return payloads
				}
				payloads = append(payloads, n.Extra)
			case <-time.After(storetest.Patience):
				f.Fatal("no notification")
			}
		}
	}
}

func sha224(text string) string {
	sum := sha256.Sum224([]byte(text))
	return hex.EncodeToString(sum[:])
}

// wantLocksPassedOver checks, for two jobs of which a worker has locked the first,
// that a look takes no locks, that Cancel does not wait, and that Probe does not
// wait for a locked table.
func wantLocksPassedOver(t *testing.T, f *fixture, q queues.Queue, table string, open []backend.Open, lock string) {
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
	err = f.db.UpdateWithin(t.Context(), sqldb.ProbeWait, func(tx *sqldb.Tx) error { return q.(prober).Probe(t.Context(), tx.DBTX()) })
	if !errors.Is(err, sqldb.ErrContended) {
		t.Errorf("Probe of the locked table: %v, want %v", err, sqldb.ErrContended)
	}
}
