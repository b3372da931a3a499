package sqldb

import (
	"context"

	"github.com/nextrun/nextrun/internal/text"
)

type byKey struct{}

// By returns a context whose changes are recorded as those of somebody. Empty: they are
// not recorded.
func By(ctx context.Context, who string) context.Context {
	return context.WithValue(ctx, byKey{}, text.Clean(who, 254))
}

// HasBy reports whether changes are recorded as those of somebody.
func HasBy(ctx context.Context) bool {
	who, _ := ctx.Value(byKey{}).(string)
	return who != ""
}

// Action is a change that somebody made.
type Action struct {
	Action string
	TaskID string
	JIDs   []string // of the jobs or events, of which each gets a row; empty: one row
	Detail string
}

// Note records an action in this transaction, if the context says whose it is.
func (tx *Tx) Note(ctx context.Context, a Action) error {
	if !HasBy(ctx) {
		return nil
	}
	jids := a.JIDs
	if len(jids) == 0 {
		jids = []string{""}
	}
	r, err := tx.Texts(1, jids)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `INSERT INTO periodic_action (at, who, action, task_id, jid, detail)
		SELECT $2, $3, $4, $5, nullif(v.value, ''), $6 FROM `+r.SQL+` AS v`,
		r.Param, Timestamp(tx.now), ctx.Value(byKey{}), a.Action, Nullable(a.TaskID), Nullable(text.Clean(a.Detail, 1000)))
	return err
}
