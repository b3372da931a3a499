package store_test

import (
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/pooltest"
	"github.com/nextrun/nextrun/store"
)

func TestConnectionsThatFallSilent(t *testing.T) {
	t.Parallel()
	pooltest.Silence(t, func(url string) *store.DB {
		db, err := store.Open(t.Context(), url, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { closed(t, db) })
		return db
	})
}

func TestSessionsOfAPooler(t *testing.T) {
	t.Parallel()
	pooltest.Shared(t, func(url string) *store.DB {
		db, err := store.Open(t.Context(), url, store.Options{PollOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { closed(t, db) })
		return db
	})
}
