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
func (t timing) opening(ctx context.Context, wait time.Duration) *Opening {
	millis := func(d time.Duration) string { return "'" + strconv.FormatInt(d.Milliseconds(), 10) + "'" }
	begin := t.words.Begin
	if Keeps(ctx) > 0 {
		begin += t.words.Generic
	}
	return &Opening{SQL: strings.NewReplacer("$1", millis(t.options.StatementTimeout), "$2", millis(wait),
		"$3", millis(t.options.IdleTimeout/2)).Replace(begin)}
}

type keepKey struct{}

// ForGood is the time for [Keep] of a statement whose plan is good whatever the tables hold.
const ForGood = 1000 * time.Hour

// Keep returns a context whose statements a connection may keep prepared for a time. PostgreSQL
// may plan such a statement once for all that time, without regard to its parameters, and to how the
// tables grow meanwhile.
func Keep(ctx context.Context, during time.Duration) context.Context {
	return context.WithValue(ctx, keepKey{}, during)
}

// Keeps is how long a statement of this context may be kept; 0: not at all.
func Keeps(ctx context.Context) time.Duration {
	during, _ := ctx.Value(keepKey{}).(time.Duration)
	return during
}
