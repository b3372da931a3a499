package service

import (
	"strings"
	"testing"
	"time"

	"github.com/sirupsen/logrus/hooks/test"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/migrations"
	"github.com/nextrun/nextrun/ops/config"
	"github.com/nextrun/nextrun/store"
)

// On Docspell's database the scheduler deletes old ticks, as long as no housekeeping
// task of nextrun does. Elsewhere it does not.
func TestPruningOfTicks(t *testing.T) {
	t.Parallel()
	storetest.Both(t, func(t *testing.T, d *storetest.Database) {
		db, err := store.Open(t.Context(), d.URL, store.Options{Create: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		if _, err := migrations.Of(db).Up(t.Context()); err != nil {
			t.Fatal(err)
		}
		log, hook := test.NewNullLogger()
		s := &services{db: db, log: log, config: &config.Config{}}
		for name, prepare := range map[string]func(){
			"with the housekeeping task": func() {},
			"with nobody, on purpose":    func() { d.Exec("DELETE FROM periodic_task") },
		} {
			prepare()
			if p := s.pruning(t.Context()); p != nil {
				t.Errorf("%s: %v, want no pruning", name, p)
			}
		}
		d.Exec("CREATE TABLE node (id varchar(254), type varchar(254), url varchar(254))")
		d.Exec("DELETE FROM periodic_task")
		p := s.pruning(t.Context())
		if p == nil || p.age != 720*time.Hour || p.first < firstPruning || p.next != 24*time.Hour {
			t.Fatalf("on Docspell's database: %+v", p)
		}
		s.config.TickRetention = config.KeepTicks
		if p := s.pruning(t.Context()); p != nil {
			t.Errorf("switched off: %v", p)
		}

		d.Exec(`INSERT INTO periodic_tick (task_id, due, decision, decided, jid) VALUES
			('a', '2026-01-01 00:00:00.000000', 'submitted', '2026-01-01 00:00:00.000000', 'j1'), ('a', '2026-01-02 00:00:00.000000', 'skipped', '2026-01-02 00:00:00.000000', NULL),
			('a', '2099-01-01 00:00:00.000000', 'late', '2099-01-01 00:00:00.000000', NULL)`)
		p = newPruning(db, log, time.Hour, 0, time.Hour)
		if err := p.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		storetest.Eventually(t, "old ticks are deleted", func() bool { return len(hook.AllEntries()) > 0 })
		if err := p.Stop(t.Context()); err != nil {
			t.Error(err)
		}
		if got := hook.LastEntry(); !strings.Contains(got.Message, "old ticks deleted") || got.Data["deleted"] != 2 {
			t.Errorf("the log says %q %v", got.Message, got.Data)
		}
		d.Want(1, "SELECT count(*) FROM periodic_tick")
		d.Want(1, "SELECT count(*) FROM periodic_tick WHERE due > '2098-01-01'")
	})
}
