package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/internal/sqldb"
)

const (
	// endedGrace is how long a session must be gone until its worker counts as ended. A
	// worker that lives has made a new one by then, or said that it has none.
	endedGrace = time.Second
	// settled is how long this process must have had a session of its own to judge others:
	// when all lost theirs together, the others get time to come back.
	settled = 3 * time.Second
	// sessionPatience is how long a statement about a session may take, and
	// sessionAgain when to try it again.
	sessionPatience = 2 * time.Second
	sessionAgain    = 200 * time.Millisecond
	sessionRefused  = 30 * time.Second // after an error that does not pass by itself
	// leavePatience is how long a worker that stops tries to remove its row.
	leavePatience = 10 * time.Second
	// lookPatience is how long a look for those that live or have ended may take: whoever looks
	// has other things to do.
	lookPatience = 500 * time.Millisecond
)

// session is the connection of a Watch as others see it: a row of worker_session says
// that the worker has a session of a name, which is its application_name. Of a worker
// with a row and without a session, others know that it has ended.
//
// The row is written when a notification that was sent on another connection has
// arrived: only then the server keeps this session for this process alone, which a pooler
// does not. The row is removed as soon as the session is lost, unless the server
// cannot be reached.
type session struct {
	d       *dialect
	w       sqldb.Watch
	name    string // application_name
	channel string // of the notification to itself
	saidWhy bool

	mu      sync.Mutex
	changes int    // how often the connection was lost or made
	up      bool   // there is one
	heard   string // by the last notification to itself
	news    chan struct{}
}

// maxAppName is the greatest length of an application_name in bytes; PostgreSQL cuts
// longer ones.
const maxAppName = 63

// session returns the session of a Watch, which shows nothing if it has no worker.
func (d *dialect) session(w sqldb.Watch) *session {
	s := &session{d: d, w: w, news: make(chan struct{}, 1)}
	if w.Worker == "" {
		return s
	}
	s.name = sessionName(cmp.Or(d.server.AppName, "nextrun"), w.Worker)
	s.channel = "nextrun_session_" + service.BootID()
	return s
}

// sessionName is a name for the session of a worker. Its end, the boot id, makes it unique.
func sessionName(base, worker string) string {
	const most = 50
	worker = worker[max(0, len(worker)-most):]
	plain := strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '-'
		}
		return r
	}, base)
	return plain[:min(len(plain), maxAppName-1-len(worker))] + " " + worker
}

// channels are those to listen on.
func (s *session) channels(topics []sqldb.Topic) []string {
	var list []string
	for _, t := range topics {
		list = append(list, string(t))
	}
	if s.name != "" {
		list = append(list, s.channel)
	}
	return list
}

// made says that there is a new connection, and lost that it is lost.
func (s *session) made() { s.changed(true) }
func (s *session) lost() { s.changed(false) }

func (s *session) changed(up bool) {
	s.note(func() { s.changes++; s.up, s.heard = up, "" })
}

// hear takes a notification to itself.
func (s *session) hear(token string) {
	s.note(func() { s.heard = token })
}

func (s *session) note(what func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	what()
	select {
	case s.news <- struct{}{}:
	default: // there is news already
	}
}

// run keeps the row of the session until ctx ends.
func (s *session) run(ctx context.Context) {
	if s.name == "" {
		<-ctx.Done()
		return
	}
	defer s.leave(ctx)
	seen, token := 0, ""
	var todo func(context.Context) error
	again := time.NewTimer(0)
	defer again.Stop()
	for {
		s.mu.Lock()
		changes, up, heard := s.changes, s.up, s.heard
		s.mu.Unlock()
		switch {
		case changes != seen && up:
			token = service.BootID()
			todo = func(ctx context.Context) error { return s.ask(ctx, token) }
		case changes != seen:
			s.d.shown.remove(s)
			s.w.Shown(false)
			todo = s.remove
		case up && heard != "" && heard == token:
			token = ""
			todo = s.add
		}
		seen = changes
		if todo != nil {
			if err := s.within(ctx, todo); err != nil {
				again.Reset(s.failed(ctx, err))
			} else {
				todo = nil
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-s.news:
		case <-again.C:
		}
	}
}

func (s *session) within(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, sessionPatience)
	defer cancel()
	return do(ctx)
}

// failed returns when to try again. It reports the first error that the server sent and
// no outage explains, such as missing rights.
func (s *session) failed(ctx context.Context, err error) (again time.Duration) {
	class := s.d.Class(err)
	if s.d.Said(err).Code == "" || errors.Is(class, sqldb.ErrUnavailable) || errors.Is(class, sqldb.ErrContended) || ctx.Err() != nil {
		return sessionAgain
	}
	if !s.saidWhy {
		s.saidWhy = true
		s.w.Report(fmt.Errorf("show that this worker lives, so that others can take over at once when it dies: %w", err))
	}
	return sessionRefused
}

// ask sends a notification to the session, on another connection.
func (s *session) ask(ctx context.Context, token string) error {
	_, err := s.d.pool.ExecContext(ctx, "SELECT pg_notify($1, $2)", s.channel, token)
	return err
}

// serverStart tells this run of the server from others: sessions do not survive it, nor do
// they move to a standby. An unlogged table is empty after a crash, and on a standby.
const serverStart = "(pg_postmaster_start_time() AT TIME ZONE 'UTC')"

// isGone is true of a row s without a session.
const isGone = `s.session NOT IN (SELECT application_name FROM pg_stat_get_activity(NULL) WHERE application_name IS NOT NULL)`

// add writes the row, and forgets workers that ended long ago. It writes none if the
// server knows the session by another name, as behind a pooler that adds the host to it
// (application_name_add_host): others would take the worker for dead.
func (s *session) add(ctx context.Context) error {
	const now = "(clock_timestamp() AT TIME ZONE 'UTC')"
	added, err := s.d.pool.ExecContext(ctx, `INSERT INTO worker_session (worker, session, server, since)
		SELECT s.worker, s.session, `+serverStart+`, `+now+` FROM (SELECT CAST($1 AS varchar) AS worker, CAST($2 AS varchar) AS session) AS s
		WHERE NOT (`+isGone+`)
		ON CONFLICT (worker) DO UPDATE SET session = excluded.session, server = excluded.server, since = excluded.since, ended = NULL`,
		s.w.Worker, s.name)
	if err != nil {
		return err
	}
	if n, err := added.RowsAffected(); err != nil || n == 0 {
		return errors.Join(err, s.remove(ctx))
	}
	for _, statement := range []string{
		`UPDATE worker_session SET ended = ` + now + ` WHERE worker IN (SELECT worker FROM worker_session AS s
			WHERE ended IS NULL AND ` + isGone + lockRows + `)`,
		`DELETE FROM worker_session WHERE worker IN (SELECT worker FROM worker_session AS s
			WHERE ended < ` + now + ` - interval '1 hour' AND ` + isGone + lockRows + `)`,
	} {
		if _, err := s.d.pool.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	s.d.shown.add(s)
	s.w.Shown(true)
	return nil
}

func (s *session) remove(ctx context.Context) error {
	_, err := s.d.pool.ExecContext(ctx, "DELETE FROM worker_session WHERE worker = $1", s.w.Worker)
	return err
}

// leave removes the row at the end of the Watch, so that what the worker still finishes is
// judged by its lease. It keeps trying while somebody has the row locked: without the row
// the session may go.
func (s *session) leave(ctx context.Context) {
	s.d.shown.remove(s)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leavePatience)
	defer cancel()
	for {
		err := s.within(ctx, s.remove)
		if err == nil || errors.Is(s.d.Class(err), sqldb.ErrUnavailable) && !errors.Is(err, context.DeadlineExceeded) {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(sessionAgain):
		}
	}
}

// Ended implements [sqldb.Dialect].
func (d *dialect) Ended(ctx context.Context) (workers []string, later time.Duration, err error) {
	if d.server.Listen == nil {
		return nil, -1, nil
	}
	if left := d.shown.settlesIn(time.Now()); left > 0 {
		return nil, left, nil
	}
	ctx, cancel := context.WithTimeout(ctx, lookPatience)
	defer cancel()
	rows, err := d.pool.QueryContext(ctx, `SELECT worker FROM worker_session AS s WHERE server = `+serverStart+` AND `+isGone)
	if err != nil {
		return nil, 0, err
	}
	workers, err = scanWorkers(rows)
	if left := d.shown.settlesIn(time.Now()); left > 0 { // lost meanwhile, perhaps together with those of others
		return nil, left, err
	}
	return workers, 0, err
}

// shown are the sessions of this process that have a row, and since when. It is safe for
// concurrent use.
type shown struct {
	mu    sync.Mutex
	since map[*session]time.Time
}

func (sh *shown) add(s *session) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if sh.since == nil {
		sh.since = map[*session]time.Time{}
	}
	sh.since[s] = time.Now()
}

func (sh *shown) remove(s *session) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	delete(sh.since, s)
}

// settlesIn returns how long until this process has had a session for long enough to judge
// others; not positive: it has.
func (sh *shown) settlesIn(now time.Time) time.Duration {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	left := settled
	for _, since := range sh.since {
		left = min(left, since.Add(settled).Sub(now))
	}
	return left
}
