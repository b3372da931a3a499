// Package workers keeps the table worker: who works on a database, with what, and who has died.
//
// A row is one start of a scheduler, an executor or a relay, and its id is what the jobs of an executor carry. The
// worker raises its beat. Who has died is not decided by a clock: executors look at the beats of each other, each right
// after a beat of its own. See jobqueue/executor/deaths.go for how many looks it takes.
package workers

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/internal/text"
)

const (
	// every is how often a worker without jobs says that it lives.
	every = 30 * time.Second
	// patience is how long one beat may take.
	patience = 2 * time.Second
	// goneAfter is how long the row of a worker stays that does not beat any more.
	goneAfter = time.Hour
	// none stands for the beat of a worker whose row is gone: somebody has deleted it, or it stopped while a claim
	// was on its way. One that lives adds it again.
	none = -1
	// hasJobs is a condition on a worker w.
	hasJobs = `EXISTS (SELECT 1 FROM job AS j WHERE j.state IN ('scheduled', 'running') AND j.worker = w.id)`
)

// executor is the kind of those that have jobs.
const executor = "executor"

// Worker is what a worker publishes about itself. It holds no secret.
type Worker struct {
	ID   string // a service.WorkerID
	Kind string // such as executor
	// Places, OnlyGroups and Handlers are the columns of these names; nil: NULL.
	Places, OnlyGroups, Handlers any
}

// Beat says that the worker lives, and then looks at the others: it returns the beats of those that have jobs. A worker
// whose beat is as it was seen before, and whose row somebody has locked, may be unable to beat; it is left out. After
// a failure the next beat takes a new connection.
func Beat(ctx context.Context, db *sqldb.DB, w Worker, seen map[string]int64) (others map[string]int64, err error) {
	within, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err = db.UpdateWithin(within, patience, func(tx *sqldb.Tx) error {
		_, err := tx.Exec(within, `INSERT INTO worker (id, kind, version, started, seen, places, only_groups, handlers, zones)
			VALUES ($1, $2, $3, $4, $4, $5, $6, $7, $8)
			ON CONFLICT (id) DO UPDATE SET beat = worker.beat + 1, seen = excluded.seen, zones = excluded.zones`,
			w.ID, w.Kind, service.Version(), sqldb.Timestamp(tx.Now()), w.Places, w.OnlyGroups, w.Handlers, w.zones())
		if err == nil && w.Kind == executor {
			others, err = look(within, tx, w.ID, seen)
		}
		return err
	})
	if err != nil {
		db.DropIdle(ctx)
		return nil, fmt.Errorf("say that this %s lives: %w", w.Kind, err)
	}
	return others, nil
}

// zones is the column of this name; nil: NULL. An executor has no use for zones.
func (w Worker) zones() any {
	if w.Kind == executor {
		return nil
	}
	return text.JSON(calendar.ZoneRules())
}

func look(ctx context.Context, tx *sqldb.Tx, own string, seen map[string]int64) (others map[string]int64, err error) {
	var rows []row
	err = tx.Select(ctx, &rows, `SELECT j.worker AS id, coalesce(max(w.beat), $2) AS beat FROM job AS j LEFT JOIN worker AS w ON w.id = j.worker
		WHERE j.state IN ('scheduled', 'running') AND j.worker <> $1 GROUP BY j.worker`, own, none)
	if err != nil {
		return nil, err
	}
	others, still := map[string]int64{}, map[string]int64{}
	for _, r := range rows {
		if !service.IsWorkerID(r.ID) { // of another kind of executor
			continue
		}
		others[r.ID] = r.Beat
		if beat, is := seen[r.ID]; is && beat == r.Beat {
			still[r.ID] = beat
		}
	}
	free, err := Lock(ctx, tx, still)
	for id := range still {
		if _, is := free[id]; !is {
			delete(others, id)
		}
	}
	return others, err
}

// row is a worker and its beat.
type row struct {
	ID   string
	Beat int64
}

// Leave deletes the row of a worker that stops. That of an executor stays if jobs are left, so that others find out that
// it has ended.
func Leave(ctx context.Context, db *sqldb.DB, w Worker) error {
	return db.Farewell(ctx, func(ctx context.Context, tx *sqldb.Tx) error {
		query := "DELETE FROM worker AS w WHERE w.id = $1"
		if w.Kind == executor {
			query += " AND NOT " + hasJobs
		}
		_, err := tx.Exec(ctx, query, w.ID)
		return err
	})
}

// Keep keeps the row of a worker that has no jobs until ctx ends. What fails is reported once, and tried again.
func Keep(ctx context.Context, db *sqldb.DB, w Worker, report func(error)) {
	if w.ID == "" {
		return
	}
	defer Leave(ctx, db, w) //nolint:errcheck // housekeeping deletes what is left
	beat := time.NewTicker(every)
	defer beat.Stop()
	for said := false; ; {
		_, err := Beat(ctx, db, w, nil)
		if err != nil && !said && ctx.Err() == nil && !errors.Is(err, sqldb.ErrUnavailable) && !errors.Is(err, sqldb.ErrBusy) {
			said = true
			report(err)
		}
		select {
		case <-ctx.Done():
			return
		case <-beat.C:
		}
	}
}

// Watch is [sqldb.DB.Watch] of a worker, whose row it keeps meanwhile.
func Watch(ctx context.Context, db *sqldb.DB, w Worker, wake func(), report func(error), topics ...sqldb.Topic) {
	var beside sync.WaitGroup
	defer beside.Wait()
	beside.Go(func() { Keep(ctx, db, w, report) })
	db.Watch(ctx, wake, report, topics...)
}

// Lock locks the rows of workers until the transaction ends, and leaves out those that somebody holds. It says of each
// whether its beat is still the one given.
func Lock(ctx context.Context, tx *sqldb.Tx, beats map[string]int64) (still map[string]bool, err error) {
	if len(beats) == 0 {
		return nil, nil
	}
	ids := tx.Texts(1, slices.Sorted(maps.Keys(beats)))
	var rows []row
	err = tx.Select(ctx, &rows, `SELECT id, beat FROM worker WHERE id IN (SELECT v.value FROM `+ids.SQL+` AS v)`+tx.SQL().ForUpdate, ids.Param)
	still = make(map[string]bool, len(rows))
	for _, r := range rows {
		still[r.ID] = r.Beat == beats[r.ID]
	}
	if err != nil || !slices.Contains(slices.Collect(maps.Values(beats)), none) {
		return still, err
	}
	var present []string
	err = tx.Select(ctx, &present, `SELECT id FROM worker WHERE id IN (SELECT v.value FROM `+ids.SQL+` AS v)`, ids.Param)
	for id, beat := range beats {
		if beat == none && !slices.Contains(present, id) {
			still[id] = true
		}
	}
	return still, err
}

// SetTrouble writes what keeps a worker from its work into its row; empty: nothing. It returns
// [sqldb.ErrNotFound] before there is one.
func SetTrouble(ctx context.Context, db *sqldb.DB, id, trouble string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return db.Update(ctx, func(tx *sqldb.Tx) error {
		changed, err := tx.Exec(ctx, "UPDATE worker SET trouble = $1 WHERE id = $2", sqldb.Nullable(trouble), id)
		if err == nil && changed == 0 {
			err = sqldb.ErrNotFound
		}
		return err
	})
}

// Prune deletes the rows of workers that have ended without a word and left no jobs.
func Prune(ctx context.Context, db *sqldb.DB) error {
	return db.Update(ctx, func(tx *sqldb.Tx) error {
		_, err := tx.Exec(ctx, "DELETE FROM worker AS w WHERE w.seen < $1 AND NOT "+hasJobs, sqldb.Timestamp(tx.Now().Add(-goneAfter)))
		return err
	})
}
