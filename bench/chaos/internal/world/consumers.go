package world

import (
	"context"
	"database/sql"
	"encoding/json"
	"hash/fnv"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/nextrun/nextrun/bench/chaos/internal/fault"
)

// Receiver is what the handlers of all processes call, and where the events of tasks go.
type Receiver struct {
	ledger   *Ledger
	listener net.Listener
	server   *http.Server
}

// NewReceiver listens on a port of its own, and notes what it is called for.
func NewReceiver(l *Ledger) (*Receiver, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &Receiver{ledger: l, listener: listener}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /run/{kind}", r.runJob)
	mux.HandleFunc("POST /event", r.event)
	r.server = &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	go func() { _ = r.server.Serve(listener) }()
	return r, nil
}

// URL is the address, without a path.
func (r *Receiver) URL() string { return "http://" + r.listener.Addr().String() }

// Close ends all calls.
func (r *Receiver) Close() error { return r.server.Close() }

// chance is a number from 0 to 99 that follows from a text.
func chance(text string) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(text))
	return int(h.Sum32() % 100)
}

// runJob runs a job: quick ones at once, slow ones for up to five seconds. Some flaky ones fail and are tried again, broken
// ones fail for good.
func (r *Receiver) runJob(w http.ResponseWriter, q *http.Request) {
	var args struct{ ID string }
	if err := json.NewDecoder(q.Body).Decode(&args); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	jid := q.Header.Get("Nextrun-Job-Id")
	lot := chance(jid + q.Header.Get("Nextrun-Attempt"))
	ends := r.ledger.Begins(jid, args.ID, q.Header.Get("Nextrun-Due"))
	takes, status := time.Duration(lot%20)*time.Millisecond, http.StatusOK
	switch kind := q.PathValue("kind"); {
	case kind == "slow":
		takes = time.Duration(lot) * 50 * time.Millisecond
	case kind == "flaky" && lot < 30:
		status = http.StatusInternalServerError
	case kind == "broken" && lot < 50:
		status = http.StatusBadRequest
	}
	select {
	case <-time.After(takes):
		ends(status == http.StatusOK)
		w.WriteHeader(status)
	case <-q.Context().Done(): // the executor is gone, or does not want the answer any more
		ends(false)
	}
}

// event takes an event, but for some that have to come again.
func (r *Receiver) event(w http.ResponseWriter, q *http.Request) {
	var e struct {
		ID, Subject, AggregateVersion string
	}
	if err := json.NewDecoder(q.Body).Decode(&e); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	version, err := strconv.Atoi(e.AggregateVersion)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if chance(e.ID+strconv.FormatInt(time.Now().Unix()/10, 10)) < 3 {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	r.ledger.Arrived(e.Subject, version)
	w.WriteHeader(http.StatusNoContent)
}

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
	for ctx.Err() == nil {
		_ = p.round(ctx) // trouble with the database passes
		fault.Wait(ctx, 500*time.Millisecond)
	}
}

// round delivers all letters that there are.
func (p *Postman) round(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	letters, err := p.take(ctx)
	if err != nil {
		return err
	}
	for id, task := range letters {
		if _, known := p.taken[id]; !known {
			p.taken[id] = p.runs.Begins(id, task, "")
		}
	}
	fault.Wait(ctx, 50*time.Millisecond) // the work
	for id := range letters {
		if ends := p.taken[id]; ends != nil {
			ends(true) // before its commit, after which the next one may begin
			p.taken[id] = nil
		}
	}
	_, err = p.db().ExecContext(ctx, "UPDATE mail_queue SET state = 'done' WHERE state = 'busy'")
	return err
}

// take takes letters. It returns these and those that it has taken before, with their tasks.
func (p *Postman) take(ctx context.Context) (map[string]string, error) {
	rows, err := p.db().QueryContext(ctx, "UPDATE mail_queue SET state = 'busy' WHERE state <> 'done' RETURNING id, task_id")
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // Err tells
	letters := map[string]string{}
	for rows.Next() {
		var id, task string
		if err := rows.Scan(&id, &task); err != nil {
			return nil, err
		}
		letters[id] = task
	}
	return letters, rows.Err()
}
