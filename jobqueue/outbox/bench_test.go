package outbox_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/jobqueue/outbox/webhook"
	"github.com/nextrun/nextrun/store/storetest"
	"github.com/nextrun/nextrun/store/storetest/migrated"
)

const (
	benchEvents = 4000
	benchBatch  = 100
)

// BenchmarkRelay measures how long the relay takes to post events to a webhook,
// beside a program that does no more than it must: per topic it reads a batch,
// posts each event, marks the batch and commits, without leases, fences,
// attempts, signatures and CloudEvents. ratio is the relay's throughput by that
// program's, the median of the rounds, in each of which both run in turn.
func BenchmarkRelay(b *testing.B) {
	for _, kind := range []string{storetest.Postgres, storetest.SQLite} {
		for _, topics := range []int{1, 8} {
			b.Run(fmt.Sprintf("%s/topics=%d", kind, topics), func(b *testing.B) {
				f := newFixture(migrated.New(b, kind))
				f.connectAsStore()
				var relay, plain, ratio []float64
				for b.Loop() {
					p, r := f.benchPlain(topics).Seconds(), f.benchRelay(topics).Seconds()
					plain, relay, ratio = append(plain, benchEvents/p), append(relay, benchEvents/r), append(ratio, p/r)
				}
				b.ReportMetric(median(relay), "events/s")
				b.ReportMetric(median(plain), "plain-events/s")
				b.ReportMetric(median(ratio), "ratio")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// BenchmarkAppend measures the writing of events in batches.
func BenchmarkAppend(b *testing.B) {
	migrated.Both(b, func(b *testing.B, d *migrated.Database) {
		f := newFixture(d)
		batch := events("t", benchBatch)
		for b.Loop() {
			f.append(batch...)
		}
		b.ReportMetric(float64(b.N*benchBatch)/b.Elapsed().Seconds(), "events/s")
	})
}

// connectAsStore gives the plain program connections with the settings that the
// store's have: commits that are on disk when they return.
func (f *fixture) connectAsStore() {
	f.Helper()
	if f.Kind != "sqlite" {
		return
	}
	conn, err := sqlx.Open("sqlite3", "file:"+strings.TrimPrefix(f.URL, "sqlite:")+
		"?_busy_timeout=10000&_foreign_keys=on&_journal_mode=WAL&_synchronous=FULL&_stmt_cache_size=64")
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = conn.Close() })
	f.SQL = conn
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

func (f *fixture) fill(topics int) {
	f.Helper()
	f.exec(`DELETE FROM outbox_message`)
	f.exec(`DELETE FROM event_store`)
	for i := range topics {
		f.append(events(fmt.Sprintf("t%d", i), benchEvents/topics)...)
	}
}

// benchReceiver counts what it gets, and says when it has all.
func benchReceiver() (server *httptest.Server, all <-chan struct{}) {
	done := make(chan struct{})
	var count atomic.Int64
	return httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if count.Add(1) == benchEvents {
			close(done)
		}
	})), done
}

func (f *fixture) benchRelay(topics int) time.Duration {
	f.Helper()
	f.fill(topics)
	server, all := benchReceiver()
	defer server.Close()
	hook, err := webhook.New(webhook.Config{URL: server.URL, Secrets: []string{"raw:a key of more than 16 bytes"}})
	if err != nil {
		f.Fatal(err)
	}
	defer hook.Close()
	relay, err := outbox.New(f.db.Outbox(), hook, outbox.Config{Name: "bench", BatchSize: benchBatch, Logger: silent()})
	if err != nil {
		f.Fatal(err)
	}
	begun := time.Now()
	if err := relay.Start(f.Context()); err != nil {
		f.Fatal(err)
	}
	<-all
	if err := relay.Stop(f.Context()); err != nil { // records the last batch
		f.Error(err)
	}
	took := time.Since(begun)
	f.want(0, `SELECT count(*) FROM outbox_message WHERE published IS NULL`)
	return took
}

func (f *fixture) benchPlain(topics int) time.Duration {
	f.Helper()
	f.fill(topics)
	server, all := benchReceiver()
	defer server.Close()
	server.Client().Transport.(*http.Transport).MaxIdleConnsPerHost = topics // a connection for each, as the relay has
	begun := time.Now()
	var group sync.WaitGroup
	for i := range topics {
		group.Go(func() {
			for f.plainBatch(server, fmt.Sprintf("t%d", i)) > 0 {
			}
		})
	}
	group.Wait()
	<-all
	return time.Since(begun)
}

// plainBatch publishes a batch as simply as can be. SQLite has one writer, so
// there nothing is locked while the events are posted, as with the relay.
func (f *fixture) plainBatch(server *httptest.Server, topic string) int {
	var rows []struct {
		Message int64
		ID      string
		Type    string
		Payload string
	}
	if err := f.SQL.Select(&rows, f.SQL.Rebind(`SELECT m.id AS message, e.id, e.type, e.payload FROM outbox_message AS m
		JOIN event_store AS e ON e.id = m.event_id
		WHERE m.topic = ? AND m.published IS NULL AND m.dead IS NULL ORDER BY m.id LIMIT ?`), topic, benchBatch); err != nil {
		f.Error(err)
		return 0
	}
	if len(rows) == 0 {
		return 0
	}
	ids := make([]int64, len(rows))
	for i, r := range rows {
		ids[i] = r.Message
		body, err := json.Marshal(r)
		if err == nil {
			var answer *http.Response
			if answer, err = server.Client().Post(server.URL, "application/json", bytes.NewReader(body)); err == nil {
				_, _ = io.Copy(io.Discard, answer.Body)
				err = answer.Body.Close()
			}
		}
		if err != nil {
			f.Error(err)
		}
	}
	query, args, err := sqlx.In(`UPDATE outbox_message SET published = '2026-01-01 00:00:00.000000' WHERE id IN (?)`, ids)
	if err == nil {
		_, err = f.SQL.Exec(f.SQL.Rebind(query), args...)
	}
	if err != nil {
		f.Error(err)
	}
	return len(rows)
}
