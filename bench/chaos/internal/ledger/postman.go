package ledger

import (
	"context"
	"database/sql"
	"time"

	"github.com/nextrun/nextrun/bench/chaos/internal/fault"
)

// Postman is the consumer of a queue that is not nextrun's. It lives as long as the chaos does; a letter that it has taken
// is its own, whatever it hears of its commits.
type Postman struct {
	db    func() *sql.DB
	runs  *Ledger
	taken map[string]func(bool) // by id; nil: done, as far as known
}

// NewPostman returns one that notes its work.
func NewPostman(db func() *sql.DB, l *Ledger) *Postman {
	return &Postman{db: db, runs: l, taken: map[string]func(bool){}}
}

// Work works until the context ends.
func (p *Postman) Work(ctx context.Context) {
	pause := time.NewTicker(500 * time.Millisecond)
	defer pause.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-pause.C:
		}
		_ = p.round(ctx) // trouble with the database passes
	}
}

// round delivers all letters that there are.
func (p *Postman) round(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if _, err := p.db().ExecContext(ctx, "UPDATE mail_queue SET state = 'busy' WHERE state = 'new'"); err != nil {
		return err
	}
	letters, err := p.busy(ctx)
	if err != nil {
		return err
	}
	for _, letter := range letters {
		if _, known := p.taken[letter.id]; !known {
			p.taken[letter.id] = p.runs.Begins(letter.id, letter.task, "")
		}
	}
	fault.Wait(ctx, 50*time.Millisecond) // the work
	for _, letter := range letters {
		if ends := p.taken[letter.id]; ends != nil {
			ends(true) // before its commit, after which the next one may begin
			p.taken[letter.id] = nil
		}
	}
	_, err = p.db().ExecContext(ctx, "UPDATE mail_queue SET state = 'done' WHERE state = 'busy'")
	return err
}

type letter struct{ id, task string }

func (p *Postman) busy(ctx context.Context) (list []letter, err error) {
	rows, err := p.db().QueryContext(ctx, "SELECT id, task_id FROM mail_queue WHERE state = 'busy'")
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // Err tells
	for rows.Next() {
		var l letter
		if err := rows.Scan(&l.id, &l.task); err != nil {
			return nil, err
		}
		list = append(list, l)
	}
	return list, rows.Err()
}
