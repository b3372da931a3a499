package task

import (
	"context"
	"encoding/json"

	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/ops/docspell"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

// warner warns of what may be wrong with tasks although their rows are good.
type warner struct {
	env      *ui.Env
	queues   ui.Queues
	docspell bool // the database is Docspell's
}

func newWarner(ctx context.Context, env *ui.Env, db *store.DB, queues ui.Queues) (*warner, error) {
	is, err := docspell.In(db).IsHere(ctx)
	return &warner{env, queues, is}, err
}

// of warns of args that are not JSON, of a sink that none of the queues has, which
// another program may have, of limits that the queue does not take, and of what Docspell
// cannot read or run.
func (w *warner) of(t *periodic.Task) {
	complain := func(text string) { w.env.Complain("warning: task %q: %s", t.ID, text) }
	if !json.Valid([]byte(t.Args)) {
		complain("args is not JSON")
	}
	if text := w.queues.Missing(t.Sink); text != "" {
		complain(text)
	}
	if text := w.queues.Ignores(t); text != "" {
		complain(text)
	}
	if w.docspell {
		for _, text := range docspell.Warnings(t, w.env.Now()) {
			complain(text)
		}
	}
}
