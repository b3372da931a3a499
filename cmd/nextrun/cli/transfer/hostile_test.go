package transfer_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/internal/testkit/clitest"
)

// hostile are files that are odd, or made to do harm. Of each, the report has some
// text, and what is taken has good rows.
var hostile = map[string]struct{ kind, text, want string }{
	"NUL":               {"crontab", "* * * * * a\x00b\n1 2 * * * good\n", "not UTF-8 text, or has a NUL"},
	"no UTF-8":          {"crontab", "* * * * * caf\xe9\n", "not UTF-8 text"},
	"carriage returns":  {"crontab", "1 2 * * * good\r\n3 4 * * * better\r\n", "task better: 3 4 * * *"},
	"a byte order mark": {"crontab", "\ufeff1 2 * * * good\n", "task good: 1 2 * * *"},
	"tabs":              {"crontab", "\t1\t2\t*\t*\t*\tgood\t--x\n", "task good: 1 2 * * *"},
	"odd names":         {"crontab", "1 2 * * * /opt/наш/скрипт\n1 3 * * * '/x y/..'\n1 4 * * * \x1b[31m\n", "task "},
	"a long line":       {"crontab", "1 2 * * * " + strings.Repeat("x", 1<<20) + "\n", "1 taken"},
	"a long field":      {"crontab", strings.Repeat("1,", 1<<18) + "1 2 * * * x\n", "1 refused"},
	"duplicates":        {"crontab", strings.Repeat("1 2 * * * same\n", 3), "task same-3: 1 2 * * *"},
	"10 MB of comments": {"crontab", strings.Repeat("# nothing\n", 1<<20), "0 taken"},

	"a YAML bomb":        {"cronjob", bomb(), "refused"},
	"an alias of itself": {"cronjob", "a: &a [*a]\nkind: CronJob\n", "refused"},
	"lists of lists":     {"cronjob", lists(), "its aliases make too much of it"},
	"a list of itself":   {"cronjob", "&a\nkind: List\nitems: [*a]\n---\nkind: CronJob\nmetadata: {name: x}\nspec: {schedule: '0 0 * * *'}\n", "task x: 0 0 * * *"},
	"other kinds": {"cronjob", "kind: Service\nmetadata: {name: web}\n---\nkind: CronJobList\nitems:\n- {metadata: {name: x}, spec: {schedule: '0 0 * * *'}}\n" +
		"---\nkind: List\nitems:\n- {kind: Secret, metadata: {name: s}}\n- {kind: CronJob, metadata: {name: y}, spec: {schedule: '1 0 * * *'}}\n", "2 changed"},
	"carriage returns in YAML": {"cronjob", "kind: CronJob\r\nmetadata: {name: x}\r\nspec:\r\n  schedule: '0 0 * * *'\r\n", "task x: 0 0 * * *"},
	"no UTF-8 in YAML":         {"cronjob", "kind: CronJob\nmetadata: {name: x\xe9}\n", "1 refused"},
	"deep nesting":             {"cronjob", strings.Repeat("[", 1<<20), "refused"},
	"no object":                {"cronjob", "just a text\n---\n- 1\n---\n", "no object of Kubernetes"},
	"wrong types": {"cronjob", "kind: CronJob\nmetadata: [1]\nspec: {schedule: {a: b}}\n---\nkind: CronJob\nmetadata: {name: x}\n" +
		"spec: {schedule: '0 0 * * *', suspend: maybe}\n---\nkind: CronJob\nmetadata: {name: y}\n" +
		"spec: {schedule: '0 0 * * *', startingDeadlineSeconds: -1}\n", "3 refused"},
	"aliases": {"cronjob", "kind: List\nitems:\n- &a {kind: CronJob, metadata: {name: x}, spec: &s {schedule: '0 0 * * *', jobTemplate: {}}}\n" +
		"- {kind: CronJob, metadata: {name: y}, spec: *s}\n", "task y: 0 0 * * *"},
	"JSON with tabs": {"cronjob", "{\n\t\"kind\": \"CronJob\",\n\t\"metadata\": {\"name\": \"x\"},\n\t\"spec\": {\"schedule\": \"0 0 * * *\"}\n}\n", "task x: 0 0 * * *"},

	"an open quote":      {"pgcron", "jobid,schedule,command\n1,0 0 * * *,\"SELECT 1\n", "CSV"},
	"another table":      {"pgcron", "a,b\n1,2\n", "does not have the columns of cron.job"},
	"too many columns":   {"pgcron", "1,2,3,4,5,6,7,8,9,10,11\n", "does not have the columns"},
	"SQL without an end": {"pgcron", "SELECT cron.schedule('0 0 * * *', $x$SELECT 1", "it is SQL"},

	"an endless line": {"timer", "[Timer]\nOnCalendar=daily \\\n" + strings.Repeat("\\\n", 1<<18), "task unit: daily"},
	"no section":      {"timer", "OnCalendar=daily\n", "in front of the first section"},
	"a broken header": {"timer", "[Timer\nOnCalendar=daily\n", "no header of a section"},
	"NUL in a unit":   {"timer", "[Timer]\nOnCalendar=dai\x00ly\nOnCalendar=hourly\n", "task unit: hourly"},
	"a huge span":     {"timer", "[Timer]\nOnCalendar=daily\nRandomizedDelaySec=99999999999y\nOnBootSec=1e999\n", "too long a time span"},
}

func bomb() string {
	var b strings.Builder
	b.WriteString("kind: CronJob\nmetadata: {name: x}\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n")
	for n := 1; n <= 12; n++ {
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", n, n, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", n-1), 10), ", "))
	}
	b.WriteString("spec: {schedule: '0 0 * * *', timeZone: *a12, jobTemplate: {spec: {template: {spec: {containers: *a12}}}}, suspend: *a12, backoffLimit: *a12}\n")
	b.WriteString("---\nkind: List\nitems: *a12\n")
	return b.String()
}

// lists are lists that hold lists ten times each.
func lists() string {
	var b strings.Builder
	b.WriteString("kind: List\na0: &a0 {kind: Secret}\n")
	for n := 1; n <= 12; n++ {
		fmt.Fprintf(&b, "a%d: &a%d {kind: List, items: [%s]}\n", n, n, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", n-1), 10), ", "))
	}
	b.WriteString("items: [*a12]\n")
	return b.String()
}

func TestImportOfHostileFiles(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		for name, file := range hostile {
			path := filepath.Join(t.TempDir(), "unit.timer")
			if err := os.WriteFile(path, []byte(file.text), 0o600); err != nil {
				t.Fatal(err)
			}
			args := []string{"import", file.kind, path, "--zone", "UTC", "--prune", "delete"}
			r := s.Run(t.Context(), args...)
			if r.Exit != ui.Done || !strings.Contains(r.Stdout, file.want) {
				t.Errorf("%s: exit code %d, want %q in\n%.2000s\n%.500s", name, r.Exit, file.want, r.Stdout, r.Stderr)
			}
			if strings.ContainsAny(r.Stdout, "\x00\x1b\r") {
				t.Errorf("%s: the report has control characters", name)
			}
			s.Must(t, "check") // no row is bad
			var list []struct{ ID string }
			s.JSON(t, &list, "task", "list")
			for _, task := range list {
				s.Must(t, "task", "rm", task.ID)
			}
		}
	})
}
