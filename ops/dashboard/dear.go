package dashboard

import (
	"context"
	"net/http"
	"time"

	"github.com/nextrun/nextrun/internal/figures"
	"github.com/nextrun/nextrun/ops/dashboard/internal/frame"
)

// manyTasks is from how many tasks on all who look within some seconds share what all tasks have to be read for. With fewer tasks,
// each look is new.
const manyTasks = 1000

// dearTimeout is how long it may take.
const dearTimeout = 2 * time.Second

// dear reads what costs the more the more tasks there are. A page does with what it was at its last refresh: the next one has the
// new.
func dear[T any](ctx context.Context, s *source, t *figures.Totals, key string, age time.Duration, load func(context.Context) (T, error)) (T, error) {
	if few(t) {
		return load(ctx)
	}
	value, err := s.shared.Soon(key, s.now(), age, refreshAge, 2*dearTimeout, shareable(ctx, load))
	typed, _ := value.(T)
	return typed, err
}

// dearest reads what costs the more the more ticks there are. Unless it is there soon, a page does with what it was a while ago, or
// with the zero value, and the next look has it. A program, which does not look again, waits for it.
func dearest[T any](ctx context.Context, r *http.Request, s *source, t *figures.Totals, key string, load func(context.Context) (T, error)) (typed T, err error) {
	if few(t) || r.URL.Query().Get("format") == "json" {
		return dear(ctx, s, t, key, countAge, load)
	}
	value, err := s.shared.Soon(key, s.now(), countAge, oldAge, soon, shareable(ctx, load))
	typed, _ = value.(T)
	return typed, err
}

func few(t *figures.Totals) bool { return t.Enabled+t.Paused+t.Blocked+t.Disabled < manyTasks }

// shareable is a load that goes on although who asked is gone: others wait for it, too.
func shareable[T any](ctx context.Context, load func(context.Context) (T, error)) func() (any, error) {
	return func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), dearTimeout)
		defer cancel()
		return load(ctx)
	}
}

// A look at all tasks is read anew for each refresh, a count of all ticks of a day each minute.
const (
	lookAge    = frame.AnswerAge
	refreshAge = 15 * time.Second // of a look that stands in for the next
	countAge   = time.Minute
	oldAge     = 10 * time.Minute      // of a count that stands in for the next
	soon       = 20 * time.Millisecond // is how long a page waits for such a count
)
