package crontab

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/periodic"
)

// parse reads a crontab, each line of which becomes "id: timer: shell command env" or "line: note", in the order of tasks,
// then of notes.
func parse(t *testing.T, text string, o Options) (list []string) {
	t.Helper()
	c, err := Parse(t.Context(), text, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Handlers) != len(c.Tasks) {
		t.Errorf("%d handlers, %d tasks", len(c.Handlers), len(c.Tasks))
	}
	for _, task := range c.Tasks {
		h := c.Handlers[task.Task]
		if task.ID != task.Task || task.Catchup != periodic.CatchupNone || len(h.Argv) != 3 || h.Argv[1] != "-c" || task.Validate() != nil {
			t.Errorf("%+v, %+v: %v", task, h, task.Validate())
		}
		list = append(list, strings.TrimSpace(fmt.Sprintf("%s: %s: %s %s %s%s", task.ID, task.Timer, h.Argv[0], h.Argv[2], h.Dir, strings.Join(h.Env, " "))))
	}
	for _, n := range c.Notes {
		kind := "note"
		if n.LeftOut {
			kind = "left out"
		}
		list = append(list, fmt.Sprintf("%d %s: %s", n.Line, kind, n.Text))
	}
	return list
}

// want compares lines; one that ends with ... has only to begin so.
func want(t *testing.T, got []string, want ...string) {
	t.Helper()
	same := len(got) == len(want)
	for i := 0; same && i < len(want); i++ {
		begin, short := strings.CutSuffix(want[i], "...")
		same = got[i] == want[i] || short && strings.HasPrefix(got[i], begin)
	}
	if !same {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	text := `# a comment
SHELL=/bin/bash
PATH = "/usr/bin:/bin"
MAILTO=ada@example.org

5 4 * * sun  /usr/local/bin/backup.sh --all > /dev/null
@daily	cd /srv && ./run
LANG=C X=1 2
CRON_TZ=Asia/Tokyo
PATH=/bin
0 0 * * 7 date +\%F
30 2 * * * LANG=C /usr/local/bin/backup.sh
0 0 1 JUL * summer
0 0 13 * *,5 both
RANDOM_DELAY=5
`
	want(t, parse(t, text, Options{Zone: "Europe/Berlin"}),
		"backup.sh: CRON_TZ=Europe/Berlin 5 4 * * sun: /bin/bash /usr/local/bin/backup.sh --all > /dev/null PATH=/usr/bin:/bin",
		"run: CRON_TZ=Europe/Berlin 0 0 * * *: /bin/bash cd /srv && ./run PATH=/usr/bin:/bin",
		"date: CRON_TZ=Asia/Tokyo 0 0 * * 7: /bin/bash date +%F PATH=/bin LANG=C X=1 2",
		"backup.sh-2: CRON_TZ=Asia/Tokyo 30 2 * * *: /bin/bash LANG=C /usr/local/bin/backup.sh PATH=/bin LANG=C X=1 2",
		"summer: CRON_TZ=Asia/Tokyo 0 0 1 JUL *: /bin/bash summer PATH=/bin LANG=C X=1 2",
		"both: CRON_TZ=Asia/Tokyo 0 0 13 * *: /bin/bash both PATH=/bin LANG=C X=1 2",
		"4 note: nextrun sends no mail; output goes to the job's log",
		"9 note: the lines below elapse in the zone Asia/Tokyo, as with cronie; Debian's cron ignores CRON_TZ",
		"15 note: give the tasks a jitter instead")
}

// Files of the system and of other systems, variables, zones and ids.
func TestParseOfFiles(t *testing.T) {
	t.Parallel()
	system := "17 *\t* * *\troot\tcd / && run-parts /etc/cron.hourly\n-*/5 * * * * root quiet\n"
	for text, c := range map[string]struct {
		options Options
		want    []string
	}{
		system: {Options{System: true}, []string{"run-parts: 17 * * * *: /bin/sh cd / && run-parts /etc/cron.hourly", "quiet: */5 * * * *: /bin/sh quiet",
			"1 note: commands of root will run as the user of the executor", "2 note: the - in front..."}},
		"17 * * * * root run-parts /etc\n0 0 * * * rootkit --scan\n": {Options{}, []string{"run-parts: 17 * * * *: /bin/sh root run-parts /etc", "rootkit: 0 0 * * *: /bin/sh rootkit --scan",
			`1 note: "root" would be run as a program; if it is the user, as in /etc/crontab, translate with --system`}},
		// An empty CRON_TZ means the machine's zone again, as for cron; a wrong one takes the lines below with it.
		"CRON_TZ=Asia/Tokyo\n0 1 * * * a\nCRON_TZ=\n0 2 * * * b\nCRON_TZ=Mars\n0 3 * * * c\n": {Options{Zone: "Europe/Berlin"}, []string{
			"a: CRON_TZ=Asia/Tokyo 0 1 * * *: /bin/sh a", "b: CRON_TZ=Europe/Berlin 0 2 * * *: /bin/sh b",
			"1 note: ...", "5 note: ...", `6 left out: timer "CRON_TZ=Mars 0 3 * * *", at "Mars 0 3 * * *": unknown time zone "Mars"...`}},
		"\ufeff1 2 * * * good\r\n\t1\t2\t*\t*\t*\tbest\t--x":       {Options{Prefix: "wiki"}, []string{"wiki-good: 1 2 * * *: /bin/sh good", "wiki-best: 1 2 * * *: /bin/sh best\t--x"}},
		"TOKEN=${NEXTRUN_DB}\n1 2 * * * a\n":                       {Options{}, []string{"a: 1 2 * * *: /bin/sh a", "1 note: left out: nextrun would put a variable or a file..."}},
		"HOME=/srv/shop\n0 1 * * * ./bill\n":                       {Options{}, []string{"bill: 0 1 * * *: /bin/sh ./bill /srv/shopHOME=/srv/shop"}}, // cron starts commands in HOME
		"A=1\n1 2 * * * a\nB=2\n1 2 * * * a\nA=3\n1 2 * * * a-2\n": {Options{}, []string{"a: 1 2 * * *: /bin/sh a A=1", "a-2: 1 2 * * *: /bin/sh a A=1 B=2", "a-2-2: 1 2 * * *: /bin/sh a-2 A=3 B=2"}},
	} {
		want(t, parse(t, text, c.options), c.want...)
	}
}

// What cron refuses or never runs has no task, nor has what nextrun cannot do; the reason says which.
func TestParseLeavesOut(t *testing.T) {
	t.Parallel()
	for line, reason := range map[string]string{
		"@reboot startup":              "no timer elapses when a machine starts",
		"@every_minute x":              "cron knows no @every_minute",
		"0 25 * * * late":              `timer "0 25 * * *", at "25 * * *": hour 25 is not in 0..23`,
		"0 9 * * * mail a%Hello":       "% in the command: nextrun has no input for commands",
		"5/15 * * * * never":           "5/15: cron knows no step without a range",
		"0 0 L * * last":               "cron knows no ?, L, W and #",
		"* * * * * * cmd":              `"*" would be a sixth field of times; cron has five`,
		"*/5 * * * * 1-5 cmd":          `"1-5" would be a sixth field of times`,
		"~ * * * * random":             "~ is a random time of cronie; write a time, and give the task a jitter",
		"0 0 30 2 * never":             `"0 0 30 2 *" never elapses: there is no such day`,
		"10-5 * * * * never":           "the range 10-5 ends before it starts",
		"1 2 * * * a\x00b":             "it is not UTF-8 text, or has a NUL character",
		"1\t5\tcron.daily\tnice run-p": "this is no line of a crontab",
	} {
		got := parse(t, line+"\n", Options{})
		if len(got) != 1 || !strings.HasPrefix(got[0], "1 left out: ") || !strings.Contains(got[0], reason) {
			t.Errorf("%q: %q, want %q", line, got, reason)
		}
	}
	if got := parse(t, "0 0 * * * root", Options{System: true}); len(got) != 1 || !strings.Contains(got[0], "left out") {
		t.Errorf("a line of the system without a command: %q", got)
	}
	for _, good := range []string{"0 0 29 2 * x", "*/100 * * * * x", "0 0 * * 1 7z a", "0 0 * * 1 sun2ics", "0 0 * * 5-7 x"} {
		if got := parse(t, good, Options{}); len(got) != 1 || strings.Contains(got[0], "left out") {
			t.Errorf("%q: %q", good, got)
		}
	}
}

// Huge files take seconds at most, those with too many variables are refused, and a signal ends all.
func TestParseOfHugeFiles(t *testing.T) {
	t.Parallel()
	var lines, variables, both strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&lines, "%d %d * * * /srv/run --all\n", i%60, i%24)
	}
	for i := range 20_000 {
		fmt.Fprintf(&variables, "A%d=%d\n", i, i)
		fmt.Fprintf(&both, "B%d=%d\n1 2 * * * run\n", i, i)
	}
	c, err := Parse(t.Context(), lines.String(), Options{})
	if err != nil || len(c.Tasks) != 20_000 || c.Tasks[19_999].ID != "run-20000" {
		t.Errorf("%d tasks, %v", len(c.Tasks), err)
	}
	c, err = Parse(t.Context(), variables.String()+"1 2 * * * run\n", Options{})
	if err != nil || len(c.Tasks) != 1 || len(c.Handlers["run"].Env) != 20_000 {
		t.Errorf("%d tasks, %v", len(c.Tasks), err)
	}
	if _, err := Parse(t.Context(), both.String(), Options{}); !errors.Is(err, ErrVariables) {
		t.Errorf("variables before each line: %v", err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Parse(over, lines.String(), Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("after a signal: %v", err)
	}
}

// The id is the name of what a line is about, not of what prepares or wraps it.
func TestParseNamesWhatRuns(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		"cd /srv/shop && ./bin/import --all":                           "import",
		"nice -n 19 ionice -c 3 /usr/bin/backup.sh":                    "backup.sh",
		"test -x /usr/sbin/anacron || ( cd / && run-parts /etc )":      "run-parts",
		"flock -w 5 -E 0 /tmp/lock nice report":                        "report",
		"root test -e /run/systemd/system || e2scrub_all -A -r":        "e2scrub_all",
		"sudo -u www-data php /srv/cron.php":                           "cron.php",
		"timeout -k 5 60 LANG=C python3 -u sync.py > /dev/null":        "sync.py",
		"if [ -x /usr/bin/mailman ]; then /usr/bin/mailman notify; fi": "mailman",
		"cd /srv":                  "cd",
		"((":                       "cron",
		"/opt/наш/скрипт":          "cron",
		strings.Repeat("x", 1<<20): strings.Repeat("x", maxName),
	} {
		c, err := Parse(t.Context(), "0 0 * * * "+command, Options{})
		if err != nil || len(c.Tasks) != 1 || c.Tasks[0].ID != want {
			t.Errorf("%.80q: %+v, want the id %.80q", command, c.Tasks, want)
		}
	}
}

// No text is too odd; what is taken has a good timer and a name.
func FuzzParse(f *testing.F) {
	f.Add("5 4 * * sun cmd\n@daily x\nA=b\n", true)
	f.Add("* * * * * a%b\\%c", false)
	f.Fuzz(func(t *testing.T, text string, system bool) {
		c, err := Parse(t.Context(), text, Options{System: system})
		if err != nil {
			t.Fatal(err)
		}
		for _, task := range c.Tasks {
			if _, err := calendar.Parse(task.Timer); err != nil || c.Handlers[task.ID].Argv[2] == "" || oddInID.MatchString(task.ID) || task.Validate() != nil {
				t.Fatalf("%+v: %v", task, err)
			}
		}
	})
}
