package service_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/nextrun/nextrun/internal/service"
)

// batch is one whose items bad fail.
type batch struct {
	bad        []int
	tries      int
	done, left []int
	alone      []int
}

var errBatch = errors.New("one of them fails")

func (b *batch) parts(ctx context.Context, n int, fatal int) error {
	items := make([]int, n)
	for i := range items {
		items[i] = i
	}
	var err error
	b.left, err = service.InParts(ctx, items, errBatch, func(part []int) error {
		b.tries++
		for _, i := range part {
			if slices.Contains(b.bad, i) {
				return fmt.Errorf("item %d", i)
			}
		}
		b.done = append(b.done, part...)
		return nil
	}, func(i int, err error) error {
		if i == fatal {
			return err
		}
		b.alone = append(b.alone, i)
		return nil
	})
	return err
}

func TestItemsThatFailAloneKeepNoOther(t *testing.T) {
	all := make([]int, 200)
	for i := range all {
		all[i] = i
	}
	for name, c := range map[string]struct {
		bad                      []int
		fatal, alone, left, most int
	}{
		"the first":                              {[]int{0}, -1, 1, 0, 54},
		"some":                                   {[]int{3, 50, 51, 120, 198}, -1, 5, 0, 254},
		"all":                                    {all, -1, 20, 180, 254}, // they are not to blame
		"the database is at fault at the fourth": {all, 3, 3, 196, 54},
	} {
		b := &batch{bad: c.bad}
		err := b.parts(t.Context(), 200, c.fatal)
		if (err != nil) != (c.fatal >= 0) || len(b.alone) != c.alone || len(b.left) != c.left || !slices.Equal(b.alone, c.bad[:c.alone]) || b.tries > c.most {
			t.Errorf("%s: %v failed alone, %d left after %d tries, %v", name, b.alone, len(b.left), b.tries, err)
		}
		if c.left == 0 && len(b.done) != 200-c.alone {
			t.Errorf("%s: %d of the others are done", name, len(b.done))
		}
	}
	ended, end := context.WithCancel(t.Context())
	end()
	b := &batch{}
	if err := b.parts(ended, 200, -1); err != nil || len(b.left) != 200 || b.tries > 0 {
		t.Errorf("nobody waits any more: %d left after %d tries, %v", len(b.left), b.tries, err)
	}
}
