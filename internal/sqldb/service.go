package sqldb

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nextrun/nextrun/internal/service"
)

// Service is what a worker publishes about itself, so that others can explain what waits.
// It holds no secret.
type Service struct {
	Worker string // a service.WorkerID; empty: nobody, and nothing is published
	Kind   string // such as executor
	// Places, Lease, OnlyGroups and Handlers are the columns of these names; nil: NULL.
	Places, Lease, OnlyGroups, Handlers any
}

// ServiceBeat is how often a worker says that it lives, if nothing else shows that.
const ServiceBeat = 30 * time.Second

const (
	publishUnshown  = time.Second     // when to publish a worker that is not shown to live by then
	publishPatience = 2 * time.Second // for one attempt
	goneAfter       = time.Hour       // rows that were not renewed for so long are deleted
)

// publisher keeps the row of a service.
type publisher struct {
	db      *DB
	service Service
	started time.Time // zero: nothing is written yet
}

// run keeps the row until ctx ends. shown tells whether the database
// knows by itself that the worker lives: then nothing is written until that changes.
// What fails is reported once, and tried again with the next beat.
func (p *publisher) run(ctx context.Context, shown <-chan bool, report func(error)) {
	defer p.remove(ctx)
	beat := time.NewTimer(publishUnshown)
	defer beat.Stop()
	for said, lives := false, false; ; {
		select {
		case <-ctx.Done():
			return
		case lives = <-shown:
		case <-beat.C:
		}
		beat.Reset(ServiceBeat)
		err := p.write(ctx, lives)
		if err == nil && lives {
			beat.Stop()
		}
		if err != nil && !said && ctx.Err() == nil && !errors.Is(err, ErrUnavailable) && !errors.Is(err, ErrBusy) {
			said = true
			report(fmt.Errorf("publish what this %s does, so that others can explain what waits: %w", p.service.Kind, err))
		}
	}
}

// remove deletes the row of a worker that stops. One that stays counts as ended.
func (p *publisher) remove(ctx context.Context) {
	if p.started.IsZero() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), publishPatience)
	defer cancel()
	_ = p.db.Update(ctx, func(tx *Tx) error {
		_, err := tx.Exec(ctx, "DELETE FROM worker_service WHERE worker = $1", p.service.Worker)
		return err
	})
}

// write writes the row, and deletes those of workers that have ended.
func (p *publisher) write(ctx context.Context, lives bool) error {
	s := &p.service
	ctx, cancel := context.WithTimeout(ctx, publishPatience)
	defer cancel()
	rows, err := Services(ctx, p.db)
	if err != nil {
		return err
	}
	gone := []string{""}
	for _, r := range rows {
		if r.Seen.Time().IsZero() && !r.Lives && r.Worker != s.Worker {
			gone = append(gone, r.Worker)
		}
	}
	return p.db.Update(ctx, func(tx *Tx) error {
		since, seen := p.started, Timestamp(tx.Now())
		if since.IsZero() {
			since = tx.Now()
		}
		if lives {
			seen = Timestamp{}
		}
		_, err := tx.Exec(ctx, `INSERT INTO worker_service (worker, kind, version, started, seen, places, lease, only_groups, handlers)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (worker) DO UPDATE SET seen = excluded.seen`,
			s.Worker, s.Kind, service.Version(), Timestamp(since), seen, s.Places, s.Lease, s.OnlyGroups, s.Handlers)
		if err != nil {
			return err
		}
		p.started = since
		names, err := tx.Texts(2, gone)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `DELETE FROM worker_service WHERE seen < $1 OR seen IS NULL AND worker IN (SELECT n.value FROM `+names.SQL+` AS n)`,
			Timestamp(tx.Now().Add(-goneAfter)), names.Param)
		return err
	})
}

// SetTrouble writes what keeps a worker from its work, in the row that it has published;
// empty: nothing. It returns [ErrNotFound] before there is one.
func SetTrouble(ctx context.Context, db *DB, worker, trouble string) error {
	ctx, cancel := context.WithTimeout(ctx, publishPatience)
	defer cancel()
	return db.Update(ctx, func(tx *Tx) error {
		changed, err := tx.Exec(ctx, "UPDATE worker_service SET trouble = $1 WHERE worker = $2", Nullable(trouble), worker)
		if err == nil && changed == 0 {
			err = ErrNotFound
		}
		return err
	})
}

// ServiceRow is a row of worker_service.
type ServiceRow struct {
	Worker     string
	Kind       RowText
	Version    RowText
	Started    RowTime
	Seen       RowTime
	Places     RowInt
	Lease      RowInt
	OnlyGroups RowText `db:"only_groups"`
	Handlers   RowText
	Trouble    RowText
	Lives      bool `db:"-"` // as far as the database knows
}

// Services lists what workers have published, also those that have ended since.
func Services(ctx context.Context, db *DB) (rows []ServiceRow, err error) {
	err = db.View(ctx, func(tx *Tx) error {
		err := tx.Select(ctx, &rows, "SELECT worker, kind, version, started, seen, places, lease, only_groups, handlers, trouble FROM worker_service ORDER BY worker")
		for i := range rows {
			seen := rows[i].Seen.Time()
			rows[i].Lives = !seen.IsZero() && tx.Now().Sub(seen) <= 3*ServiceBeat
		}
		return err
	})
	if err != nil || len(rows) == 0 {
		return rows, err
	}
	living, err := db.dialect.Living(ctx) // afterwards: those that started meanwhile live
	for i := range rows {
		rows[i].Lives = rows[i].Lives || rows[i].Seen.Time().IsZero() && slices.Contains(living, rows[i].Worker)
	}
	return rows, db.Classify(ctx, err)
}
