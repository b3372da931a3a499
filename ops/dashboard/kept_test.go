package dashboard

import (
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
)

// Two visitors are served while another one reads. What an action has changed during a read is not hidden by what that read returns.
func TestNobodyWaitsForAReadOfAnother(t *testing.T) {
	t.Parallel()
	var k kept[string]
	reads, finish, served := make(chan struct{}), make(chan struct{}), make(chan string)
	visit := func(value string, wait func()) {
		value, _ = k.get(time.Now(), func() (string, int, error) {
			wait()
			return value, manyRows, nil
		})
		served <- value
	}
	want := func(who, value string) {
		t.Helper()
		select {
		case got := <-served:
			if got != value {
				t.Errorf("%s gets %q, want %q", who, got, value)
			}
		case <-time.After(storetest.Patience):
			t.Fatalf("%s waits for what another one reads", who)
		}
	}
	go visit("slow", func() { close(reads); <-finish })
	<-reads
	go visit("quick", func() {})
	want("a visitor", "quick")
	go visit("not read", func() {})
	want("another one", "quick")
	k.forget()
	close(finish)
	want("the first one", "slow")
	go visit("after the action", func() {})
	want("the next one", "after the action")
}
