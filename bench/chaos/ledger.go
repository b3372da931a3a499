//go:build linux

package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"hash/fnv"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/nextrun/nextrun/bench/chaos/audit"
	"github.com/nextrun/nextrun/bench/internal/must"
)

// ledger is the world that nextrun works for, and notes what it sees of that: handlers of all processes call it, the events of
// tasks go to it, and it delivers the letters of a queue that is not nextrun's.
type ledger struct {
	address string // of its server
	server  *http.Server

	mu   sync.Mutex
	seen audit.Outside
}

// newLedger takes calls on a port of its own.
func newLedger() *ledger {
	l := &ledger{seen: audit.Outside{Delivered: map[string][]audit.Event{}, Told: map[string]audit.Told{}, Lost: map[string]bool{}}}
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))
	mux := http.NewServeMux()
	mux.HandleFunc("POST /run/{kind}", l.runJob)
	mux.HandleFunc("POST /event", l.takeEvent)
	mux.HandleFunc("POST /hook", l.takeHook)
	l.address = listener.Addr().String()
	l.server = &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	go func() { _ = l.server.Serve(listener) }()
	return l
}

// begins notes that a run begins. The function that it returns notes the end.
func (l *ledger) begins(jid, task, due string) (ends func(succeeded bool)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := len(l.seen.Runs)
	l.seen.Runs = append(l.seen.Runs, audit.Run{Job: jid, Task: task, Due: due, Begin: time.Now()})
	return func(succeeded bool) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.seen.Runs[i].End, l.seen.Runs[i].Succeeded = time.Now(), succeeded
	}
}

// lose notes what a failover has lost of that, and of the times from the last commit that it kept to its end.
func (l *ledger) lose(ids map[string]bool, from, to time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	maps.Copy(l.seen.Lost, ids)
	l.seen.Rewound = append(l.seen.Rewound, [2]time.Time{from, to})
}

// chance is a number from 0 to 99 that follows from a text.
func chance(text string) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(text))
	return int(h.Sum32() % 100)
}

// runJob runs a job: quick ones at once, slow ones for up to five seconds. Some flaky ones fail and are tried again, broken
// ones fail for good.
func (l *ledger) runJob(w http.ResponseWriter, q *http.Request) {
	var args struct{ ID string }
	if err := json.NewDecoder(q.Body).Decode(&args); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	jid := q.Header.Get("Nextrun-Job-Id")
	lot := chance(jid + q.Header.Get("Nextrun-Attempt"))
	ends := l.begins(jid, args.ID, q.Header.Get("Nextrun-Due"))
	takes, status := time.Duration(lot%20)*time.Millisecond, http.StatusOK
	switch kind := q.PathValue("kind"); {
	case kind == "slow":
		takes = time.Duration(lot) * 50 * time.Millisecond
	case kind == "flaky" && lot < 30:
		status = http.StatusInternalServerError
	case kind == "broken" && lot < 50:
		status = http.StatusBadRequest
	}
	wait(q.Context(), takes)
	ends(status == http.StatusOK && q.Context().Err() == nil) // else the executor is gone, or does not want the answer any more
	w.WriteHeader(status)
}

// takeEvent takes an event, which may come again, but for some that have to.
func (l *ledger) takeEvent(w http.ResponseWriter, q *http.Request) {
	var e audit.Event
	if err := json.NewDecoder(q.Body).Decode(&e); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if chance(e.ID+strconv.FormatInt(time.Now().Unix()/10, 10)) < 3 {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if list := l.seen.Delivered[e.Subject]; !slices.Contains(list, e) {
		l.seen.Delivered[e.Subject] = append(list, e)
	}
	w.WriteHeader(http.StatusNoContent)
}

// takeHook takes what a hook tells, which may come again.
func (l *ledger) takeHook(w http.ResponseWriter, q *http.Request) {
	var n struct {
		ID string
		audit.Told
	}
	if err := json.NewDecoder(q.Body).Decode(&n); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen.Told[n.ID] = n.Told
}

// deliver delivers letters until the context ends. Those that it has taken are its own, whatever it hears of its commits.
func (l *ledger) deliver(ctx context.Context, db func() *sql.DB) {
	taken := map[string]func(bool){} // by id; nil: done, as far as known
	for ; ctx.Err() == nil; wait(ctx, 500*time.Millisecond) {
		limited, cancel := context.WithTimeout(ctx, 5*time.Second)
		_ = must.Try(func() { l.round(limited, db(), taken) }) // trouble with the database passes
		cancel()
	}
}

// round delivers all letters that there are, those which it has taken before, too.
func (l *ledger) round(ctx context.Context, db *sql.DB, taken map[string]func(bool)) {
	letters := map[string]string{}
	audit.Each(ctx, db, "UPDATE mail_queue SET state = 'busy' WHERE state <> 'done' RETURNING id, task_id", func(scan func(...any)) {
		var id, task string
		scan(&id, &task)
		letters[id] = task
	})
	for id, task := range letters {
		if _, known := taken[id]; !known {
			taken[id] = l.begins(id, task, "")
		}
	}
	wait(ctx, 50*time.Millisecond) // the work
	for id := range letters {
		if ends := taken[id]; ends != nil {
			ends(true) // before its commit, after which the next one may begin
			taken[id] = nil
		}
	}
	must.Nil(execute(ctx, db, "UPDATE mail_queue SET state = 'done' WHERE state = 'busy'"))
}
