//go:build linux

package process

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// clockEnv names a file of eight bytes, the seconds by which the clock of a process is ahead. A process maps
// the file, so its clock jumps when the file changes.
const clockEnv = "NEXTRUN_CHAOS_CLOCK"

// clockSource is added to package time of the program under test, and nowCall replaced by nowAhead in it.
// libfaketime cannot do this: a Go program reads the clock without the C library.
const (
	nowCall  = "func Now() Time {\n\tsec, nsec, mono := runtimeNow()\n"
	nowAhead = nowCall + "\tsec += chaosAhead()\n"

	clockSource = `package time

import (
	"sync/atomic"
	"syscall"
	"unsafe"
)

var chaosClock = func() *int64 {
	name, _ := syscall.Getenv("` + clockEnv + `")
	if name == "" {
		return new(int64)
	}
	fd, err := syscall.Open(name, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err == nil {
		var page []byte
		if page, err = syscall.Mmap(fd, 0, 8, syscall.PROT_READ, syscall.MAP_SHARED); err == nil {
			syscall.Close(fd)
			return (*int64)(unsafe.Pointer(&page[0]))
		}
	}
	panic("time: " + name + ": " + err.Error())
}()

func chaosAhead() int64 { return atomic.LoadInt64(chaosClock) }
`
)

// source is the module of nextrun, seen from that of the chaos.
const source = ".."

// build builds nextrun. If its clock is to jump, it is the program without cgo: the code is the product's, unchanged, but the
// library's package time is not.
func build(ctx context.Context, program string, jumps bool) error {
	build := exec.CommandContext(ctx, "go", "build", "-o", program)
	build.Dir, build.Env = source, append(os.Environ(), "CGO_ENABLED=1")
	if jumps {
		overlay, err := overlayClock(ctx)
		if err != nil {
			return err
		}
		build.Args = append(build.Args, "-overlay", overlay)
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
	}
	build.Args = append(build.Args, "./cmd/nextrun")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build nextrun: %w\n%s", err, out)
	}
	return nil
}

// overlayClock writes the changed files, and the file that names them to the compiler. They are in a place of their own, so
// that Go's build cache knows them again.
func overlayClock(ctx context.Context) (file string, err error) {
	root, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return "", fmt.Errorf("go env GOROOT: %w", err)
	}
	lib := filepath.Join(string(bytes.TrimSpace(root)), "src", "time")
	text, err := os.ReadFile(filepath.Join(lib, "time.go"))
	if err != nil {
		return "", err
	}
	changed := bytes.Replace(text, []byte(nowCall), []byte(nowAhead), 1)
	if bytes.Equal(text, changed) {
		return "", errors.New("package time of this Go is not as expected; adapt build.go")
	}
	dir, err := filepath.Abs(filepath.Join(source, "bin", "chaos"))
	if err != nil {
		return "", err
	}
	now, clock, file := filepath.Join(dir, "time.go.txt"), filepath.Join(dir, "chaos.go.txt"), filepath.Join(dir, "overlay.json")
	list, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(lib, "time.go"): now, filepath.Join(lib, "chaos.go"): clock}})
	return file, errors.Join(err, os.MkdirAll(dir, 0o750), os.WriteFile(clock, []byte(clockSource), 0o600),
		os.WriteFile(file, list, 0o600), os.WriteFile(now, changed, 0o600)) //nolint:gosec // it is a copy
}

// lease is that of marks, jobs and topics in the configuration.
const lease = 10 * time.Second

// Effects is the file, in the directory of the instances, to which handlers that are commands write.
const Effects = "effects"

// config is the configuration file for a lock of schedulers.
func (fl *Fleet) config(lock string) string { return filepath.Join(fl.dir, "lock-"+lock+".yaml") }

// config is the text of a configuration file. Handlers call the receiver, or write to a file.
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
