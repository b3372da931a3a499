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
		"COPY": "SET x = 1;\nCOPY cron.job (jobid, schedule, command, nodename, nodeport, database, username, active, jobname) FROM stdin;\n" +
			"7\t0 1 * * *\tSELECT '\\t', \"a\"\tdb2\t5433\tshop\tada\tf\tit's\n\\.\n",
		"quoted COPY": "COPY \"cron\".\"job\" (jobid, schedule, command, nodename, nodeport, database, username, active, jobname) FROM stdin WITH (x);\n" +
			"7\t0 1 * * *\tSELECT '\\t', \"a\"\tdb2\t5433\tshop\tada\tf\tit's\n\\.\n",
		"INSERT":        "INSERT INTO cron.job VALUES (7, '0 1 * * *', 'SELECT ''\t'', \"a\"', 'db2', 5433, 'shop', 'ada', false, 'it''s');\n",
		"named INSERT":  "insert into \"cron\".\"job\" (jobname, jobid, schedule, command, nodename, nodeport, database, username, active)\nVALUES ('it''s', 7, '0 1 * * *', E'SELECT ''\\t'', \"a\"', 'db2', 5433, 'shop', 'ada', false)",
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

func TestStatements(t *testing.T) {
	t.Parallel()
	text := `-- cron.schedule('0 0 * * *', 'in a comment')
SELECT cron.schedule('0 1 * * *', $$DELETE FROM log WHERE at < now() - interval '7 days'$$);
SELECT 'cron.schedule(''0 0 * * *'', ''in a text'')';
select CRON . schedule ( 'vacuum' , '0 2 * * *' /* at night */ , 'VACUUM' );
SELECT cron.schedule_in_database('other', '0 3 * * *', 'x', 'shop', NULL, false);
SELECT cron.schedule('0 4 * * *', format('%s', 'x'));
SELECT cron.schedule('vacuum', '0 5 * * *', 'VACUUM FULL');
SELECT cron.schedule('gone', '0 6 * * *', 'x'); SELECT cron.unschedule('gone');
DO $do$ BEGIN PERFORM cron.schedule('inside', '0 7 * * *', 'x'); END $do$;
SELECT my_cron.schedule('0 8 * * *', 'another function');
SELECT cron.schedule('0 9 * * *');
`
	type row struct {
		line       int
		id, reason string
	}
	want := []row{
		{2, "pgcron", ""}, {4, "", "line 7 schedules"}, {5, "other", ""}, {6, "", "no literal"}, {7, "vacuum", ""},
		{8, "", "line 8 takes the job away"}, {9, "inside", ""}, {11, "", "1 arguments"},
	}
	items := parse(text)
	if len(items) != len(want) {
		t.Fatalf("got %d items: %+v", len(items), items)
	}
	for i, w := range want {
		got := row{line: items[i].Line}
		if e := items[i].Entry; e != nil {
			got.id = e.Names[0]
		}
		if got.line != w.line || got.id != w.id || !strings.Contains(items[i].Refused, w.reason) {
			t.Errorf("got %+v (%s), want %+v", got, items[i].Refused, w)
		}
	}
}

// No text is too odd; what is taken has a good timer, a name and a line.
func FuzzFile(f *testing.F) {
	f.Add("COPY cron.job (jobid, schedule, command) FROM stdin;\n1\t0 0 * * *\ta\\tb\n\\.\n")
	f.Add("INSERT INTO cron.job VALUES (1, '0 0 * * *', 'x'), (2, '1 0 * * *', E'\\'');")
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
