//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"github.com/nextrun/nextrun/bench/internal/must"
)

// parcel is a job of River's, for tasks whose sink that is.
type parcel struct{ ID string }

// Kind implements [river.JobArgs].
func (parcel) Kind() string { return "parcel" }

// deliverParcel is the worker of River. It fails now and then, and sometimes twice, which is for good.
func (l *ledger) deliverParcel(ctx context.Context, job *river.Job[parcel]) error {
	var about struct{ Nextrun struct{ JID, Due string } }
	if err := json.Unmarshal(job.Metadata, &about); err != nil {
		return err
	}
	lot := chance(about.Nextrun.JID + strconv.Itoa(job.Attempt))
	ends := l.begins(about.Nextrun.JID, job.Args.ID, about.Nextrun.Due)
	wait(ctx, time.Duration(lot)*10*time.Millisecond)
	ends(lot >= 30)
	if lot < 30 {
		return errors.New("nobody is at home")
	}
	return nil
}

// startRiver makes River's tables and starts a client. It finds jobs again that it has lost in a fault, after some seconds.
func (l *ledger) startRiver(ctx context.Context, url string) {
	driver := riverpgxv5.New(must.Get(pgxpool.New(ctx, url)))
	must.Get(must.Get(rivermigrate.New(driver, nil)).Migrate(ctx, rivermigrate.DirectionUp, nil))
	workers := river.NewWorkers()
	river.AddWorker(workers, river.WorkFunc(l.deliverParcel))
	client := must.Get(river.NewClient(driver, &river.Config{
		Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 20}}, Workers: workers,
		JobTimeout: 10 * time.Second, RescueStuckJobsAfter: 15 * time.Second, Logger: slog.New(slog.DiscardHandler),
	}))
	must.Nil(client.Start(ctx))
}
