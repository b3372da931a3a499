package outbox_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/jobqueue/outbox/webhook"
	"github.com/nextrun/nextrun/store"
)

func TestRelayPublishesInOrder(t *testing.T) {
	both(t, func(f *fixture) {
		r := newReceiver()
		f.relay(r.publisher(), f.quick("one"))
		want := f.append(append(events("a", 37), events("b", 12)...)...)
		r.await(f, len(want))
		want = append(want, f.append(events("a", 3)...)...)
		r.await(f, len(want))
		r.check(f, want)
		if n := r.repetitions(); n > 0 {
			f.Errorf("%d events came twice though nothing failed", n)
		}
	})
}

// The receiver of this test fails at random, sometimes after it has taken the
// event, is down for a while, and one relay is killed between publishing and
// recording.
func TestNoEventIsLost(t *testing.T) {
	both(t, func(f *fixture) {
		r := newReceiver()
		server := httptest.NewServer(r.handler(f))
		f.Cleanup(server.Close)
		want := f.append(append(events("a", 60), events("b", 60)...)...)

		f.killBetweenPublishingAndRecording(server.URL)
		f.want(0, `SELECT count(*) FROM outbox_message WHERE published IS NOT NULL`)
		r.set(func(r *receiver) { r.failing, r.lying = 0.2, 0.5 })
		for _, name := range []string{"one", "two"} {
			hook, err := webhook.New(webhook.Config{URL: server.URL, Mode: webhook.Binary})
			if err != nil {
				f.Fatal(err)
			}
			f.Cleanup(hook.Close)
			f.relay(hook, f.quick(name))
		}
		r.await(f, len(want)/2)
		r.set(func(r *receiver) { r.down = true })
		want = append(want, f.append(events("a", 20)...)...)
		f.awaitOne("1", `SELECT CASE WHEN max(attempts) >= 4 THEN 1 ELSE 0 END FROM outbox_message WHERE published IS NULL`)
		r.set(func(r *receiver) { r.down = false })
		r.await(f, len(want))
		f.awaitOne("0", `SELECT count(*) FROM outbox_message WHERE published IS NULL`)
		r.check(f, want)
		if r.repetitions() == 0 {
			f.Error("no event came twice: the killed relay's batch was not published again")
		}
	})
}

// killBetweenPublishingAndRecording runs a relay in a process of its own, and
// kills it when it has published a batch that it has not recorded.
func (f *fixture) killBetweenPublishingAndRecording(receiverURL string) {
	f.Helper()
	self, err := os.Executable()
	if err != nil {
		f.Fatal(err)
	}
	process := exec.Command(self)
	process.Env = append(os.Environ(), victimVariable+"="+f.url, receiverVariable+"="+receiverURL)
	process.Stderr = os.Stderr
	out, err := process.StdoutPipe()
	if err != nil {
		f.Fatal(err)
	}
	if err := process.Start(); err != nil {
		f.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	_ = process.Process.Kill() // SIGKILL
	_ = process.Wait()
	if err != nil || !strings.HasPrefix(line, "published 10 <nil>") {
		f.Fatalf("the relay to kill said %q, %v", line, err)
	}
}

// awaitOne waits until a query returns a value.
func (f *fixture) awaitOne(want, query string) {
	f.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	timeout := time.After(time.Minute)
	for f.one(query) != want {
		select {
		case <-tick.C:
		case <-timeout:
			f.Fatalf("%s is %s, waited for %s", query, f.one(query), want)
		}
	}
}

// handler is the receiver as an HTTP server.
func (r *receiver) handler(t testing.TB) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		e, err := readCloudEvent(request)
		if err != nil {
			t.Errorf("the receiver was sent what is no CloudEvent: %v", err)
		}
		switch err := r.receive(request.Context(), e); {
		case outbox.IsRefusal(err):
			w.WriteHeader(http.StatusUnprocessableEntity)
		case err != nil && rand.IntN(2) == 0:
			panic(http.ErrAbortHandler) // the connection breaks
		case err != nil:
			w.WriteHeader(http.StatusBadGateway)
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	})
}

// Ids commit out of order: an event of a transaction that began earlier and
// commits later is published too, and so is what came between.
func TestLateCommitIsNotPassedOver(t *testing.T) {
	t.Parallel()
	f := newPostgres(t)
	r := newReceiver()
	f.relay(r.publisher(), f.quick("one"))
	log := f.db.EventLog("group")
	var late []outbox.Event
	err := f.db.Update(f.Context(), func(tx *store.Tx) error {
		var err error
		if late, err = outbox.AppendTx(f.Context(), tx, outbox.Event{Topic: "t", Type: "x", AggregateID: "late"}); err != nil {
			return err
		}
		early := f.append(outbox.Event{Topic: "t", Type: "x", AggregateID: "early"})
		r.await(f, 1)
		got, err := log.Read(f.Context(), "t", 0, 10)
		if err != nil || len(got) != 1 || got[0].ID != early[0].ID || got[0].Position != 1 {
			f.Errorf("read %+v, %v; want the early event at position 1", got, err)
		}
		return nil
	})
	if err != nil {
		f.Fatal(err)
	}
	r.await(f, 2)
	got, err := log.Read(f.Context(), "t", 1, 10)
	if err != nil || len(got) != 1 || got[0].ID != late[0].ID || got[0].Position != 2 {
		f.Errorf("read %+v, %v; want the late event at position 2", got, err)
	}
}

func TestDeadMessages(t *testing.T) {
	both(t, func(f *fixture) {
		r := newReceiver()
		cfg := f.quick("one")
		cfg.RefusalLimit = 3
		if err := f.db.Outbox().SetStrict(f.Context(), "strict", true); err != nil {
			f.Fatal(err)
		}
		loose := f.append(events("loose", 5)...)
		strict := f.append(events("strict", 5)...)
		r.set(func(r *receiver) {
			r.verdicts[loose[2].ID] = outbox.Refuse(errors.New("no such thing"))
			r.verdicts[strict[2].ID] = outbox.Refuse(errors.New("nor this"))
		})
		f.relay(r.publisher(), cfg)
		r.await(f, 6)
		f.awaitOne("2", `SELECT count(*) FROM outbox_message WHERE dead IS NOT NULL AND refusals = 3 AND attempts = 3`)
		f.awaitOne("4", `SELECT count(*) FROM outbox_message WHERE topic = 'loose' AND published IS NOT NULL`)
		f.want(2, `SELECT count(*) FROM outbox_message WHERE topic = 'strict' AND published IS NOT NULL`)
		f.want("no such thing", `SELECT problem FROM outbox_message WHERE event_id = ?`, loose[2].ID)

		dead, err := f.db.Outbox().List(f.Context(), outbox.Filter{Status: outbox.Dead})
		if err != nil || len(dead) != 2 || dead[0].ID != strict[2].ID || dead[0].Problem != "nor this" {
			f.Errorf("listed %+v, %v; want both dead events, the newest first", dead, err)
		}
		r.set(func(r *receiver) { clear(r.verdicts) })
		if ids, err := f.db.Outbox().ResendDead(f.Context(), "strict"); err != nil || len(ids) != 1 {
			f.Errorf("sent again %v, %v; want one", ids, err)
		}
		r.await(f, 9)
		r.check(f, append(strict, loose[0], loose[1], loose[3], loose[4]))
		if ids, err := f.db.Outbox().Resend(f.Context(), []string{loose[2].ID, loose[0].ID, "unknown"}); err != nil || len(ids) != 2 {
			f.Errorf("sent again %v, %v; want two", ids, err)
		}
		r.await(f, 10)
		f.awaitOne("10", `SELECT count(*) FROM outbox_message WHERE published IS NOT NULL`)
		if n := r.repetitions(); n != 1 {
			f.Errorf("%d events came twice, want the one that was sent again", n)
		}
	})
}

// A relay that was stopped past its lease cannot record what it did.
func TestLostLeaseCannotRecord(t *testing.T) {
	both(t, func(f *fixture) {
		f.append(events("t", 3)...)
		claim := outbox.Claim{Terms: outbox.Terms{Lease: time.Minute, Limit: 1, Bytes: 1}, Holder: "old", Count: 1}
		old, err := f.db.Outbox().Claim(f.Context(), claim)
		if err != nil || len(old.Batches) != 1 {
			f.Fatalf("claimed %+v, %v", old, err)
		}
		claim.Holder = "new"
		if c, err := f.db.Outbox().Claim(f.Context(), claim); err != nil || len(c.Batches) != 0 || c.Next <= 0 {
			f.Errorf("claimed a held topic: %+v, %v", c, err)
		}
		f.exec(`UPDATE outbox_topic SET expires = '2000-01-01 00:00:00.000000'`)
		if c, err := f.db.Outbox().Claim(f.Context(), claim); err != nil || len(c.Batches) != 1 {
			f.Fatalf("claimed %+v, %v; want the topic whose lease ended", c, err)
		}
		_, err = f.db.Outbox().Settle(f.Context(), outbox.Settlement{Lease: old.Batches[0].Lease, Accepted: old.Batches[0].Items})
		if !errors.Is(err, outbox.ErrLeaseLost) {
			f.Errorf("settled under a lost lease: %v", err)
		}
		f.want(0, `SELECT count(*) FROM outbox_message WHERE published IS NOT NULL`)
	})
}

func TestStopGivesTheTopicBack(t *testing.T) {
	both(t, func(f *fixture) {
		f.append(events("t", 25)...)
		publishing, proceed := make(chan struct{}, 9), make(chan struct{})
		slow := outbox.PublisherFunc(func(_ context.Context, events []outbox.Event) (int, error) {
			publishing <- struct{}{}
			<-proceed
			return len(events), nil
		})
		cfg := f.quick("one")
		cfg.Lease = time.Hour
		relay, err := outbox.New(f.db.Outbox(), slow, cfg)
		if err != nil {
			f.Fatal(err)
		}
		if err := relay.Start(f.Context()); err != nil {
			f.Fatal(err)
		}
		if err := relay.Start(f.Context()); !errors.Is(err, outbox.ErrStarted) {
			f.Errorf("started twice: %v", err)
		}
		<-publishing
		stopped := make(chan error)
		go func() { stopped <- relay.Stop(context.Background()) }()
		close(proceed)
		if err := <-stopped; err != nil {
			f.Error(err)
		}
		if err := relay.Stop(context.Background()); err != nil {
			f.Errorf("stopped twice: %v", err)
		}
		if n := f.one(`SELECT count(*) FROM outbox_message WHERE published IS NOT NULL`); n == "0" || n == "25" {
			f.Errorf("%s messages recorded; want those of the batch in hand", n)
		}
		r := newReceiver()
		f.relay(r.publisher(), cfg)
		f.awaitOne("0", `SELECT count(*) FROM outbox_message WHERE published IS NULL`)
	})
}

func TestLagAndPrune(t *testing.T) {
	both(t, func(f *fixture) {
		all := f.append(append(events("a", 3), events("b", 2)...)...)
		f.exec(`UPDATE outbox_message SET created = '2020-01-01 00:00:00.000000' WHERE event_id = ?`, all[1].ID)
		f.exec(`UPDATE outbox_message SET dead = created WHERE event_id = ?`, all[0].ID)
		f.exec(`UPDATE outbox_message SET published = '2020-01-01 00:00:00.000000' WHERE topic = 'b'`)
		f.exec(`UPDATE event_store SET created = '2020-01-01 00:00:00.000000' WHERE topic = 'b'`)
		f.want("a 2 1", `SELECT topic || ' ' || pending || ' ' || dead FROM outbox_lag`)
		f.want(1, `SELECT count(*) FROM outbox_lag WHERE age BETWEEN 100000000 AND 10000000000 AND oldest < '2020-01-02'`)
		lag, err := f.db.Outbox().Lag(f.Context())
		if err != nil || len(lag) != 1 || lag[0].Pending != 2 || lag[0].Dead != 1 || lag[0].Age < 24*time.Hour {
			f.Errorf("lag %+v, %v", lag, err)
		}

		if err := f.db.EventLog("slow").Seek(f.Context(), "b", 1); err != nil {
			f.Fatal(err)
		}
		if _, err := f.db.EventLog("").End(f.Context(), "b"); err != nil { // gives positions
			f.Fatal(err)
		}
		pruned, err := f.db.Outbox().Prune(f.Context(), time.Hour, time.Hour, 100)
		if err != nil || pruned != (outbox.Pruned{Messages: 2, Events: 1}) {
			f.Errorf("pruned %+v, %v; want both messages, and the event that the group has read", pruned, err)
		}
		f.want(3, `SELECT count(*) FROM outbox_message WHERE topic = 'a'`)
		if ids, err := f.db.Outbox().Resend(f.Context(), []string{all[4].ID}); err != nil || len(ids) != 1 {
			f.Errorf("sent again %v, %v; want the event whose message is gone", ids, err)
		}
		f.want(1, `SELECT count(*) FROM outbox_message WHERE topic = 'b' AND published IS NULL`)
	})
}

func newPostgres(t *testing.T) *fixture {
	t.Helper()
	return newFixture(t, "postgres", postgresURL(t))
}

func TestConfigNamesTheField(t *testing.T) {
	t.Parallel()
	for field, cfg := range map[string]outbox.Config{
		"Name": {Name: "a/b"}, "Lease": {Name: "a", Lease: 1}, "BatchSize": {Name: "a", BatchSize: -1},
		"RetryMax": {Name: "a", RetryMin: time.Hour, RetryMax: time.Minute}, "Concurrency": {Name: "a", Concurrency: 2000},
		"Retention": {Name: "a", Retention: -5},
	} {
		if _, err := outbox.New(nil, nil, cfg); err == nil || !strings.Contains(err.Error(), "Config."+field) {
			t.Errorf("%s: %v", field, err)
		}
	}
	if _, err := outbox.New(nil, nil, outbox.Config{Name: "a", RetryMin: 2 * time.Minute}); err != nil {
		t.Error(fmt.Errorf("a RetryMin above the default of RetryMax: %w", err))
	}
}
