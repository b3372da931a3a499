package crontab

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/cmd/nextrun/schedules"
	"github.com/nextrun/nextrun/periodic"
)

// line is what became of a line of a crontab.
type line struct {
	line        int
	outcome     schedules.Outcome
	id, timer   string
	shell, text string
	env         []string
	reason      string // a part of it
}

func wantLines(t *testing.T, items []schedules.Item, want []line) {
	t.Helper()
	if len(items) != len(want) {
		t.Fatalf("got %d items: %+v", len(items), items)
	}
	for i, w := range want {
		item := &items[i]
		got := line{line: item.Line, outcome: item.Outcome(), reason: w.reason}
		if e := item.Entry; e != nil {
			argv := e.Handler.Command.Argv
			got.id, got.timer, got.shell, got.text, got.env = e.Names[0], e.Task.Timer, argv[0], argv[2], e.Handler.Command.Env
			if e.Task.Catchup != periodic.CatchupNone || argv[1] != "-c" {
				t.Errorf("line %d: %+v", item.Line, e)
			}
		}
		if reasons := strings.Join(append(item.Changed, item.Refused), "; "); !reflect.DeepEqual(got, w) || !strings.Contains(reasons, w.reason) {
			t.Errorf("got %+v (%s)\nwant %+v", got, reasons, w)
		}
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
@reboot startup
0 25 * * * late
* * * *
0 9 * * * mail ada%Good morning
5/15 * * * * never
0 0 L * * last
0 0 1 JUL * summer
@Daily shout
0 0 13 * *,5 both
`
	first := []string{"PATH=/usr/bin:/bin"}
	later := []string{"LANG=C X=1 2", "PATH=/bin"}
	wantLines(t, Parse("crontab", text, schedules.Options{Zone: "Europe/Berlin"}), []line{
		{line: 4, outcome: schedules.Note, reason: "sends no mail"},
		{6, schedules.Taken, "backup.sh", "CRON_TZ=Europe/Berlin 5 4 * * sun", "/bin/bash", "/usr/local/bin/backup.sh --all > /dev/null", first, ""},
		{7, schedules.Taken, "run", "CRON_TZ=Europe/Berlin 0 0 * * *", "/bin/bash", "cd /srv && ./run", first, ""},
		{line: 9, outcome: schedules.Note, reason: "Debian's cron ignores CRON_TZ"},
		{11, schedules.Taken, "date", "CRON_TZ=Asia/Tokyo 0 0 * * 7", "/bin/bash", "date +%F", later, ""},
		{12, schedules.Taken, "backup.sh", "CRON_TZ=Asia/Tokyo 30 2 * * *", "/bin/bash", "LANG=C /usr/local/bin/backup.sh", later, ""},
		{line: 13, outcome: schedules.Refused, reason: "@reboot"},
		{line: 14, outcome: schedules.Refused, reason: "25"},
		{line: 15, outcome: schedules.Refused, reason: "no line of a crontab"},
		{line: 16, outcome: schedules.Refused, reason: "input for commands"},
		{line: 17, outcome: schedules.Refused, reason: "5/15: cron knows no step without a range"},
		{line: 18, outcome: schedules.Refused, reason: "cron knows no ?, L, W and #"},
		{19, schedules.Taken, "summer", "CRON_TZ=Asia/Tokyo 0 0 1 JUL *", "/bin/bash", "summer", later, ""},
		{line: 20, outcome: schedules.Refused, reason: "cron knows only @daily"},
		{21, schedules.Taken, "both", "CRON_TZ=Asia/Tokyo 0 0 13 * *", "/bin/bash", "both", later, ""},
	})
}

func TestParseOfTheSystemsCrontab(t *testing.T) {
	t.Parallel()
	text := "17 *\t* * *\troot\tcd / && run-parts /etc/cron.hourly\n@daily ada x\n0 0 * * * root\n-*/5 * * * * root quiet\n"
	wantLines(t, Parse("crontab", text, schedules.Options{System: true}), []line{
		{1, schedules.Changed, "run-parts", "17 * * * *", "/bin/sh", "cd / && run-parts /etc/cron.hourly", nil, "not as root"},
		{2, schedules.Changed, "x", "0 0 * * *", "/bin/sh", "x", nil, "not as ada"},
		{line: 3, outcome: schedules.Refused, reason: "no line of a crontab"},
		{4, schedules.Changed, "quiet", "*/5 * * * *", "/bin/sh", "quiet", nil, "logging"},
	})
}

// An empty CRON_TZ means the machine's zone again, as for cron.
func TestParseOfAnEmptyZone(t *testing.T) {
	t.Parallel()
	items := Parse("crontab", "CRON_TZ=Asia/Tokyo\n0 1 * * * a\nCRON_TZ=\n0 2 * * * b\n", schedules.Options{Zone: "Europe/Berlin"})
	if len(items) != 3 || items[1].Entry.Task.Timer != "CRON_TZ=Asia/Tokyo 0 1 * * *" || items[2].Entry.Task.Timer != "CRON_TZ=Europe/Berlin 0 2 * * *" {
		t.Errorf("got %+v", items)
	}
}

// cron starts commands in HOME.
func TestParseOfHome(t *testing.T) {
	t.Parallel()
	items := Parse("crontab", "HOME=/srv/shop\n0 1 * * * ./bill\n", schedules.Options{})
	if len(items) != 1 || items[0].Entry.Handler.Command.Dir != "/srv/shop" {
		t.Errorf("got %+v", items)
	}
}

// A directory is one like /etc/cron.d: with users, and names that cron passes over.
func TestReadOfADirectory(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "cron.d")
	for name, text := range map[string]string{"shop": "1 2 * * * www-data bill\n", "shop.dpkg-old": "1 2 * * * www-data old\n"} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{dir, filepath.Join(dir, "shop")} {
		items, err := Kind{}.Read([]string{path}, schedules.Options{})
		if err != nil || len(items) == 0 || items[0].Entry == nil || items[0].Entry.Names[0] != "bill" || items[0].Line != 1 {
			t.Fatalf("%s: %+v, %v", path, items, err)
		}
		if path == dir && (len(items) != 2 || !strings.Contains(items[1].Refused, "does not read")) {
			t.Errorf("got %+v", items)
		}
	}
}

// The id is the name of what a line is about, not of what prepares or wraps it.
func TestParseNamesWhatRuns(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		"cd /srv/shop && ./bin/import --all":                      "import",
		"nice -n 19 ionice -c 3 /usr/bin/backup.sh":               "backup.sh",
		"test -x /usr/sbin/anacron || ( cd / && run-parts /etc )": "run-parts",
		"[ -f /x ] && cleanup":                                    "cleanup",
		"flock -n /tmp/lock /usr/bin/report":                      "report",
		"root test -e /run/systemd/system || e2scrub_all -A -r":   "e2scrub_all",
		"root backup":                        "backup",
		"sudo -u www-data php /srv/cron.php": "cron.php",
		"timeout -k 5 60 LANG=C python3 -u sync.py > /dev/null": "sync.py",
		"/bin/bash -c ls": "ls",
		"if [ -x /usr/bin/mailman ]; then /usr/bin/mailman notify; fi":                  "mailman",
		"[ -f /etc/x ] && if [ ! -d /run/systemd ]; then flock -n /x sanoid --cron; fi": "sanoid",
		"if ! pgrep x; then start-x; fi":                                                "start-x",
		"cd /srv":                                                                       "cd",
		"sh":                                                                            "sh",
		"((":                                                                            "cron",
		"X=1 Y=2":                                                                       "cron",
	} {
		items := Parse("crontab", "0 0 * * * "+command, schedules.Options{})
		if len(items) != 1 || items[0].Entry == nil || items[0].Entry.Names[0] != want {
			t.Errorf("%q: %+v, want the id %q", command, items, want)
		}
	}
}

// A column of users that is taken for programs is noticed.
func TestParseNoticesUsers(t *testing.T) {
	t.Parallel()
	const text = "17 * * * * root\trun-parts /etc/cron.hourly\n@daily root /bin/x\n0 0 * * * rootkit --scan\n"
	items := Parse("crontab", text, schedules.Options{})
	if len(items) != 3 || items[2].Outcome() != schedules.Taken {
		t.Fatalf("got %+v", items)
	}
	for _, item := range items[:2] {
		if item.Outcome() != schedules.Changed || !strings.Contains(item.Changed[0], "--system") || !strings.Contains(item.Changed[0], `"root"`) {
			t.Errorf("got %+v", item)
		}
	}
	if items := Parse("crontab", text, schedules.Options{System: true}); strings.Contains(items[0].Changed[0], "--system") {
		t.Errorf("got %+v", items)
	}
}

// No text is too odd; what is taken has a good timer and a name.
func FuzzParse(f *testing.F) {
	f.Add("5 4 * * sun cmd\n@daily x\nA=b\n", true)
	f.Add("* * * * * a%b\\%c", false)
	f.Fuzz(func(t *testing.T, text string, system bool) {
		for _, item := range Parse("crontab", text, schedules.Options{System: system}) {
			e := item.Entry
			if e == nil {
				continue
			}
			if _, err := calendar.Parse(e.Task.Timer); err != nil || e.Handler.Command.Argv[2] == "" || e.Names[0] == "" || e.Names[0] != schedules.Name(e.Names[0]) {
				t.Fatalf("%+v: %v", e, err)
			}
		}
	})
}
