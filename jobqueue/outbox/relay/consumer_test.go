package relay_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/outboxdb"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/jobqueue/outbox/relay"
	"github.com/nextrun/nextrun/store"
)

// consumer starts a member of a group that is stopped with the test.
func (f *fixture) consumer(group string, handle relay.Handler, cfg relay.Config) {
	f.Helper()
	c, err := relay.NewConsumer(f.db.EventLog(group), handle, cfg)
	if err != nil {
		f.Fatal(err)
	}
	f.start(c)
}

func TestGroupsReadTheTableEachByItself(t *testing.T) {
	both(t, func(f *fixture) {
		first, second := newReceiver(), newReceiver()
		first.set(func(r *receiver) { r.failing, r.lying = 0.2, 0.5 })
		f.consumer("first", first.receive, f.quick("one"))
		f.consumer("first", first.receive, f.quick("two"))
		want := f.append(append(events("a", 40), events("b", 40)...)...)
		first.await(f, len(want))
		f.consumer("second", second.receive, f.quick("one")) // begins with the oldest
		second.await(f, len(want))
		want = append(want, f.append(events("a", 7)...)...)
		first.await(f, len(want))
		second.await(f, len(want))
		first.check(f, want)
		second.check(f, want)
		if n := second.repetitions(); n > 0 {
			f.Errorf("%d events came twice though nothing failed", n)
		}
		f.awaitOne("4", `SELECT count(*) FROM event_offset AS o JOIN event_topic AS t ON t.topic = o.topic WHERE o.position = t.position`)
		offsets, err := f.db.EventLog("first").Offsets(f.Context())
		if err != nil || len(offsets) != 2 || offsets[0].Position != 47 || offsets[0].End != 47 {
			f.Errorf("offsets %+v, %v", offsets, err)
		}
		f.want(len(want), `SELECT count(*) FROM outbox_message WHERE published IS NULL`) // that is the relays' business
	})
}

// Concurrent writers, whose transactions commit in any order: a reader that
// keeps its offset reads each event once, aggregates by version.
func TestReadersMissNothingWhileWritersCommitInAnyOrder(t *testing.T) {
	both(t, func(f *fixture) {
		const writers, rounds = 5, 20
		ctx, stop := context.WithCancel(f.Context())
		defer stop()
		versions := map[string]int64{}
		var positions []int64
		followed := make(chan error, 1)
		go func() {
			follower := outbox.Follower{Log: f.db.EventLog(""), Topics: []string{"t"}}
			followed <- follower.Follow(ctx, func(e outbox.Event) error {
				if e.AggregateVersion != versions[e.AggregateID]+1 {
					return fmt.Errorf("version %d of %s came after %d", e.AggregateVersion, e.AggregateID, versions[e.AggregateID])
				}
				versions[e.AggregateID]++
				if positions = append(positions, e.Position); len(positions) == writers*rounds {
					stop()
				}
				return nil
			})
		}()
		var group sync.WaitGroup
		for w := range writers {
			group.Go(func() {
				for i := range rounds {
					own := outbox.Event{Topic: "t", Type: "x", AggregateID: fmt.Sprintf("a%d", (w+i)%7)}
					if err := f.db.Update(f.Context(), func(tx *store.Tx) error {
						_, err := outbox.AppendTx(f.Context(), tx, own)
						return err
					}); err != nil {
						f.Error(err)
					}
				}
			})
		}
		group.Wait()
		if err := <-followed; err != nil {
			f.Fatal(err)
		}
		want := make([]int64, writers*rounds)
		for i := range want {
			want[i] = int64(i) + 1
		}
		if !slices.Equal(positions, want) {
			f.Errorf("positions %v, want 1 to %d", positions, len(want))
		}
	})
}

func TestSeekAndRemovedEvents(t *testing.T) {
	both(t, func(f *fixture) {
		all := f.append(events("t", 5)...)
		log := f.db.EventLog("g")
		if end, err := log.End(f.Context(), "t"); err != nil || end != 5 {
			f.Fatalf("the end is %d, %v", end, err)
		}
		if err := log.Seek(f.Context(), "t", 3); err != nil {
			f.Fatal(err)
		}
		f.exec(`DELETE FROM outbox_message`)
		f.exec(`DELETE FROM event_store WHERE position IN (4, 5)`)
		r := newReceiver()
		f.consumer("g", r.receive, f.quick("one"))
		f.awaitOne("5", `SELECT max(position) FROM event_offset WHERE topic = 't'`) // there is nothing to wait for at 4 and 5
		more := f.append(events("t", 1)...)
		r.await(f, 1)
		r.check(f, more)
		if err := log.Seek(f.Context(), "t", 0); err != nil {
			f.Fatal(err)
		}
		storetest.Eventually(f, "all events come again", func() bool {
			r.mu.Lock()
			defer r.mu.Unlock()
			return len(r.got) == 5
		})
		r.set(func(r *receiver) { r.got = r.got[1:] })
		r.check(f, append(slices.Clone(all[:3]), more...))
	})
}

// An event that is removed while it gets its position does not stop its topic.
func TestEventRemovedWhileItIsPlaced(t *testing.T) {
	t.Parallel()
	f := newPostgres(t) // SQLite has one writer at a time
	all := f.append(events("t", 5)...)
	f.exec(`DELETE FROM outbox_message`)
	removal, err := f.SQL.BeginTx(f.Context(), nil)
	if err != nil {
		f.Fatal(err)
	}
	defer removal.Rollback()
	if _, err := removal.Exec(`DELETE FROM event_store WHERE id = $1`, all[0].ID); err != nil {
		f.Fatal(err)
	}
	r := newReceiver()
	f.consumer("g", r.receive, f.quick("one"))
	f.awaitOne("1", `SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`)
	if err := removal.Commit(); err != nil {
		f.Fatal(err)
	}
	r.await(f, 4)
	want := slices.Concat(all[1:], f.append(events("t", 2)...))
	r.await(f, len(want))
	r.check(f, want)
}

func TestHandlerThatFailsIsToldInTheOffset(t *testing.T) {
	both(t, func(f *fixture) {
		want := f.append(events("t", 3)...)
		r := newReceiver()
		r.set(func(r *receiver) { r.verdicts[want[1].ID] = outbox.Refuse(errors.New("cannot read it")) })
		f.consumer("g", func(ctx context.Context, e outbox.Event) error {
			if err := r.receive(ctx, e); err != nil {
				panic(err) // a panic is an error too
			}
			return nil
		}, f.quick("one"))
		f.awaitOne("1", `SELECT count(*) FROM event_offset WHERE attempts > 6 AND position = 1`)
		f.want("panic: cannot read it", `SELECT problem FROM event_offset WHERE topic = 't'`)
		r.set(func(r *receiver) { clear(r.verdicts) })
		r.await(f, 3)
		r.check(f, want)
		f.awaitOne("1", `SELECT count(*) FROM event_offset WHERE position = 3 AND attempts = 0 AND problem IS NULL`)
	})
}

// An idle relay or consumer writes nothing, and takes no lease.
func TestIdleIsQuiet(t *testing.T) {
	both(t, func(f *fixture) {
		r := newReceiver()
		f.append(events("t", 2)...)
		f.relay(r.publisher(), f.quick("one"))
		r.await(f, 2)
		f.awaitOne("0", `SELECT count(*) FROM outbox_message WHERE published IS NULL`)
		f.awaitOne("1", `SELECT count(*) FROM outbox_topic WHERE expires < '`+time.Now().UTC().Add(500*time.Millisecond).Format("2006-01-02 15:04:05.000000")+`'`)
		claim := outboxdb.Claim{Terms: outboxdb.Terms{Lease: time.Minute, Limit: 1, Bytes: 1}, Holder: "x", Count: 1}
		before := f.one(`SELECT token FROM outbox_topic`)
		for range 3 {
			if c, err := f.db.Outbox().Claim(f.Context(), claim); err != nil || len(c.Batches) > 0 || c.Next >= 0 {
				f.Errorf("claimed %+v, %v", c, err)
			}
		}
		f.want(before, `SELECT token FROM outbox_topic`)
	})
}

// Relays and consumers learn of events by notification, without a poll.
func TestEventsAreNoticedAtOnce(t *testing.T) {
	both(t, func(f *fixture) {
		relayed, consumed := newReceiver(), newReceiver()
		cfg := f.quick("one")
		cfg.PollInterval = time.Hour
		f.relay(relayed.publisher(), cfg)
		f.consumer("g", consumed.receive, cfg)
		for n := range 3 {
			f.append(events("t", 1)...)
			relayed.await(f, n+1)
			consumed.await(f, n+1)
		}
		f.awaitOne("0", `SELECT count(*) FROM outbox_message WHERE published IS NULL`)
		if _, err := f.db.Outbox().Resend(f.Context(), []string{relayed.got[0].ID}); err != nil {
			f.Fatal(err)
		}
		f.awaitOne("0", `SELECT count(*) FROM outbox_message WHERE published IS NULL`)
	})
}
