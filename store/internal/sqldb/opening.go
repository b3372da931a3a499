package sqldb

import (
	"context"
	"strconv"
	"strings"
	"time"
)

// Opening is what a transaction begins with: a query whose first column is the time. A
// connection that finds it in the context of BEGIN can send both in one exchange.
type Opening struct {
	SQL  string
	Sent bool // the connection has sent the query
	// Asked is when it did so, by the host's clock, and Now the answer.
	Asked, Now time.Time
}

type openingKey struct{}

// OpeningOf returns the opening of a transaction that begins with this context; nil: none.
func OpeningOf(ctx context.Context) *Opening {
	o, _ := ctx.Value(openingKey{}).(*Opening)
	return o
}

// opening is that of a transaction that waits for a locked row as long as wait says.
func (t timing) opening(wait time.Duration) *Opening {
	millis := func(d time.Duration) string { return "'" + strconv.FormatInt(d.Milliseconds(), 10) + "'" }
	return &Opening{SQL: strings.NewReplacer("$1", millis(t.options.StatementTimeout), "$2", millis(wait),
		"$3", millis(t.options.IdleTimeout/2)).Replace(t.words.Begin)}
}

type keepKey struct{}

// Keep returns a context whose statements a connection may keep prepared. Their plans must
// not depend on the parameters: PostgreSQL may plan such a statement once for all calls.
func Keep(ctx context.Context) context.Context { return context.WithValue(ctx, keepKey{}, true) }

// Keeps reports whether a statement of this context may be kept.
func Keeps(ctx context.Context) bool { return ctx.Value(keepKey{}) != nil }
