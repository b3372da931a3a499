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
	for _, bad := range [][]int{{0}, {199}, {7, 8}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, {3, 50, 51, 120, 198}} {
		b := &batch{bad: bad}
		if err := b.parts(t.Context(), 200, -1); err != nil || !slices.Equal(b.alone, bad) || len(b.left) > 0 || len(b.done) != 200-len(bad) {
			t.Errorf("%v fail: %v failed alone, %d done, %d left, %v", bad, b.alone, len(b.done), len(b.left), err)
		}
		if most := 4 + 50*len(bad); b.tries > most {
			t.Errorf("%d tries for %v", b.tries, bad)
		}
	}
	one := &batch{bad: []int{0}}
	if err := one.parts(t.Context(), 1, -1); err != nil || one.tries > 0 || len(one.alone) != 1 {
		t.Errorf("a batch of one has failed already: %d tries, %v, %v", one.tries, one.alone, err)
	}
}

func TestPartsEnd(t *testing.T) {
	all := make([]int, 200)
	for i := range all {
		all[i] = i
	}
	b := &batch{bad: all}
	if err := b.parts(t.Context(), 200, -1); err != nil || len(b.alone) != 20 || len(b.left) != 180 {
		t.Errorf("all fail: %d failed alone, %d left, %v", len(b.alone), len(b.left), err)
	}
	b = &batch{bad: all}
	if err := b.parts(t.Context(), 200, 3); err == nil || len(b.alone) != 3 || len(b.left) != 196 {
		t.Errorf("the database fails: %d failed alone, %d left, %v", len(b.alone), len(b.left), err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	b = &batch{}
	if err := b.parts(ended, 200, -1); err != nil || len(b.left) != 200 || b.tries > 0 {
		t.Errorf("nobody waits any more: %d left after %d tries, %v", len(b.left), b.tries, err)
	}
}
