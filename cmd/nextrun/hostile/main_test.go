package hostile_test

import (
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/program"
)

func TestMain(m *testing.M) { program.Main(m) }

// The settings of `make hostile`.
var (
	flagSeed     = flag.Uint64("hostile.seed", 1, "which values, and in which order")
	flagDuration = flag.Duration("hostile.duration", 0, "0: the short form")
	flagDatabase = flag.String("hostile.database", "both", "or only a kind")
	flagHealthy  = flag.Int("hostile.healthy", 24, "healthy tasks")
)

// long reports whether this is `make hostile`.
func long() bool { return *flagDuration > 0 }

// onEach runs a test on the databases of the run. Those of the short form run beside each other; those of the long one have
// a thousand tasks each.
func onEach(t *testing.T, test func(e environment)) {
	if !long() {
		t.Parallel()
	}
	for _, kind := range []string{sqlite, postgres} {
		if *flagDatabase != "both" && *flagDatabase != kind {
			continue
		}
		t.Run(kind, func(t *testing.T) {
			if !long() {
				t.Parallel()
			}
			t.Logf("-hostile.seed=%d", *flagSeed)
			test(newEnvironment(newDatabase(t, kind), receiver(t)))
		})
	}
}

// receiver takes the calls of jobs and of the relay, and returns its address.
func receiver(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	t.Cleanup(server.Close)
	return server.URL
}

// environment is a database with the tables of nextrun and of other queues, and the
// configuration for them.
type environment struct {
	database
	config string
}

const mailQueue = `CREATE TABLE mail_queue (id varchar(254) PRIMARY KEY, kind varchar(254) NOT NULL, payload text, state varchar(254) NOT NULL DEFAULT 'new', done_at timestamp);`

const queuesYAML = `
queues:
  mail:
    type: sql
    enqueue: INSERT INTO mail_queue (id, kind, payload) SELECT jid, handler, args FROM nextrun_batch
    pending: SELECT o.jid FROM nextrun_open AS o CROSS JOIN mail_queue AS m WHERE m.id = o.jid AND m.state <> 'done'
  river: {type: river}
`

const postgresQueuesYAML = `
  boss: {type: pg-boss, queue: call}
  workers: {type: graphile-worker}
`

// newEnvironment makes all tables. url is where handlers and the relay call.
func newEnvironment(d database, url string) environment {
	d.Helper()
	e := environment{d, filepath.Join(d.TempDir(), "nextrun.yaml")}
	text := "handlers:\n  call: {http: {url: " + url + "/job}, retry_limit: 0}\n" +
		"relay:\n  topics:\n    '*': {webhook: {url: " + url + "/event}}\n" + queuesYAML
	files := []string{"river_sqlite_6"} // level 7 needs a newer sqlite3 program
	if !d.isSQLite() {
		text += postgresQueuesYAML
		files = []string{"river_postgres_6", "river_postgres_7", "graphile", "pgboss"}
	}
	if err := os.WriteFile(e.config, []byte(text), 0o600); err != nil {
		d.Fatal(err)
	}
	if out, err := e.nextrun("migrate", "up"); err != nil {
		d.Fatalf("%v\n%s", err, out)
	}
	d.must(mailQueue)
	for _, file := range files {
		script, err := os.ReadFile(filepath.Join("..", "..", "..", "store", "queues", "testdata", file+".sql"))
		if err != nil {
			d.Fatal(err)
		}
		d.must("BEGIN;\n" + strings.ReplaceAll(string(script), "SET LOCAL search_path = public;", "RESET search_path;") + "\nCOMMIT;")
	}
	if !d.isSQLite() {
		d.must("INSERT INTO pgboss.queue (name) VALUES ('call');")
	}
	d.must("DELETE FROM periodic_task;")
	return e
}
