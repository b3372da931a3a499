package nextrun_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/nextrun/nextrun"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
	_ "github.com/nextrun/nextrun/store/postgres"
	_ "github.com/nextrun/nextrun/store/sqlite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type note struct{ Of string }

func write(_ context.Context, job *jobqueue.JobContext, n note) error {
	job.SetResult(n.Of)
	return nil
}

// shop is a program with one schedule.
func shop(url, timer string) nextrun.Config {
	return nextrun.Config{Name: "shop", URL: url, Migrate: true, Logger: slog.New(slog.DiscardHandler),
		Schedules: periodic.Schedules{periodic.NewSchedule("note", timer, note{"a"}, write)}}
}

func start(t *testing.T, cfg nextrun.Config) *nextrun.Service {
	t.Helper()
	s, err := nextrun.Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func stop(t *testing.T, s *nextrun.Service) {
	t.Helper()
	if err := errors.Join(s.Stop(t.Context()), s.Stop(t.Context()), s.Err()); err != nil {
		t.Error(err)
	}
}

// Run makes the tables, declares, schedules and executes, until its context ends.
func TestRun(t *testing.T) {
	t.Parallel()
	storetest.Both(t, func(t *testing.T, d *storetest.Database) {
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		cfg := shop(d.URL, "every 1s")
		ran := make(chan struct{}, 1)
		cfg.Handlers = map[string]jobqueue.Handler{"other": func(context.Context, *jobqueue.JobContext) error {
			ran <- struct{}{}
			return nil
		}}
		cfg.Declare.Tasks = []periodic.Task{periodic.NewTask("once", "other", "2026-01-01 00:00:00")}
		cfg.Declare.Tasks[0].NextRun = time.Now().Add(-time.Minute)
		go func() { ended <- nextrun.Run(ctx, cfg) }()
		<-ran
		storetest.Eventually(t, "a run", func() bool {
			select {
			case err := <-ended:
				t.Fatalf("it has ended: %v", err)
			default:
			}
			return d.One("SELECT count(*) FROM job WHERE state = 'success' AND result = 'a'") != "0"
		})
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// Without a version the last program that starts wins, also when it is an older build.
func TestLastStartWins(t *testing.T) {
	t.Parallel()
	storetest.Both(t, func(t *testing.T, d *storetest.Database) {
		for _, timer := range []string{"every 5s", "every 7s", "every 5s"} {
			s := start(t, shop(d.URL, timer))
			if got := d.One("SELECT timer FROM periodic_task"); got != timer {
				t.Errorf("%s runs, %s is declared", got, timer)
			}
			stop(t, s)
		}
	})
}

// With a version, an older program is told that its schedules would not be the ones that run. It runs the newer ones
// if it says so.
func TestOlderVersion(t *testing.T) {
	t.Parallel()
	storetest.Both(t, func(t *testing.T, d *storetest.Database) {
		newer, older := shop(d.URL, "every 7s"), shop(d.URL, "every 5s")
		newer.Declare.Version, older.Declare.Version = 2, 1
		stop(t, start(t, newer))
		var told *periodic.OlderError
		if err := nextrun.Run(t.Context(), older); !errors.As(err, &told) || told.Newer != 2 {
			t.Errorf("got %v", err)
		}
		older.KeepNewer = true
		stop(t, start(t, older))
		if got := d.One("SELECT timer FROM periodic_task"); got != "every 7s" {
			t.Errorf("the timer is %s", got)
		}
	})
}

// A program's own database stays open, and without handlers there is no executor. Only who migrates makes the tables.
func TestOwnDatabase(t *testing.T) {
	t.Parallel()
	storetest.Both(t, func(t *testing.T, d *storetest.Database) {
		db, err := store.Open(t.Context(), d.URL, store.Options{Create: true})
		if err != nil {
			t.Fatal(err)
		}
		cfg := nextrun.Config{Name: "shop", DB: db, Logger: slog.New(slog.DiscardHandler),
			Declare: periodic.Apply{Tasks: []periodic.Task{periodic.NewTask("a", "elsewhere", "every 1s")}}}
		if _, err := nextrun.Start(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "migrate up") {
			t.Errorf("without tables: %v", err)
		}
		cfg.Migrate = true
		s := start(t, cfg)
		storetest.Eventually(t, "a job", func() bool { return d.One("SELECT count(*) FROM job WHERE task = 'elsewhere'") != "0" })
		d.Want("scheduler", "SELECT min(kind) || CASE WHEN count(DISTINCT kind) > 1 THEN ' and others' ELSE '' END FROM worker")
		stop(t, s)
		if err := errors.Join(s.DB().Ping(t.Context()), db.Close()); err != nil {
			t.Errorf("after Stop: %v", err)
		}
	})
}

func TestConfigThatIsWrong(t *testing.T) {
	t.Parallel()
	twice, none := shop("sqlite:"+t.TempDir()+"/z", "every 5s"), shop("sqlite:"+t.TempDir()+"/n", "every 5s")
	twice.Schedules = append(twice.Schedules, twice.Schedules...)
	none.Migrate = false
	empty, err := store.Open(t.Context(), none.URL, store.Options{Create: true})
	if err = errors.Join(err, empty.Close()); err != nil {
		t.Fatal(err)
	}
	for want, cfg := range map[string]nextrun.Config{
		"two of the Schedules and Handlers are named": twice,
		"or set nextrun.Config.Migrate":               none,
		"Name is empty":                               {URL: "sqlite:x"},
		"URL is empty and DB is nil":                  {Name: "a"},
		"both URL and DB are set":                     {Name: "a", URL: "sqlite:x", DB: empty},
		`Name is "a@b"`:                               {Name: "a@b", URL: "sqlite:x"},
		`did you mean "every"`:                        shop("sqlite:"+t.TempDir()+"/y", "evry 5s"),
	} {
		if _, err := nextrun.Start(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
