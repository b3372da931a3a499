package service

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/sirupsen/logrus"

	lifecycle "github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/ops/config"
	"github.com/nextrun/nextrun/ops/docspell"
	"github.com/nextrun/nextrun/store"
)

// When old ticks are deleted: for the first time some minutes after the start, when
// the scheduler has caught up, then once a day.
const (
	firstPruning = 5 * time.Minute
	nextPruning  = 24 * time.Hour
)

// pruning is a service that deletes old records of ticks where no executor of nextrun
// does: on Docspell's database.
type pruning struct {
	db          *store.DB
	log         logrus.FieldLogger
	age         time.Duration
	first, next time.Duration
	life        *lifecycle.Lifecycle
}

// pruning returns the service, or nil if it is not needed. Where that cannot be read now, the service
// asks again before it deletes anything.
func (s *services) pruning(ctx context.Context) *pruning {
	age := s.config.TickRetention
	if age == config.KeepTicks {
		return nil
	}
	if age == 0 {
		age = config.DefaultTickRetention
	}
	if lacks, err := docspell.LacksHousekeeping(ctx, s.db); err == nil && !lacks {
		return nil
	}
	return newPruning(s.db, s.log, age, firstPruning+rand.N(firstPruning), nextPruning)
}

func newPruning(db *store.DB, log logrus.FieldLogger, age, first, next time.Duration) *pruning {
	return &pruning{db: db, log: log, age: age, first: first, next: next, life: lifecycle.New("pruning of ticks")}
}

// Start begins to wait and returns at once.
func (p *pruning) Start(ctx context.Context) error {
	return p.life.Start(ctx, func(soft, _ context.Context) {
		timer := time.NewTimer(p.first)
		defer timer.Stop()
		for {
			select {
			case <-soft.Done():
				return
			case <-timer.C:
			}
			p.prune(soft)
			timer.Reset(p.next)
		}
	})
}

// Stop ends it, after the current batch, and waits for that.
func (p *pruning) Stop(ctx context.Context) error { return p.life.Stop(ctx) }

// Done is closed when it has ended.
func (p *pruning) Done() <-chan struct{} { return p.life.Done() }

// prune deletes what is old now, unless a housekeeping task has been added.
func (p *pruning) prune(ctx context.Context) {
	lacks, err := docspell.LacksHousekeeping(ctx, p.db)
	if err == nil && !lacks {
		return
	}
	n := 0
	if err == nil {
		n, err = p.db.PruneTicks(ctx, p.age)
	}
	log := p.log.WithField("deleted", n)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		log.WithError(err).Warn("old ticks could not be deleted; trying again in a day")
	default:
		log.Info("old ticks deleted")
	}
}
