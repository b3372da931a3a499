package store

import (
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
)

// Options are the settings of [Open] and [New]. The zero value is good.
type Options struct {
	// Create makes a SQLite file, or the Schema, that does not exist. Without it
	// [Open] returns [ErrNoDatabase] or [ErrNoSchema].
	Create bool
	// ConnectTimeout limits how long making a connection may take (PostgreSQL).
	// 0: 10 s.
	ConnectTimeout time.Duration `yaml:"connect_timeout"`
	// StatementTimeout limits each statement (PostgreSQL). It must stay well
	// below the lease of a mark and the TTL of the scheduler lock.
	// 0: 20 s.
	StatementTimeout time.Duration `yaml:"statement_timeout"`
	// LockTimeout limits the wait for a lock: of a row on PostgreSQL, of the
	// file on SQLite. 0: 5 s.
	LockTimeout time.Duration `yaml:"lock_timeout"`
	// IdleTimeout ends transactions in which nothing happens, such as those of
	// a process that was stopped (PostgreSQL): after half of it where only nextrun works in
	// them. A [sink.Submitter] has all of it, but for a second. 0: 10 s.
	IdleTimeout time.Duration `yaml:"idle_timeout"`
	// MaxConns limits the connections to PostgreSQL, without the one that
	// listens. SQLite has one writer and up to that many readers.
	// 0: 10.
	MaxConns int `yaml:"max_conns"`
	// PollOnly gives up notifications (PostgreSQL): for transaction poolers,
	// through which LISTEN does not work. Changes are then noticed at the next
	// poll.
	PollOnly bool `yaml:"poll_only"`
	// ListenURL is the URL at which watchers listen for notifications (PostgreSQL),
	// each on its own connection, such as the server's where the other
	// connections go through a pooler. Empty: [Open] listens at its own URL, [New]
	// hears of what this process
	// changes, and else polls.
	ListenURL string
	// Schema holds all of nextrun's tables and functions (PostgreSQL), apart from
	// those of other programs. It is the search_path of the connections that [Open]
	// makes, followed by the URL's search_path, if it has one; the parameter schema
	// of the URL does the same. With [New], and in transactions of the caller's, the
	// program sets search_path, which is checked. Empty: the first schema of the
	// connection's search_path that exists, as a rule public.
	Schema string
	// Clock, if not nil, is what transactions take for now, instead of PostgreSQL's clock
	// or, on SQLite, the host's. It is for tests: defaults and
	// triggers of the tables still take the server's time.
	Clock func() time.Time
}

// Validate returns an error that names every field that is out of bounds. [Open]
// calls it. It needs no database.
func (o Options) Validate() error { return sqldb.Options(o).Validate() }
