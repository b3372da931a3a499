package relay_test

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/store"
)

func TestVersionsHaveNoGapsUnderConcurrentWriters(t *testing.T) {
	both(t, func(f *fixture) {
		const writers, rounds = 6, 15
		var group sync.WaitGroup
		for w := range writers {
			group.Go(func() {
				for i := range rounds {
					batch := []outbox.Event{ // the same aggregates, in different orders
						{Topic: "t", Type: "x", AggregateID: fmt.Sprintf("a%d", (i+w)%3)},
						{Topic: "t", Type: "x", AggregateID: fmt.Sprintf("a%d", (i+w+1)%3)},
						{Topic: "t", Type: "x", AggregateID: fmt.Sprintf("a%d", (i+w)%3)},
					}
					add := func(tx *store.Tx) error {
						if _, err := outbox.AppendTx(f.Context(), tx, batch...); err != nil {
							return err
						}
						if i%4 == 3 { // its versions must not be lost
							return errReceiver
						}
						return nil
					}
					err := storetest.Insist(func() error { return f.db.Update(f.Context(), add) })
					if err != nil && !errors.Is(err, errReceiver) {
						f.Error(err)
					}
				}
			})
		}
		group.Wait()
		kept := writers * 12 * 3
		f.Want(kept, `SELECT count(*) FROM event_store`)
		f.Want(kept, `SELECT count(*) FROM outbox_message`)
		f.Want(kept, `SELECT sum(version) FROM event_aggregate`)
		f.Want(0, `SELECT count(*) FROM (SELECT aggregate_version, row_number() OVER
			(PARTITION BY aggregate_id ORDER BY aggregate_version) AS n FROM event_store) AS v WHERE aggregate_version <> n`)
	})
}

func TestAppendIsPartOfTheCallersTransaction(t *testing.T) {
	both(t, func(f *fixture) {
		for _, end := range []func(*sql.Tx) error{(*sql.Tx).Rollback, (*sql.Tx).Commit} {
			tx, err := f.SQL.DB.BeginTx(f.Context(), nil)
			if err != nil {
				f.Fatal(err)
			}
			in, err := f.db.EventsIn(f.Context(), tx)
			if err != nil {
				f.Fatal(err)
			}
			got, err := outbox.AppendTx(f.Context(), in, outbox.Event{Topic: "orders", Type: "placed", AggregateID: "1", Payload: `{"ä":"'"}`})
			if err != nil || got[0].ID == "" || got[0].AggregateVersion != 1 || got[0].Created.IsZero() {
				f.Errorf("appended %+v, %v", got, err)
			}
			if err := end(tx); err != nil {
				f.Fatal(err)
			}
		}
		f.Want(`{"ä":"'"}`, `SELECT payload FROM event_store WHERE topic = 'orders' AND aggregate_version = 1`)
		f.Want(1, `SELECT count(*) FROM outbox_message WHERE topic = 'orders' AND published IS NULL`)
	})
}

func TestAppendRefuses(t *testing.T) {
	both(t, func(f *fixture) {
		good := outbox.Event{ID: "e1", Topic: "t", Type: "x", AggregateID: "a", Due: time.Unix(1, 0).UTC()}
		f.append(good)
		for name, change := range map[string]func(*outbox.Event){
			"Topic":            func(e *outbox.Event) { e.Topic = "" },
			"Type":             func(e *outbox.Event) { e.Type = strings.Repeat("ä", 255) },
			"AggregateID":      func(e *outbox.Event) { e.AggregateID = "a\x00" },
			"Payload":          func(e *outbox.Event) { e.Payload = "\xff" },
			"AggregateVersion": func(e *outbox.Event) { e.AggregateVersion = 7 },
		} {
			bad := good
			bad.ID = ""
			change(&bad)
			_, err := outbox.AppendTx(f.Context(), nil, bad)
			if !errors.Is(err, outbox.ErrInvalid) || !strings.Contains(err.Error(), name) {
				f.Errorf("%s: %v, want ErrInvalid that names the field", name, err)
			}
		}
		again := good
		again.ID = "e2"
		sameID := good
		sameID.Due = time.Time{}
		for name, e := range map[string]outbox.Event{"due": again, "id": sameID} {
			err := f.db.Update(f.Context(), func(tx *store.Tx) error {
				_, err := outbox.AppendTx(f.Context(), tx, e)
				return err
			})
			if !errors.Is(err, store.ErrDuplicate) {
				f.Errorf("the same %s again: %v, want ErrDuplicate", name, err)
			}
		}
		f.Want(1, `SELECT version FROM event_aggregate WHERE id = 'a'`)
	})
}

// A sequence that is behind its table, as after a restore of parts, is named as the cause: no event is to blame.
func TestAppendNamesASequenceThatIsBehind(t *testing.T) {
	t.Parallel()
	f := newFixture(migrated.New(t, storetest.Postgres))
	f.append(events("t", 3)...)
	for table, column := range map[string]string{"event_store": "seq", "outbox_message": "id"} {
		sequence := fmt.Sprintf("pg_get_serial_sequence('%s', '%s')", table, column)
		f.Exec("SELECT setval(" + sequence + ", 1)")
		err := f.db.Update(f.Context(), func(tx *store.Tx) error {
			_, err := outbox.AppendTx(f.Context(), tx, events("t", 1)...)
			return err
		})
		if !errors.Is(err, store.ErrUnavailable) || !strings.Contains(err.Error(), "sequence is behind") {
			f.Errorf("%s: %v", table, err)
		}
		f.Exec("SELECT setval(" + sequence + ", 1000)")
	}
}
