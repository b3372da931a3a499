package relay_test

import (
	"errors"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/outbox"
)

func TestDeadMessages(t *testing.T) {
	both(t, func(f *fixture) {
		r := newReceiver()
		cfg := f.quick("one")
		cfg.Topics, cfg.RefusalLimits = []string{"loose"}, map[string]int{"loose": 3, "strict": jobqueue.Never}
		loose := f.append(events("loose", 5)...)
		strict := f.append(events("strict", 5)...)
		r.set(func(r *receiver) {
			r.verdicts[loose[2].ID] = jobqueue.Permanent(errors.New("no such thing"))
			r.verdicts[strict[2].ID] = jobqueue.Permanent(errors.New("nor this"))
		})
		f.relay(r.publisher(), cfg)
		cfg.Topics = []string{"strict"}
		f.relay(r.publisher(), cfg)
		r.await(f, 6)
		f.awaitOne("1", `SELECT count(*) FROM outbox_message WHERE dead IS NOT NULL AND refusals = 3 AND attempts = 3`)
		f.awaitOne("1", `SELECT count(*) FROM outbox_message WHERE topic = 'strict' AND dead IS NULL AND refusals > 5`)
		f.awaitOne("4", `SELECT count(*) FROM outbox_message WHERE topic = 'loose' AND published IS NOT NULL`)
		f.Want(2, `SELECT count(*) FROM outbox_message WHERE topic = 'strict' AND published IS NOT NULL`)
		f.Want("no such thing", `SELECT problem FROM outbox_message WHERE event_id = ?`, loose[2].ID)

		dead, err := f.db.Outbox().List(f.Context(), outbox.Filter{Status: outbox.Dead})
		if err != nil || len(dead) != 1 || dead[0].ID != loose[2].ID || dead[0].Problem != "no such thing" {
			f.Errorf("listed %+v, %v; want the dead event", dead, err)
		}
		r.set(func(r *receiver) { clear(r.verdicts) })
		r.await(f, 9)
		r.check(f, append(strict, loose[0], loose[1], loose[3], loose[4]))
		if ids, err := f.db.Outbox().ResendDead(f.Context(), "loose"); err != nil || len(ids) != 1 {
			f.Errorf("sent again %v, %v; want one", ids, err)
		}
		r.await(f, 10)
		if ids, err := f.db.Outbox().Resend(f.Context(), []string{loose[0].ID, "unknown"}); err != nil || len(ids) != 1 {
			f.Errorf("sent again %v, %v; want one", ids, err)
		}
		storetest.Eventually(f, "it comes again", func() bool { return r.repetitions() == 1 })
		f.awaitOne("10", `SELECT count(*) FROM outbox_message WHERE published IS NOT NULL`)
		if n := r.repetitions(); n != 1 {
			f.Errorf("%d events came twice, want the one that was sent again", n)
		}
	})
}

// A receiver that refuses everything, as while it is deployed, makes no event dead for hours: that is no fault of theirs.
func TestAllRefusedAlikeIsNoFaultOfAnEvent(t *testing.T) {
	both(t, func(f *fixture) {
		r := newReceiver()
		all := append(f.append(events("many", 5)...), f.append(events("alone", 1)...)...)
		old := f.append(events("old", 1)...)
		f.Exec(`UPDATE outbox_message SET refusals = 499 WHERE topic = 'old'`)
		r.set(func(r *receiver) {
			for _, e := range append(all, old...) {
				r.verdicts[e.ID] = jobqueue.Permanent(errors.New("404"))
			}
		})
		cfg := f.quick("one")
		cfg.RefusalLimits = map[string]int{"*": 3}
		f.relay(r.publisher(), cfg)
		f.awaitOne("2", `SELECT count(*) FROM outbox_message WHERE topic <> 'old' AND refusals > 5`)
		f.awaitOne("1", `SELECT count(*) FROM outbox_message WHERE topic = 'old' AND dead IS NOT NULL`)
		f.Want(1, `SELECT count(*) FROM outbox_message WHERE dead IS NOT NULL`)
		r.set(func(r *receiver) { clear(r.verdicts) })
		r.await(f, len(all))
		r.check(f, all)
	})
}

func TestLag(t *testing.T) {
	both(t, func(f *fixture) {
		all := f.append(append(events("a", 3), events("b", 2)...)...)
		f.Exec(`UPDATE outbox_message SET created = '2020-01-01 00:00:00.000000' WHERE event_id = ?`, all[1].ID)
		f.Exec(`UPDATE outbox_message SET dead = created WHERE event_id = ?`, all[0].ID)
		f.Exec(`UPDATE outbox_message SET published = '2020-01-01 00:00:00.000000' WHERE topic = 'b'`)
		lag, err := f.db.Outbox().Lag(f.Context())
		if err != nil || len(lag) != 1 || lag[0].Pending != 2 || lag[0].Dead != 1 || lag[0].Age < 24*time.Hour {
			f.Errorf("lag %+v, %v", lag, err)
		}

		f.append(events("early", 1)...) // by a clock that has been set back since
		f.Exec(`UPDATE outbox_message SET created = '2999-01-01 00:00:00.000000' WHERE topic = 'early'`)
		if lag, err := f.db.Outbox().Lag(f.Context()); err != nil || len(lag) != 2 || lag[1].Age != 0 {
			f.Errorf("lag %+v, %v", lag, err)
		}
		f.Exec(`DELETE FROM outbox_message WHERE event_id = ?`, all[2].ID)
		if ids, err := f.db.Outbox().Resend(f.Context(), []string{all[2].ID}); err != nil || len(ids) != 1 {
			f.Errorf("sent again %v, %v; want the event whose message is gone", ids, err)
		}
		f.Want(3, `SELECT count(*) FROM outbox_message WHERE topic = 'a' AND published IS NULL`)
	})
}
