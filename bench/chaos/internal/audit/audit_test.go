package audit

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	_ "github.com/mattn/go-sqlite3" // the driver sqlite3

	"github.com/nextrun/nextrun/bench/chaos/internal/database"
	"github.com/nextrun/nextrun/bench/chaos/internal/world"
)

var t0 = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func at(seconds float64) time.Time { return t0.Add(time.Duration(seconds * float64(time.Second))) }

// good is a minute of a task that is due every ten seconds, in which all went well: two ticks were missed together, one was
// skipped, one was set by hand.
func good() *Facts {
	s := &story{id: "fixed-1", jobs: map[string]*job{}, policy: &policy{overlap: "skip", catchup: "one", sink: "job", handler: "call", grace: time.Minute}}
	f := &Facts{stories: map[string]*story{s.id: s}, ledger: world.NewLedger()}
	plan := func(from, past float64) {
		s.changes = append(s.changes, change{at: at(from - 0.5), due: at(from), timer: "*:*:0/10", enabled: true},
			change{at: at(past - 1), was: at(past), nextrun: unplanned, timer: "*:*:0/10", enabled: true})
	}
	s.changes = append(s.changes, change{at: at(-5), nextrun: unplanned, timer: "*:*:0/10", enabled: true})
	plan(0, 70)
	s.changes[2].at, s.changes[2].nextrun = at(65), at(65)
	plan(70, 80)
	ran := func(due, begin, end float64) {
		jid := fmt.Sprint("job-", due)
		s.ticks = append(s.ticks, tick{due: at(due), decided: at(begin), decision: "submitted", jid: jid})
		s.jobs[jid] = &job{jid: jid, task: s.id, state: "success", due: at(due), submitted: at(begin), finished: at(end), single: true, found: 1}
		f.runs = append(f.runs, world.Run{Job: jid, Task: s.id, Due: at(due).Format(time.RFC3339Nano), Begin: at(begin), End: at(end), Succeeded: true})
	}
	ran(0, 0, 1)
	s.ticks = append(s.ticks, tick{due: at(10), until: at(20), decided: at(31), decision: "missed", missed: 2})
	ran(30, 31, 45)
	s.ticks = append(s.ticks, tick{due: at(40), decided: at(40), decision: "skipped", cause: "overlap"})
	ran(50, 50, 51)
	ran(60, 60, 61)
	ran(65, 65, 66)
	ran(70, 70, 71)
	return f
}

func TestAuditFindsNothingWhereAllIsWell(t *testing.T) {
	found := NewFindings()
	good().Audit(found)
	if len(found.List) > 0 || found.Counts.Ticks != 8 || found.Counts.Decisions["missed"] != 2 {
		t.Errorf("%+v", found)
	}
}

// Each of these breaks one promise, and the audit has to say so.
func TestAuditFindsWhatIsBroken(t *testing.T) {
	for rule, breaks := range map[string]func(f *Facts, s *story){
		"a tick is not accounted for": func(_ *Facts, s *story) { s.ticks = slices.Delete(s.ticks, 4, 5) },
		"a tick is recorded twice": func(_ *Facts, s *story) {
			s.ticks = append(s.ticks, tick{due: at(20), decided: at(20), decision: "late"})
		},
		"a tick that no timer has":    func(_ *Facts, s *story) { s.ticks = append(s.ticks, tick{due: at(33), decision: "missed"}) },
		"missed ticks are miscounted": func(_ *Facts, s *story) { s.ticks[1].missed = 3 },
		"a submitted tick has no job": func(_ *Facts, s *story) { delete(s.jobs, "job-50") },
		"a job is for another tick":   func(_ *Facts, s *story) { s.jobs["job-50"].due = at(60) },
		"two ticks have one job":      func(_ *Facts, s *story) { s.ticks[4].jid = "job-60"; s.jobs["job-60"].due = time.Time{} },
		"a job without a tick": func(_ *Facts, s *story) {
			s.add(job{jid: "x", state: "success", due: at(50), submitted: at(52), finished: at(53)})
		},
		"a job exists twice":                      func(_ *Facts, s *story) { s.add(job{jid: "job-50"}) },
		"a job did not end":                       func(_ *Facts, s *story) { s.jobs["job-50"].state = "running" },
		"a job succeeded that did not run":        func(f *Facts, _ *story) { f.runs[2].Succeeded = false },
		"what ran is no job":                      func(f *Facts, s *story) { f.runs = append(f.runs, world.Run{Job: "x", Task: s.id}) },
		"what ran is another tick":                func(f *Facts, _ *story) { f.runs[0].Due = at(10).Format(time.RFC3339) },
		"jobs of a task overlap":                  func(_ *Facts, s *story) { s.jobs["job-50"].finished = at(70) },
		"runs of a task overlap":                  func(f *Facts, _ *story) { f.runs[2].End = at(62) },
		"a plan does not follow from the timer":   func(_ *Facts, s *story) { s.changes[1].due = at(10) },
		"a decision against the policy":           func(_ *Facts, s *story) { s.policy.catchup = "all" },
		"a tick that was not submitted has a job": func(_ *Facts, s *story) { s.ticks[3].jid = "job-50" },
		"events did not arrive":                   func(_ *Facts, s *story) { s.add(job{jid: "e1", state: "event"}) },
		"events are out of order": func(f *Facts, s *story) {
			f.ledger.Arrived(s.id, 2)
			f.ledger.Arrived(s.id, 1)
		},
	} {
		t.Run(rule, func(t *testing.T) {
			f := good()
			breaks(f, f.stories["fixed-1"])
			found := NewFindings()
			f.Audit(found)
			if !slices.ContainsFunc(found.List, func(f Finding) bool { return f.Rule == rule }) {
				t.Errorf("it is not in %+v", found.List)
			}
		})
	}
}

func TestAuditKnowsThePolicies(t *testing.T) {
	for name, breaks := range map[string]func(s *story){
		"submitted after its deadline":     func(s *story) { s.policy.deadline = time.Second; s.ticks[0].decided = at(9) },
		"late without a deadline":          func(s *story) { s.ticks[3].decision = "late" },
		"skipped though it may overlap":    func(s *story) { s.policy.overlap = "allow" },
		"skipped though nothing was there": func(s *story) { s.ticks[3].decided = at(120) },
		"missed though it was the newest":  func(s *story) { s.ticks[1].decided = at(21) },
	} {
		t.Run(name, func(t *testing.T) {
			f := good()
			breaks(f.stories["fixed-1"])
			found := NewFindings()
			f.Audit(found)
			if !slices.ContainsFunc(found.List, func(f Finding) bool { return f.Rule == "a decision against the policy" }) {
				t.Errorf("it is not in %+v", found.List)
			}
		})
	}
}

// The log that triggers of the database keep has the end of each plan and the next one.
func TestSQLiteNotesPlans(t *testing.T) {
	got := noted(t, "", "INSERT INTO periodic_task VALUES ('edited-1', NULL, '1970-01-01 00:00:00', '*:*:*', true)",
		"UPDATE periodic_task SET due = '2026-03-01 12:00:00', nextrun = '2026-03-01 12:00:00'",
		"UPDATE periodic_task SET due = '2026-03-01 12:00:09', nextrun = '2026-03-01 12:00:09'", // it advances: not a change
		"UPDATE periodic_task SET due = NULL, nextrun = '2026-03-01 12:00:05'", "DELETE FROM periodic_task")
	if len(got) != 4 || !got[1].due.Equal(t0) || !got[2].was.Equal(at(9)) || !got[2].nextrun.Equal(at(5)) || got[3].enabled {
		t.Errorf("%+v", got)
	}
}

// An edit ends the plan, also if the plan's tick has been due for long: what was planned before is no plan of the edited task.
func TestSQLiteNotesEditsOnce(t *testing.T) {
	edited := `CREATE TRIGGER edited AFTER UPDATE OF timer, enabled ON periodic_task WHEN NEW.timer <> OLD.timer OR NEW.enabled AND NOT OLD.enabled BEGIN
		UPDATE periodic_task SET due = NULL, nextrun = '1970-01-01 00:00:00' WHERE id = NEW.id; END`
	plan := "UPDATE periodic_task SET due = '2026-03-01 12:00:10', nextrun = '2026-03-01 12:00:10'"
	got := noted(t, edited, "INSERT INTO periodic_task VALUES ('edited-1', NULL, '1970-01-01 00:00:00', '*:*:0/5', true)", plan,
		"UPDATE periodic_task SET enabled = false", "UPDATE periodic_task SET enabled = true", // 1 and 1
		plan, "UPDATE periodic_task SET timer = '*:*:*'") // 1 and 1
	if len(got) != 6 || got[2].enabled || !got[3].enabled || !got[3].due.IsZero() || !got[5].due.IsZero() || got[5].timer != "*:*:*" {
		t.Errorf("%+v", got)
	}
}

// noted are the changes of the task edited-1 that the triggers write down while the statements run, beside another trigger.
func noted(t *testing.T, trigger string, statements ...string) []change {
	t.Helper()
	db, err := sql.Open("sqlite3", filepath.Join(t.TempDir(), "x.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	schema := append([]string{"CREATE TABLE periodic_task (id text, due timestamp, nextrun timestamp, timer text, enabled boolean)", trigger},
		database.SQLite.Tables...)
	if err := database.Exec(t.Context(), db, append(schema, statements...)...); err != nil {
		t.Fatal(err)
	}
	f := &Facts{stories: map[string]*story{}}
	if err := f.readChanges(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	return f.stories["edited-1"].changes
}
