package main

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/store"
)

func withDatabase(server, name string) (string, error) {
	u, err := url.Parse(server)
	if err != nil {
		return "", err
	}
	u.Path = "/" + name
	return u.String(), nil
}

// openFilled opens a fresh database and submits n jobs.
func openFilled(ctx context.Context, url string, n int) (*store.DB, error) {
	db, err := store.Open(ctx, url, store.Options{Create: true})
	if err != nil {
		return nil, err
	}
	if _, err := db.Migrator().Up(ctx); err != nil {
		return nil, err
	}
	queue := jobqueue.NewQueue(db.Jobs())
	for left := n; left > 0; left -= 5000 {
		jobs := make([]jobqueue.Job, min(left, 5000))
		for i := range jobs {
			jobs[i] = jobqueue.Job{Task: "empty"}
		}
		if _, err := queue.Submit(ctx, jobs...); err != nil {
			return nil, err
		}
	}
	return db, nil
}

func runNextrun(ctx context.Context, url string, n int) (time.Duration, error) {
	db, err := openFilled(ctx, url, n)
	if err != nil {
		return 0, err
	}
	defer db.Close() //nolint:errcheck // thrown away
	done := make(chan struct{})
	var left atomic.Int64
	left.Store(int64(n))
	e, err := jobqueue.NewExecutor(db.Jobs(), jobqueue.Config{Name: "bench", PoolSize: pool, Observe: func(event jobqueue.Event) {
		if event.Kind == jobqueue.EventEnded && left.Add(-1) == 0 {
			close(done)
		}
	}})
	if err != nil {
		return 0, err
	}
	e.Register("empty", func(context.Context, *jobqueue.JobContext) error { return nil })
	began := time.Now()
	if err := e.Start(ctx); err != nil {
		return 0, err
	}
	<-done
	took := time.Since(began)
	return took, e.Stop(ctx)
}

// reportLatency measures the time from the commit of a submit to the start of
// the handler, of an executor that has nothing else to do.
func reportLatency(ctx context.Context, server string) error {
	const samples = 300
	var waits []time.Duration
	_, err := onFreshDatabase(ctx, server, func(url string) (time.Duration, error) {
		db, err := openFilled(ctx, url, 0)
		if err != nil {
			return 0, err
		}
		defer db.Close() //nolint:errcheck // thrown away
		e, err := jobqueue.NewExecutor(db.Jobs(), jobqueue.Config{Name: "bench", PoolSize: pool})
		if err != nil {
			return 0, err
		}
		started := make(chan time.Time)
		e.Register("empty", func(context.Context, *jobqueue.JobContext) error { started <- time.Now(); return nil })
		if err := e.Start(ctx); err != nil {
			return 0, err
		}
		queue := jobqueue.NewQueue(db.Jobs())
		for range samples {
			if _, err := queue.Submit(ctx, jobqueue.Job{Task: "empty"}); err != nil {
				return 0, err
			}
			committed := time.Now()
			waits = append(waits, (<-started).Sub(committed))
			<-time.After(20 * time.Millisecond) // until it is idle again
		}
		return 0, e.Stop(ctx)
	})
	if err != nil {
		return fmt.Errorf("latency: %w", err)
	}
	fmt.Printf("PostgreSQL, from commit to handler, median of %d: %s\n", samples, median(waits).Round(10*time.Microsecond))
	return nil
}

func reportSQLite(ctx context.Context, jobs, rounds int) error {
	var rates []float64
	for range rounds {
		dir, err := os.MkdirTemp("", "nextrun-bench")
		if err != nil {
			return err
		}
		took, err := runNextrun(ctx, "sqlite:"+filepath.Join(dir, "queue.db"), jobs)
		if err != nil {
			return fmt.Errorf("sqlite: %w", err)
		}
		rates = append(rates, float64(jobs)/took.Seconds())
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	fmt.Printf("SQLite, synchronous FULL, %d jobs, pool of %d, median of %d: %.0f jobs/s\n", jobs, pool, rounds, median(rates))
	return nil
}
