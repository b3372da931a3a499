package relay

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/outbox"
)

func TestFailureDecidesWhatBecomesOfAMessage(t *testing.T) {
	t.Parallel()
	r, err := New(nil, nil, Config{
		Name: "x", RetryMin: time.Second, RetryMax: time.Minute, RefusalLimits: map[string]int{"*": 3, "strict": jobqueue.Never, "plain": 0},
	})
	if err != nil {
		t.Fatal(err)
	}
	broken, refused := errors.New("broken"), jobqueue.Permanent(errors.New("no"))
	for name, test := range map[string]struct {
		item        Item
		err         error
		least, most time.Duration
		dead        bool
	}{
		"the first attempt":           {Item{}, broken, 500 * time.Millisecond, time.Second, false},
		"the fourth":                  {Item{Attempts: 3}, broken, 4 * time.Second, 8 * time.Second, false},
		"the thousandth":              {Item{Attempts: 999}, broken, 30 * time.Second, time.Minute, false},
		"many failures, one refusal":  {Item{Attempts: 999}, refused, 30 * time.Second, time.Minute, false},
		"the last refusal":            {Item{Refusals: 2}, fmt.Errorf("send: %w", refused), 0, time.Hour, true},
		"no refusal is the last":      {Item{Event: outbox.Event{Topic: "strict"}, Refusals: 99}, refused, 0, time.Hour, false},
		"the default is five":         {Item{Event: outbox.Event{Topic: "plain"}, Refusals: 3}, refused, 0, time.Hour, false},
		"failures do not kill":        {Item{Refusals: 2}, broken, 0, time.Hour, false},
		"the receiver asks for time":  {Item{}, jobqueue.RetryAfter(broken, 5*time.Minute), 5 * time.Minute, 5 * time.Minute, false},
		"it asks for too much":        {Item{}, jobqueue.RetryAfter(broken, 100*time.Hour), time.Hour, time.Hour, false},
		"it asks for less than ours":  {Item{Attempts: 999}, jobqueue.RetryAfter(broken, time.Second), 30 * time.Second, time.Minute, false},
		"the publisher says nothing":  {Item{}, nil, 0, time.Second, false},
		"a text that cannot be saved": {Item{}, errors.New("a\x00b\xff" + strings.Repeat("ä", 5000)), 0, time.Second, false},
	} {
		f := r.failure(test.item, test.err)
		if f.Delay < test.least || f.Delay > test.most || f.Dead != test.dead || f.Problem == "" {
			t.Errorf("%s: %+v", name, f)
		}
		if !text.Valid(f.Problem) || len(f.Problem) > maxProblem {
			t.Errorf("%s: problem of %d bytes", name, len(f.Problem))
		}
	}
}
