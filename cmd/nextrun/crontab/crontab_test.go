package crontab

import (
	"reflect"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/calendar"
)

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
`
	entries, problems := Parse(text, Options{Zone: "Europe/Berlin"})
	first := []string{"PATH=/usr/bin:/bin"}
	later := []string{"LANG=C X=1 2", "PATH=/bin"}
	wantEntries := []Entry{
		{6, "backup.sh", "CRON_TZ=Europe/Berlin 5 4 * * sun", "/bin/bash", "/usr/local/bin/backup.sh --all > /dev/null", first},
		{7, "run", "CRON_TZ=Europe/Berlin 0 0 * * *", "/bin/bash", "cd /srv && ./run", first},
		{11, "date", "CRON_TZ=Asia/Tokyo 0 0 * * 7", "/bin/bash", "date +%F", later},
		{12, "backup.sh-2", "CRON_TZ=Asia/Tokyo 30 2 * * *", "/bin/bash", "LANG=C /usr/local/bin/backup.sh", later},
	}
	if !reflect.DeepEqual(entries, wantEntries) {
		t.Errorf("got\n%+v\nwant\n%+v", entries, wantEntries)
	}
	wantProblems := []struct {
		line    int
		text    string
		leftOut bool
	}{
		{4, "MAILTO", false}, {13, "@reboot", true}, {14, "25", true}, {15, "no line of a crontab", true}, {16, "input for commands", true},
	}
	if len(problems) != len(wantProblems) {
		t.Fatalf("got %+v", problems)
	}
	for i, want := range wantProblems {
		got := problems[i]
		if got.Line != want.line || !strings.Contains(got.Text, want.text) || got.LeftOut != want.leftOut {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
}

func TestParseOfTheSystemsCrontab(t *testing.T) {
	t.Parallel()
	entries, problems := Parse("17 *\t* * *\troot\tcd / && run-parts /etc/cron.hourly\n@daily root x\n0 0 * * * root\n", Options{System: true})
	if len(entries) != 2 || entries[0].Timer != "17 * * * *" || entries[0].Command != "cd / && run-parts /etc/cron.hourly" || entries[1].Command != "x" {
		t.Errorf("got %+v", entries)
	}
	if len(problems) != 3 || !strings.Contains(problems[0].Text, "not as root") || !problems[2].LeftOut {
		t.Errorf("got %+v", problems)
	}
}

// An empty CRON_TZ means the machine's zone again, as for cron.
func TestParseOfAnEmptyZone(t *testing.T) {
	t.Parallel()
	entries, _ := Parse("CRON_TZ=Asia/Tokyo\n0 1 * * * a\nCRON_TZ=\n0 2 * * * b\n", Options{Zone: "Europe/Berlin", Prefix: "shop"})
	if len(entries) != 2 || entries[0].Timer != "CRON_TZ=Asia/Tokyo 0 1 * * *" || entries[1].Timer != "CRON_TZ=Europe/Berlin 0 2 * * *" {
		t.Errorf("got %+v", entries)
	}
	if entries[0].ID != "shop-a" {
		t.Errorf("with a prefix the id is %q", entries[0].ID)
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
		"cd /srv":         "cd",
		"sh":              "sh",
		"((":              "cron",
		"X=1 Y=2":         "cron",
	} {
		entries, _ := Parse("0 0 * * * "+command, Options{})
		if len(entries) != 1 || entries[0].ID != want {
			t.Errorf("%q: %+v, want the id %q", command, entries, want)
		}
	}
}

// A column of users that is taken for programs is noticed.
func TestParseNoticesUsers(t *testing.T) {
	t.Parallel()
	const text = "17 * * * * root\trun-parts /etc/cron.hourly\n@daily root /bin/x\n0 0 * * * rootkit --scan\n"
	entries, problems := Parse(text, Options{})
	if len(entries) != 3 || len(problems) != 2 {
		t.Fatalf("got %+v, %+v", entries, problems)
	}
	for _, p := range problems {
		if p.LeftOut || !strings.Contains(p.Text, "--system") || !strings.Contains(p.Text, `"root"`) {
			t.Errorf("got %+v", p)
		}
	}
	if _, problems := Parse(text, Options{System: true}); strings.Contains(problems[0].Text, "--system") {
		t.Errorf("got %+v", problems)
	}
}

// No text is too odd; what is taken has a good timer and an id of its own.
func FuzzParse(f *testing.F) {
	f.Add("5 4 * * sun cmd\n@daily x\nA=b\n", true)
	f.Add("* * * * * a%b\\%c", false)
	f.Fuzz(func(t *testing.T, text string, system bool) {
		entries, _ := Parse(text, Options{System: system})
		ids := map[string]bool{}
		for _, e := range entries {
			if _, err := calendar.Parse(e.Timer); err != nil || e.Command == "" || e.ID == "" || ids[e.ID] {
				t.Fatalf("%+v: %v", e, err)
			}
			ids[e.ID] = true
		}
	})
}
