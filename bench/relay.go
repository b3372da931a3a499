package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"
	_ "github.com/mattn/go-sqlite3" // the driver sqlite3
	"github.com/sirupsen/logrus"

	"github.com/nextrun/nextrun/bench/internal/measure"
	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/jobqueue/outbox/relay"
	"github.com/nextrun/nextrun/jobqueue/outbox/webhook"
	"github.com/nextrun/nextrun/store"
)

const (
	relayEvents = 4000
	relayBatch  = 100
	eventsSent  = "events posted"
)

// relays post events to a webhook, beside a program that does no more than it must: per topic it reads a batch, posts each
// event, marks the batch and commits, without leases, fences, attempts, signatures and CloudEvents.
func (b *bench) relays() []group {
	var list []group
	for _, d := range []struct{ database, name string }{{postgres, "postgresql"}, {sqlite, "sqlite"}} {
		for _, topics := range []int{1, 8} {
			of := func(run func(context.Context, relayed) error) func(context.Context) (values, error) {
				return func(ctx context.Context) (v values, err error) {
					err = b.with(ctx, d.database, func(url string, db *measure.DB) error {
						v, err = relayTopics(ctx, url, db.DB, topics, run)
						return err
					})
					return v, err
				}
			}
			list = append(list, group{
				name: fmt.Sprintf("relay-%d-%s", topics, d.name), database: d.database,
				about:      fmt.Sprintf("4,000 events of %d topics to a webhook", topics),
				figures:    []figure{{eventsSent, "events/s", true}},
				contenders: []contender{{ours, of(relayOurs)}, {"plain SQL and POST", of(relayPlain)}},
			})
		}
	}
	return list
}

// relayed is what a relay works with.
type relayed struct {
	db     *store.DB
	sql    *sqlx.DB
	server *httptest.Server // it counts what it gets
	all    <-chan struct{}  // closed when that is all
	topics int
}

func relayTopics(ctx context.Context, url string, db *store.DB, topics int, run func(context.Context, relayed) error) (values, error) {
	for i := range topics {
		if err := appendEvents(ctx, db, fmt.Sprintf("t%d", i), relayEvents/topics); err != nil {
			return nil, err
		}
	}
	driver, dsn := "postgres", url
	if path, ok := strings.CutPrefix(url, "sqlite:"); ok { // with the settings that the store's connections have
		driver, dsn = "sqlite3", "file:"+path+"?_busy_timeout=10000&_foreign_keys=on&_journal_mode=WAL&_synchronous=FULL&_stmt_cache_size=64"
	}
	plain, err := sqlx.Open(driver, dsn)
	if err != nil {
		return nil, err
	}
	done := make(chan struct{})
	var count atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if count.Add(1) == relayEvents {
			close(done)
		}
	}))
	defer server.Close()
	begun := time.Now()
	err = run(ctx, relayed{db, plain, server, done, topics})
	return values{eventsSent: relayEvents / time.Since(begun).Seconds()}, errors.Join(err, plain.Close())
}

func appendEvents(ctx context.Context, db *store.DB, topic string, n int) error {
	list := make([]outbox.Event, n)
	for i := range list {
		list[i] = outbox.Event{Topic: topic, Type: "counted", AggregateID: fmt.Sprintf("%s-a%d", topic, i%5), Payload: fmt.Sprintf(`{"n":%d}`, i)}
	}
	return db.Update(ctx, func(tx *store.Tx) error {
		_, err := outbox.AppendTx(ctx, tx, list...)
		return err
	})
}

func relayOurs(ctx context.Context, r relayed) error {
	hook, err := webhook.New(webhook.Config{URL: r.server.URL, Secrets: []string{"raw:a key of more than 16 bytes"}})
	if err != nil {
		return err
	}
	defer hook.Close()
	log := logrus.New()
	log.SetOutput(io.Discard)
	relay, err := relay.New(r.db.Outbox(), hook, relay.Config{Name: "bench", BatchSize: relayBatch, Logger: log})
	if err != nil {
		return err
	}
	if err := relay.Start(ctx); err != nil {
		return err
	}
	select {
	case <-r.all:
	case <-ctx.Done():
	}
	return errors.Join(ctx.Err(), relay.Stop(context.WithoutCancel(ctx))) // which records the last batch
}

func relayPlain(ctx context.Context, r relayed) error {
	r.server.Client().Transport.(*http.Transport).MaxIdleConnsPerHost = r.topics // a connection for each, as the relay has
	failed := make([]error, r.topics)
	var all sync.WaitGroup
	for i := range r.topics {
		all.Go(func() {
			for n := 1; n > 0 && failed[i] == nil; {
				n, failed[i] = r.plainBatch(ctx, fmt.Sprintf("t%d", i))
			}
		})
	}
	all.Wait()
	return errors.Join(failed...)
}

// plainBatch publishes a batch as simply as can be. SQLite has one writer, so there nothing is locked while the events are
// posted, as with the relay.
func (r relayed) plainBatch(ctx context.Context, topic string) (int, error) {
	var rows []struct {
		Message int64
		ID      string
		Type    string
		Payload string
	}
	err := r.sql.SelectContext(ctx, &rows, r.sql.Rebind(`SELECT m.id AS message, e.id, e.type, e.payload FROM outbox_message AS m
		JOIN event_store AS e ON e.id = m.event_id
		WHERE m.topic = ? AND m.published IS NULL AND m.dead IS NULL ORDER BY m.id LIMIT ?`), topic, relayBatch)
	if err != nil || len(rows) == 0 {
		return 0, err
	}
	ids := make([]int64, len(rows))
	for i, row := range rows {
		ids[i] = row.Message
		if err := r.post(ctx, row); err != nil {
			return 0, err
		}
	}
	query, args, err := sqlx.In(`UPDATE outbox_message SET published = '2026-01-01 00:00:00.000000' WHERE id IN (?)`, ids)
	if err == nil {
		_, err = r.sql.ExecContext(ctx, r.sql.Rebind(query), args...)
	}
	return len(rows), err
}

func (r relayed) post(ctx context.Context, event any) error {
	body, err := json.Marshal(event)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, r.server.URL, bytes.NewReader(body))
	if err != nil {
		return err
	}
	answer, err := r.server.Client().Do(request)
	if err != nil {
		return err
	}
	_, _ = io.Copy(io.Discard, answer.Body)
	return answer.Body.Close()
}
