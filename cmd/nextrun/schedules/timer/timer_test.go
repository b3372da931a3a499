package timer

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/cmd/nextrun/schedules"
	"github.com/nextrun/nextrun/periodic"
)

// readUnits writes units into a directory and reads its timers.
func readUnits(t testing.TB, files map[string]string) []schedules.Item {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	items, err := Kind{}.Read([]string{dir}, schedules.Options{Zone: "Europe/Berlin"})
	if err != nil {
		t.Fatal(err)
	}
	return items
}

func TestReadOfATimer(t *testing.T) {
	t.Parallel()
	items := readUnits(t, map[string]string{
		"a.timer":           "# about\n[Unit]\nDescription=A\n[Timer]\nOnCalendar=weekly\nOnCalendar=\nOnCalendar=Mon \\\n  06:00\nOnCalendar=*-*-* 12:00 UTC\nPersistent=yes\nRandomizedDelaySec=1h 30\nFixedRandomDelay=on\nOnBootSec=5min\n",
		"a.timer.d/x.conf":  "[Timer]\nAccuracySec=1h\n",
		"a.service":         "[Service]\nType=oneshot\nUser=ada\nEnvironment=A=1 \"B=two words\" A=3\nExecStart=/bin/echo ${A} $B $$C '%n' \\x41 \"q\\\"\"\nTimeoutStartSec=2min 1s\nWorkingDirectory=/srv/%p\n",
		"service.d/y.conf":  "[Service]\nNice=5\n",
		"ignored.timer.bak": "[Timer]\nOnCalendar=hourly\n",
	})
	if len(items) != 3 {
		t.Fatalf("got %+v", items)
	}
	for i, want := range []struct {
		line  int
		timer string
	}{{7, "Mon 06:00 Europe/Berlin"}, {9, "*-*-* 12:00 UTC"}} {
		if e := items[i].Entry; e == nil || items[i].Line != want.line || e.Task.Timer != want.timer {
			t.Errorf("got %+v, want %+v", items[i], want)
		}
	}
	if items[2].Refused == "" || items[2].Line != 13 || !strings.Contains(items[2].Refused, "the start of the machine") {
		t.Errorf("got %+v", items[2])
	}
	e := items[0].Entry
	c := e.Handler.Command
	if want := []string{"/bin/echo", "3", "two", "words", "$C", "a.service", "A", `q"`}; !reflect.DeepEqual(c.Argv, want) {
		t.Errorf("the command is %q, want %q", c.Argv, want)
	}
	if want := []string{"B=two words", "A=3"}; !reflect.DeepEqual(c.Env, want) || c.Dir != "/srv/a" {
		t.Errorf("the environment is %q, in %s", c.Env, c.Dir)
	}
	if e.Task.Catchup != periodic.CatchupOne || e.Task.Jitter != time.Hour+30*time.Second || e.Task.Timeout != 121*time.Second || e.Handler.Limits.Concurrency != 1 {
		t.Errorf("got %+v", e)
	}
	changes := strings.Join(items[0].Changed, "\n")
	for _, want := range []string{"FixedRandomDelay", "AccuracySec", "User=ada", "Nice", "several lines"} {
		if !strings.Contains(changes, want) {
			t.Errorf("%q is not said:\n%s", want, changes)
		}
	}
}

// Where a handler cannot run the program as systemd does, it starts the unit.
func TestServicesThatAreStartedByName(t *testing.T) {
	t.Parallel()
	for service, why := range map[string]string{
		"":            "there is no a.service",
		"[Service]\n": "0 lines of ExecStart",
		"[Service]\nExecStart=/a\nExecStart=/b\n":     "2 lines of ExecStart",
		"[Service]\nExecStart=/a\nExecStartPre=/b\n":  "ExecStartPre",
		"[Service]\nExecStart=/a ; /b\n":              "more than a program",
		"[Service]\nExecStart=@/a b\n":                "more than a program",
		"[Service]\nExecStart=/a $X\n":                "the variable $X",
		"[Service]\nExecStart=/a %h\n":                "the specifier %h",
		"[Service]\nExecStart=/a 'b\n":                "no end",
		"[Service]\nExecStart=/a\nEnvironment=x\n":    "Environment",
		"[Service]\nExecStart=/a\nEnvironmentFile=/e": "EnvironmentFile",
		"[Service]\nExecStart=/a\nWorkingDirectory=~": "depends on the user",
	} {
		files := map[string]string{"a.timer": "[Timer]\nOnCalendar=daily\n"}
		if service != "" {
			files["a.service"] = service
		}
		items := readUnits(t, files)
		if len(items) != 1 || items[0].Entry == nil {
			t.Fatalf("%q: %+v", service, items)
		}
		argv := strings.Join(items[0].Entry.Handler.Command.Argv, " ")
		if argv != "systemctl start --wait a.service" || !strings.Contains(strings.Join(items[0].Changed, "\n"), why) {
			t.Errorf("%q: %q, %q, want %q", service, argv, items[0].Changed, why)
		}
	}
}

func TestParseSpan(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"90": 90 * time.Second, "1h 30min": 90 * time.Minute, "2d": 48 * time.Hour, "1.5h": 90 * time.Minute, "1w3us": 168*time.Hour + 3*time.Microsecond,
		"": 0, "h": 0, "1 fortnight": 0, "1..5s": 0, "999999999y": 0, "-1s": 0,
	} {
		got, err := parseSpan(text)
		if got != want || (err != nil) != (want == 0) {
			t.Errorf("parseSpan(%q) = %v, %v, want %v", text, got, err, want)
		}
	}
}

// A link in a directory that leads nowhere is refused, and the other timers are read.
func TestReadPassesOverDeadLinks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Symlink("/nowhere/gone.timer", filepath.Join(dir, "gone.timer")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "here.timer"), []byte("[Timer]\nOnCalendar=daily\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	items, err := Kind{}.Read([]string{dir}, schedules.Options{})
	if err != nil || len(items) != 2 || !items[0].Unread || !strings.Contains(items[0].Refused, "leads nowhere") && !strings.Contains(items[0].Refused, "lead nowhere") || items[1].Entry == nil {
		t.Errorf("got %+v, %v", items, err)
	}
}

// No unit is too odd; what is taken has a good timer, a name and a program.
func FuzzRead(f *testing.F) {
	f.Add("[Timer]\nOnCalendar=Mon..Fri \\\n 08:00\nUnit=../x.service\n", "[Service]\nExecStart=-/bin/a \"b\\x41\" ${C} %i\nEnvironment=C=1\n")
	f.Add("[Timer]\nOnCalendar=daily\nOnCalendar=\nOnUnitActiveSec=1h 5us\nRandomizedDelaySec=1e9y\n", "[Service]\nType=oneshot\nExecStart=\nTimeoutSec=infinity")
	f.Fuzz(func(t *testing.T, timer, service string) {
		for _, item := range readUnits(t, map[string]string{"a@b.timer": timer, "a@.service": service}) {
			e := item.Entry
			if e == nil {
				continue
			}
			if _, err := calendar.Parse(e.Task.Timer); err != nil || e.Names[0] != "a-b" || e.Handler.Command.Argv[0] == "" {
				t.Fatalf("%+v: %v", e, err)
			}
		}
	})
}
