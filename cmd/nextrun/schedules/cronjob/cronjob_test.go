package cronjob

import (
	"reflect"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/cmd/nextrun/schedules"
	"github.com/nextrun/nextrun/periodic"
)

func TestTimer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ schedule, zone, want string }{
		{"0 3 * * *", "", "0 3 * * *"},
		{"0 3 * * *", "Etc/UTC", "0 3 * * *"},
		{"0 3 * * *", "Asia/Tokyo", "CRON_TZ=Asia/Tokyo 0 3 * * *"},
		{"@midnight", "", "0 0 * * *"},
		{"@every 90m", "", "every 1h30m"},
		{"@every 36h", "Asia/Tokyo", "every 36h"},
		{"@every 1h0m5.5s", "", "every 1h5s"},
		{"@every 0s", "", "every 1s"}, // as Kubernetes does
		{"0 0 */2 * 1", "", "0 0 1-31/2 * 1"},
		{"0 0 ? * 1", "", "0 0 * * 1"},
		{"0 0 13 * *,5", "", "0 0 13 * *"},
		{"1,,2 * * * *", "", "1,2 * * * *"},
		{"5/15 * * * *", "", "5/15 * * * *"},
		{"0 0 * jul wed", "", "0 0 * jul wed"},
		{"0 0 15W * *", "", ""},
		{"0 0 L * *", "", ""},
		{"0 0 * * 5l", "", ""},
		{"0 0 * * 1#2", "", ""},
		{"0 0 * * 7", "", ""},
		{"0 0 , * *", "", ""},
		{"0 0 0 * * *", "", ""},
		{"@every soon", "", ""},
		{"@reboot", "", ""},
		{"0 3 * * *", "Mars/Olympus", ""},
	} {
		timer, _, err := Timer(c.schedule, c.zone)
		if (err != nil) != (c.want == "") || err == nil && timer != c.want {
			t.Errorf("Timer(%q, %q) = %q, %v, want %q", c.schedule, c.zone, timer, err, c.want)
		}
	}
}

const manifestText = `apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
---
apiVersion: batch/v1
kind: CronJob
metadata:
  name: bill
  namespace: shop
spec:
  schedule: "30 2 * * *"
  timeZone: Europe/Berlin
  concurrencyPolicy: Replace
  startingDeadlineSeconds: 300
  suspend: true
  jobTemplate:
    spec:
      backoffLimit: 0
      activeDeadlineSeconds: 600
      template:
        spec:
          initContainers: [{name: wait, image: busybox, command: [sleep, "1"]}]
          containers:
          - name: bill
            image: shop:1
            command: [/bin/bill, --to=$(TO), --key=$(KEY), $$HOME]
            args: ["--price", "$(PRICE"]
            env:
            - {name: TO, value: all}
            - {name: FROM, value: "$(TO)-x"}
            - {name: KEY, valueFrom: {secretKeyRef: {name: keys, key: bill}}}
            workingDir: /srv
          - {name: helper, image: helper:1}
          volumes: []
          serviceAccountName: biller
`

func TestParse(t *testing.T) {
	t.Parallel()
	items := Parse("shop.yaml", manifestText, schedules.Options{})
	if len(items) != 2 || items[0].Outcome() != schedules.Note || items[1].Entry == nil || items[1].Line != 5 {
		t.Fatalf("got %+v", items)
	}
	e := items[1].Entry
	c := e.Handler.Command
	if want := []string{"/bin/bill", "--to=all", "--key=$(KEY)", "$HOME", "--price", "$(PRICE"}; !reflect.DeepEqual(c.Argv, want) {
		t.Errorf("the command is %q, want %q", c.Argv, want)
	}
	if want := []string{"TO=all", "FROM=all-x"}; !reflect.DeepEqual(c.Env, want) || c.Dir != "/srv" {
		t.Errorf("the environment is %q, in %s", c.Env, c.Dir)
	}
	task := e.Task
	if task.Overlap != periodic.OverlapReplace || task.Enabled || *task.RetryLimit != 0 || task.Deadline.Seconds() != 300 || task.Timeout.Seconds() != 600 {
		t.Errorf("got %+v", task)
	}
	if want := []string{"bill", "shop-bill"}; !reflect.DeepEqual(e.Names, want) {
		t.Errorf("the names are %q", e.Names)
	}
	changes := strings.Join(items[1].Changed, "\n")
	for _, want := range []string{"initContainers", "of 2 containers", "KEY", "$(KEY) is not expanded", "image shop:1", "serviceAccountName"} {
		if !strings.Contains(changes, want) {
			t.Errorf("%q is not said:\n%s", want, changes)
		}
	}
}

// A refusal names the line, and says what is wrong there.
func TestParseRefusesByLine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		line   int
		reason string
	}{
		"kind: CronJob\n": {1, "no name"},
		"\n---\nkind: CronJob\nmetadata: {name: x}\nspec: {schedule: '0 0 * * *', concurrencyPolicy: Never}\n":                  {3, "concurrencyPolicy"},
		"kind: CronJob\nmetadata: {name: x}\nspec: {schedule: 'TZ=UTC 0 0 * * *'}\n":                                            {1, "use timeZone"},
		"kind: CronJob\nmetadata: {name: x}\nspec: {schedule: '0 0 * * *', jobTemplate: {spec: {backoffLimit: many}}}\n":        {1, "backoffLimit"},
		"kind: CronJob\nmetadata: {name: x}\nspec: {schedule: '0 0 * * *', jobTemplate: {spec: {activeDeadlineSeconds: 0}}}\n":  {1, "activeDeadlineSeconds"},
		"kind: Service\n---\nkind: CronJob\n\tmetadata: x\n":                                                                    {3, "tab character"},
		"kind: CronJob\nmetadata: {name: x}\nspec: {schedule: '{{ .Values.schedule }}'}\n":                                      {1, "is no schedule of Kubernetes"},
		"kind: CronJob\nmetadata: {name: {{ .Release.Name }}}\nspec: {schedule: '0 0 * * *'}\n":                                 {1, "no name"},
		"kind: CronJob\nmetadata: {name: x}\nspec:\n  schedule: '0 0 * * *'\n  {{- with .Values.zone }}\n  timeZone: {{ . }}\n": {5, ""},
		"a: &a {b: *a}\n": {1, "aliases"},
	} {
		items := Parse("x.yaml", text, schedules.Options{})
		last := schedules.Item{}
		if len(items) > 0 {
			last = items[len(items)-1]
		}
		if last.Refused == "" || last.Line != want.line || !strings.Contains(last.Refused, want.reason) {
			t.Errorf("%q: %+v, want line %d: %s", text, last, want.line, want.reason)
		}
	}
}

// No text is too odd; what is taken has a good timer and a name.
func FuzzParse(f *testing.F) {
	f.Add(manifestText)
	f.Add("kind: List\nitems: [&a {kind: CronJob, metadata: {name: x}, spec: {schedule: '@every 1h'}}, *a]\n")
	f.Add(`{"kind":"CronJobList","items":[{"metadata":{"name":"x"},"spec":{"schedule":"0 0 ?/2 * 1"}}]}`)
	f.Add("&a\nkind: List\nitems: [*a]\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, item := range Parse("x.yaml", text, schedules.Options{}) {
			if e := item.Entry; e != nil {
				if _, err := calendar.Parse(e.Task.Timer); err != nil || e.Names[0] != schedules.Name(e.Names[0]) {
					t.Fatalf("%+v: %v", e, err)
				}
				if c := e.Handler; c != nil && (len(c.Command.Argv) == 0 || c.Command.Argv[0] == "") {
					t.Fatalf("a handler without a program: %+v", e)
				}
			}
		}
	})
}
