//go:build linux

package process

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// lease is that of marks, jobs and topics in the configuration.
const lease = 10 * time.Second

// locks are the names of the locks of schedulers. Each has a configuration of its own.
var locks = []string{"a", "b"}

// Configure writes the configuration of all processes of a directory. Handlers call the receiver, or write to the file effects.
func Configure(dir, receiver, effects string) (err error) {
	for _, lock := range locks {
		err = errors.Join(err, os.WriteFile(configFile(dir, lock), []byte(config(receiver, effects, lock)), 0o600))
	}
	return err
}

func configFile(dir, lock string) string { return filepath.Join(dir, "lock-"+lock+".yaml") }

// Once runs the program with arguments, with the configuration of the directory if there is one already. It returns what the
// program said.
func Once(ctx context.Context, program, dir, db string, args ...string) (string, error) {
	file := configFile(dir, locks[0])
	if _, err := os.Stat(file); err != nil {
		file = ""
	}
	p := exec.CommandContext(ctx, program, args...)
	p.Env = append(os.Environ(), "NEXTRUN_DB="+db, "NEXTRUN_CONFIG="+file)
	out, err := p.CombinedOutput()
	return string(out), err
}

// config is the configuration file of the instances. Each lock has schedulers of its own.
func config(receiver, effects, lock string) string {
	return strings.NewReplacer("RECEIVER", receiver, "EFFECTS", effects, "LOCK", lock, "LEASE", lease.String()).Replace(`
database: {connect_timeout: 5s, statement_timeout: 6s, lock_timeout: 2s, idle_timeout: 4s, max_conns: 5}
scheduler:
  lease: LEASE
  poll_interval: 10s
  lock: {name: LOCK, ttl: 13s, heartbeat: 2s}
executor:
  {pool_size: 40, poll_interval: 10s, retry_delay: 1s, retry_cap: 5s, retry_limit: 3, max_interrupts: 1000, shutdown_grace: 10s}
relay:
  {lease: LEASE, poll_interval: 10s, retry_min: 500ms, retry_max: 5s, topics: {"*": {webhook: {url: RECEIVER/event, timeout: 4s}}}}
queues:
  mail:
    type: sql
    enqueue: INSERT INTO mail_queue (id, task_id, payload) SELECT jid, task_id, args FROM nextrun_batch
    pending: SELECT o.jid FROM nextrun_open AS o JOIN mail_queue AS m ON m.id = o.jid WHERE m.state <> 'done'
    cancel: DELETE FROM mail_queue WHERE id IN (SELECT jid FROM nextrun_open) AND state = 'new' RETURNING id AS jid
handlers:
  call: {http: {url: RECEIVER/run/call}}
  slow: {http: {url: RECEIVER/run/slow}}
  flaky: {http: {url: RECEIVER/run/flaky}}
  broken: {http: {url: RECEIVER/run/broken}}
  file:
    command: [sh, -c, 'echo "$NEXTRUN_JOB_ID $NEXTRUN_TASK $NEXTRUN_DUE" >> EFFECTS']
`)
}
