package sqldb

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/service"
)

// What the fields of [Options] are that nobody sets.
const (
	DefaultConnectTimeout   = 10 * time.Second
	DefaultStatementTimeout = 20 * time.Second
	DefaultLockTimeout      = 5 * time.Second
	DefaultIdleTimeout      = 10 * time.Second
	DefaultMaxConns         = 10
)

// Options are those of package store, which explains them.
type Options struct {
	Create           bool
	ConnectTimeout   time.Duration
	StatementTimeout time.Duration
	LockTimeout      time.Duration
	IdleTimeout      time.Duration
	MaxConns         int
	PollOnly         bool
	ListenURL        string
	Schema           string
	Clock            func() time.Time
}

// WithDefaults fills in what is not set.
func (o Options) WithDefaults() Options {
	service.SetDefault(&o.ConnectTimeout, DefaultConnectTimeout)
	service.SetDefault(&o.StatementTimeout, DefaultStatementTimeout)
	service.SetDefault(&o.LockTimeout, DefaultLockTimeout)
	service.SetDefault(&o.IdleTimeout, DefaultIdleTimeout)
	service.SetDefault(&o.MaxConns, DefaultMaxConns)
	return o
}

// Validate does what package store says.
func (o Options) Validate() error {
	o = o.WithDefaults()
	p := &service.Check{Config: "store.Options"}
	service.Within(p, "ConnectTimeout", o.ConnectTimeout, time.Millisecond, time.Hour)
	service.Within(p, "StatementTimeout", o.StatementTimeout, time.Millisecond, time.Hour)
	service.Within(p, "LockTimeout", o.LockTimeout, time.Millisecond, time.Hour)
	service.Within(p, "IdleTimeout", o.IdleTimeout, time.Millisecond, time.Hour)
	service.Within(p, "MaxConns", o.MaxConns, 1, 1000)
	return errors.Join(p.Err(), ValidSchema(o.Schema))
}

// schemaName is what a schema of nextrun's own may be called: names that mean the same
// with and without quotes, since people write them in SQL, too.
var schemaName = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,62}$`)

// ValidSchema checks the name of a schema, which may be empty.
func ValidSchema(name string) error {
	switch {
	case name == "":
		return nil
	case !schemaName.MatchString(name):
		return fmt.Errorf("the schema %q: use lower-case letters, digits and _, 63 characters at most, beginning with a letter", name)
	case strings.HasPrefix(name, "pg_"), name == "information_schema":
		return fmt.Errorf("the schema %q is PostgreSQL's own; name another one", name)
	}
	return nil
}
