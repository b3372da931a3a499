package nextruntest_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/ops/nextruntest"
	"github.com/nextrun/nextrun/periodic/sink"
)

// ownQueue is a queue in a table; wrong says what it gets wrong.
type ownQueue struct{ wrong string }

func (q ownQueue) Submit(ctx context.Context, tx jobqueue.DBTX, jobs []jobqueue.Job) (done []sink.Submission, err error) {
	for i, job := range jobs {
		if q.wrong == "forgets a job" && i == 1 {
			continue
		}
		ref := fmt.Sprint(100 + i)
		if q.wrong == "one id for all" {
			ref = "100"
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO own (id, state) VALUES ($1, 'new')`, 100+i); err != nil {
			return nil, err
		}
		done = append(done, sink.Submission{JID: job.JID, Ref: ref})
	}
	return done, nil
}

func (q ownQueue) state(ctx context.Context, tx jobqueue.DBTX, ref string) (state string, err error) {
	err = tx.QueryRowContext(ctx, `SELECT state FROM own WHERE id = $1`, ref).Scan(&state)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return state, err
}

func (q ownQueue) Pending(ctx context.Context, tx jobqueue.DBTX, open []sink.Open) (list []sink.Pending, err error) {
	for _, o := range open {
		state, err := q.state(ctx, tx, o.Ref)
		if err != nil {
			return nil, err
		}
		if state == "new" || q.wrong == "all are open" {
			list = append(list, sink.Pending{JID: o.JID, State: jobqueue.Waiting})
		}
	}
	return list, nil
}

func (q ownQueue) Ends(ctx context.Context, tx jobqueue.DBTX, open []sink.Open) (list []sink.JobEnd, err error) {
	for _, o := range open {
		state, err := q.state(ctx, tx, o.Ref)
		if err != nil {
			return nil, err
		}
		end := sink.JobEnd{JID: o.JID}
		if state == "done" || q.wrong == "all have ended" {
			end.State = sink.EndSuccess
		}
		if q.wrong == "a state of its own" && state == "done" {
			end.State = "done"
		}
		if state != "" || q.wrong == "tells of what is gone" {
			list = append(list, end)
		}
	}
	return list, nil
}

func (q ownQueue) Gone() sink.EndState { return sink.EndUnknown }

// heard collects what a check says.
type heard struct {
	testing.TB
	errors []string
}

func (h *heard) Errorf(format string, args ...any) {
	h.errors = append(h.errors, fmt.Sprintf(format, args...))
}
func (h *heard) Failed() bool { return len(h.errors) > 0 }

// A queue that does what the scheduler expects passes, and each mistake is named.
func TestCheckSubmitter(t *testing.T) {
	for wrong, want := range map[string]string{
		"": "", "forgets a job": "Submit says nothing of job", "one id for all": "no id of its own", "all are open": "4 jobs are open, want 3",
		"all have ended": `has the state "success"; has it ended: false`, "a state of its own": `has the state "done"; want success`,
		"tells of what is gone": "which the queue does not have",
	} {
		db, err := sql.Open("sqlite3", ":memory:")
		if err != nil {
			t.Fatal(err)
		}
		db.SetMaxOpenConns(1)
		tx, err := db.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		exec := func(query string, args ...any) {
			if _, err := tx.ExecContext(t.Context(), query, args...); err != nil {
				t.Fatal(err)
			}
		}
		exec(`CREATE TABLE own (id integer PRIMARY KEY, state text)`)
		h := &heard{TB: t}
		nextruntest.CheckSubmitter(h, tx, ownQueue{wrong}, "report", func(ref string) { exec(`UPDATE own SET state = 'done' WHERE id = $1`, ref) })
		if said := strings.Join(h.errors, "\n"); (said == "") != (want == "") || !strings.Contains(said, want) {
			t.Errorf("%q: the check says %q, want %q", wrong, said, want)
		}
		if err := errors.Join(tx.Rollback(), db.Close()); err != nil {
			t.Error(err)
		}
	}
}
