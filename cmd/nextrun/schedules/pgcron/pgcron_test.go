package pgcron

import (
	"strings"
	"testing"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/cmd/nextrun/schedules"
)

func parse(text string) []schedules.Item {
	r := &reader{path: "jobs"}
	r.file(text)
	return r.items
}

func TestTimer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ schedule, zone, want string }{
		{"0 3 * * *", "", "0 3 * * *"},
		{" 0\t3 * * * ", "GMT", "0 3 * * *"},
		{"0 3 * * *", "Europe/Berlin", "CRON_TZ=Europe/Berlin 0 3 * * *"},
		{"0 22 $ * *", "Europe/Berlin", "CRON_TZ=Europe/Berlin 0 22 L * *"},
		{"30 seconds", "Europe/Berlin", "every 30s"},
		{"1 Second", "", "every 1s"},
		{"@yearly", "", "0 0 1 1 *"},
		{"@hourly", "", "0 * * * *"},
		{"60 seconds", "", ""},
		{"0 seconds", "", ""},
		{"@reboot", "", ""},
		{"0 22 $ 13 *", "", ""},
		{"$ 22 * * *", "", ""},
		{"0 3 L * *", "", ""},
		{"", "", ""},
	} {
		timer, err := Timer(c.schedule, c.zone)
		if (err != nil) != (c.want == "") || err == nil && timer != c.want {
			t.Errorf("Timer(%q, %q) = %q, %v, want %q", c.schedule, c.zone, timer, err, c.want)
		}
	}
}

// Whatever form a dump has, its rows are the same.
func TestFileReadsEachForm(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"CSV":           "jobid,schedule,command,nodename,nodeport,database,username,active,jobname\n7,0 1 * * *,\"SELECT '\t', \"\"a\"\"\",db2,5433,shop,ada,f,it's\n",
		"CSV, no names": "7,0 1 * * *,\"SELECT '\t', \"\"a\"\"\",db2,5433,shop,ada,f,it's\n",
	} {
		items := parse(text)
		if len(items) != 1 || items[0].Entry == nil {
			t.Errorf("%s: %+v", name, items)
			continue
		}
		e := items[0].Entry
		argv := strings.Join(e.Handler.Command.Argv, "|")
		want := "psql|--no-psqlrc|--set=ON_ERROR_STOP=1|--dbname=shop|--username=ada|--host=db2|--port=5433|--command=SELECT '\t', \"a\""
		if argv != want || e.Task.Enabled || e.Task.Timer != "0 1 * * *" || e.Names[0] != "it-s" {
			t.Errorf("%s: %q, %+v", name, argv, e)
		}
	}
}

// SQL is refused with what to do instead, and CSV whose commands speak of cron.job is not taken for it.
func TestFileRefusesSQL(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"SET x = 1;\nCOPY cron.job (jobid, schedule, command) FROM stdin;\n7\t0 1 * * *\tSELECT 1\n\\.\n",
		"INSERT INTO cron.job VALUES (7, '0 1 * * *', 'SELECT 1');\n",
		"SELECT cron.schedule('0 1 * * *', 'SELECT 1');\n",
	} {
		items := parse(text)
		if len(items) != 1 || !strings.Contains(items[0].Refused, `\copy cron.job TO jobs.csv CSV HEADER`) {
			t.Errorf("%q gives %+v", text, items)
		}
	}
}

// No text is too odd; what is taken has a good timer, a name and a line.
func FuzzFile(f *testing.F) {
	f.Add("SELECT cron.schedule('a', '30 seconds', $x$ $$ $x$); select cron.unschedule('a')")
	f.Add("jobid,schedule,command\n1,0 0 $ * *,\"a\"\"b\"\n")
	f.Fuzz(func(t *testing.T, text string) {
		lines := strings.Count(text, "\n") + 1
		for _, item := range parse(text) {
			if item.Line < 0 || item.Line > lines || (item.Entry == nil) != (item.Refused != "") {
				t.Fatalf("%+v", item)
			}
			if e := item.Entry; e != nil {
				if _, err := calendar.Parse(e.Task.Timer); err != nil || e.Names[0] == "" || e.Names[0] != schedules.Name(e.Names[0]) {
					t.Fatalf("%+v: %v", e, err)
				}
			}
		}
	})
}

// SQL for nextrun's own database runs there, unless it cannot be part of a transaction.
func TestSQLForNextrunsDatabase(t *testing.T) {
	t.Parallel()
	d := DatabaseOf("postgres://nextrun:x@db.example.org/shop?sslmode=disable")
	if *d != (schedules.Database{Server: "db.example.org:5432", Name: "shop", User: "nextrun"}) || DatabaseOf("sqlite:x.db") != nil {
		t.Errorf("the database is %+v", d)
	}
	for _, c := range []struct {
		job          Job
		server       string
		role, reason string // reason: psql runs it
	}{
		{Job{Command: "DELETE FROM a; SELECT f('VACUUM')", Username: "nextrun"}, "", "", ""},
		{Job{Command: "REFRESH MATERIALIZED VIEW CONCURRENTLY v", Username: "ada"}, "db.example.org:5432", "ada", ""},
		{Job{Command: "VACUUM orders"}, "", "", "VACUUM: it cannot run in a transaction"},
		{Job{Command: "CREATE INDEX CONCURRENTLY ON a (b)"}, "", "", "CREATE: it cannot"},
		{Job{Command: "CALL archive()"}, "", "", "CALL: a procedure may commit"},
		{Job{Command: "SET work_mem = '1GB'; SELECT 1"}, "", "", "SET: it would change"},
		{Job{Command: "SELECT a[:x]"}, "", "", ":x would be a parameter"},
		{Job{Command: "SELECT 1"}, "other:5432", "", "psql will run"},
		{Job{Command: "SELECT 1", NodeName: "other"}, "", "", "psql will run"},
		{Job{Command: "SELECT 1", Database: "books"}, "", "", "psql will run"},
	} {
		r := reader{path: "jobs", server: c.server, options: schedules.Options{Database: d}}
		c.job.Schedule, c.job.Name = "0 1 * * *", "n"
		if c.job.Database == "" {
			c.job.Database = "shop"
		}
		r.job(&c.job)
		handler, said := r.items[0].Entry.Handler, strings.Join(r.items[0].Changed, "; ")
		switch {
		case c.reason != "":
			if handler.Command == nil || handler.SQL != nil || !strings.Contains(said, c.reason) {
				t.Errorf("%q: %+v, %s", c.job.Command, handler, said)
			}
		case handler.SQL == nil || handler.SQL.SQL != c.job.Command || handler.SQL.Role != c.role || !strings.Contains(said, "in one transaction with the end of the job"):
			t.Errorf("%q: %+v, %s", c.job.Command, handler, said)
		}
	}
}
