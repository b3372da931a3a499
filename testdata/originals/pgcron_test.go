package originals

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nextrun/nextrun/cmd/nextrun/schedules/pgcron"
)

// cluster is a PostgreSQL server with pg_cron, in a directory of its own.
type cluster struct {
	bin, dir string
	as       *syscall.Credential // the server refuses to be root
}

// newCluster makes a cluster whose jobs cannot connect: they start, and that is noted.
func newCluster(t *testing.T) *cluster {
	t.Helper()
	found, _ := filepath.Glob("/usr/lib/postgresql/*/lib/pg_cron.so")
	if len(found) == 0 {
		lacking(t, "pg_cron", "postgresql-15-cron")
	}
	slices.Sort(found)
	dir, err := os.MkdirTemp("/tmp", "nextrun-pgcron-") // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	c := &cluster{bin: filepath.Join(filepath.Dir(filepath.Dir(found[len(found)-1])), "bin"), dir: dir}
	if os.Getuid() == 0 {
		c.as = credential(t)
		if err := os.Chown(dir, int(c.as.Uid), int(c.as.Gid)); err != nil {
			t.Fatal(err)
		}
	}
	c.run(t, nil, "initdb", "--pgdata="+dir+"/data", "--username=postgres", "--auth=trust", "--no-sync", "--encoding=UTF8", "--no-locale")
	settings := fmt.Sprintf(`shared_preload_libraries = 'pg_cron'
listen_addresses = ''
unix_socket_directories = '%s'
fsync = off
log_line_prefix = '%%m '
log_timezone = 'UTC'
cron.host = '%s/nobody-listens-here'
cron.log_run = off
cron.log_statement = on
`, dir, dir)
	file, err := os.OpenFile(dir+"/data/postgresql.conf", os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = file.WriteString(settings)
		err = errors.Join(err, file.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func credential(t *testing.T) *syscall.Credential {
	t.Helper()
	for _, name := range []string{"postgres", "nobody"} {
		if u, err := user.Lookup(name); err == nil {
			uid, _ := strconv.ParseUint(u.Uid, 10, 32)
			gid, _ := strconv.ParseUint(u.Gid, 10, 32)
			return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		}
	}
	t.Fatal("there is no user postgres or nobody to run PostgreSQL as")
	return nil
}

// run runs a program of PostgreSQL.
func (c *cluster) run(t *testing.T, env []string, program string, args ...string) string {
	t.Helper()
	p := exec.CommandContext(t.Context(), filepath.Join(c.bin, program), args...)
	p.Dir, p.Env = c.dir, append(append(os.Environ(), "LC_ALL=C", "PGHOST="+c.dir, "PGUSER=postgres", "PGDATABASE=postgres"), env...)
	p.SysProcAttr = &syscall.SysProcAttr{Credential: c.as}
	out, err := p.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", program, err, out)
	}
	return string(out)
}

func (c *cluster) start(t *testing.T, log string, env ...string) {
	t.Helper()
	c.run(t, env, "pg_ctl", "start", "--wait", "--pgdata="+c.dir+"/data", "--log="+c.dir+"/"+log)
}

func (c *cluster) stop(t *testing.T) {
	t.Helper()
	c.run(t, nil, "pg_ctl", "stop", "--wait", "--mode=immediate", "--pgdata="+c.dir+"/data")
}

// schedule gives expressions to cron.schedule, and returns the errors of those that it
// refuses, and the version of pg_cron.
func (c *cluster) schedule(t *testing.T, list []string) (refused map[string]error, version string) {
	t.Helper()
	var sql strings.Builder
	sql.WriteString("CREATE EXTENSION pg_cron;\nCREATE TABLE refused (id text, why text);\n")
	for i, expression := range list {
		fmt.Fprintf(&sql, "DO $do$ BEGIN PERFORM cron.schedule('%[1]s', $x$%[2]s$x$, '%[1]s'); EXCEPTION WHEN OTHERS THEN INSERT INTO refused VALUES ('%[1]s', SQLERRM); END $do$;\n", id(i), expression)
	}
	script := c.dir + "/schedules.sql"
	if err := os.WriteFile(script, []byte(sql.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	c.run(t, nil, "psql", "-XqAt", "--set=ON_ERROR_STOP=1", "--file="+script)
	refused = map[string]error{}
	for line := range strings.Lines(c.run(t, nil, "psql", "-XqAt", "--command=SELECT id, why FROM refused")) {
		id, why, _ := strings.Cut(strings.TrimSpace(line), "|")
		refused[id] = errors.New(why)
	}
	return refused, strings.TrimSpace(c.run(t, nil, "psql", "-XqAt", "--command=SELECT extversion FROM pg_extension WHERE extname = 'pg_cron'"))
}

var starting = regexp.MustCompile(`^(\S+ \S+) UTC LOG:  cron job \d+ starting: (\w+)$`)

// runThrough lets pg_cron's clock run through some periods, and returns the minutes in
// which it starts each job.
func (c *cluster) runThrough(t *testing.T, periods []period) map[string][]time.Time {
	t.Helper()
	done := c.dir + "/done"
	c.start(t, "fast", "LD_PRELOAD="+clock(t, c.dir), clockOf(periods), "NEXTRUN_CLOCK_LOG="+done, "NEXTRUN_CLOCK_TITLE=pg_cron launcher")
	for begun := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		if text, err := os.ReadFile(done); err == nil && strings.Contains(string(text), "end") {
			break
		}
		if time.Since(begun) > 10*time.Minute {
			t.Fatal("pg_cron does not come to the end of the periods")
		}
	}
	c.stop(t)
	log, err := os.ReadFile(c.dir + "/fast")
	if err != nil {
		t.Fatal(err)
	}
	started := map[string][]time.Time{}
	for line := range strings.Lines(string(log)) {
		if m := starting.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			at, err := time.Parse("2006-01-02 15:04:05.000", m[1])
			if err != nil {
				t.Fatal(err)
			}
			started[m[2]] = append(started[m[2]], at.Truncate(time.Minute))
		}
	}
	return started
}

// pg_cron takes and refuses the same schedules, and starts jobs at the same minutes.
func TestPgCron(t *testing.T) {
	c := newCluster(t)
	list := append(expressions(150), "@yearly", "@annually", "@reboot", "* * * * 5-1", "* * * * mon-sun", "* * * nov-feb *", "0 0 $ * *", "30 seconds", "1 second", "60 seconds", "0 seconds")
	list = slices.DeleteFunc(list, func(expression string) bool { return strings.Contains(expression, "$x$") })
	c.start(t, "slow")
	refused, version := c.schedule(t, list)
	c.stop(t)
	counts := newTally("pg_cron " + version)
	periods := []period{days("2025-12-31", 2), days("2028-02-29", 1)}
	started := c.runThrough(t, periods)
	for i, expression := range list {
		timer, err := pgcron.Timer(expression, "")
		if reason := differing(expression, err, refused[id(i)]); reason != "" {
			counts.excepted[reason]++
			if slices.Contains(neverElapse, expression) && len(within(started[id(i)], periods)) > 0 {
				t.Errorf("%q: pg_cron elapses at %v", expression, few(started[id(i)]))
			}
			continue
		}
		if counts.refusal(t, expression, err, refused[id(i)]) {
			counts.same(t, expression, elapses(t, timer, periods), within(started[id(i)], periods))
		}
	}
	counts.log(t)
}

// differing is why pg_cron takes what nextrun refuses, or the other way round.
func differing(expression string, ours, theirs error) string {
	switch {
	case ours == nil && theirs != nil && (strings.HasSuffix(expression, "seconds") || strings.HasSuffix(expression, "second") || strings.Contains(expression, "$")):
		return "newer versions of pg_cron know seconds and the last day"
	case ours != nil && theirs == nil && expression[0] == '@':
		return "pg_cron takes @reboot; nextrun refuses it"
	case ours != nil && theirs == nil:
		return strings.Replace(carelessness(ours.Error()), "cron ", "pg_cron ", 1)
	}
	return ""
}
