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

	"github.com/nextrun/nextrun/bench/chaos/internal/database"
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
		return nil
	}
	fd, err := syscall.Open(name, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		panic("time: " + name + ": " + err.Error())
	}
	defer syscall.Close(fd)
	page, err := syscall.Mmap(fd, 0, 8, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		panic("time: " + name + ": " + err.Error())
	}
	return (*int64)(unsafe.Pointer(&page[0]))
}()

func chaosAhead() int64 {
	if chaosClock == nil {
		return 0
	}
	return atomic.LoadInt64(chaosClock)
}
`
)

// Build builds nextrun for a database from the module in source. If the database has a clock of its own, it is the program
// without cgo, with a clock that can jump: the code is the product's, unchanged, but the library's package time is not.
// Processes on a SQLite file have one clock.
func Build(ctx context.Context, source, dir string, d database.Dialect) (program string, err error) {
	program = filepath.Join(dir, "nextrun-"+d.Name)
	build := exec.CommandContext(ctx, "go", "build", "-o", program)
	build.Dir, build.Env = source, append(os.Environ(), "CGO_ENABLED=1")
	if d.OwnClock {
		overlay, err := overlayClock(ctx, source)
		if err != nil {
			return "", err
		}
		build.Args = append(build.Args, "-overlay", overlay)
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
	}
	build.Args = append(build.Args, "./cmd/nextrun")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build nextrun: %w\n%s", err, out)
	}
	return program, nil
}

// overlayClock writes the changed files, and the file that names them to the compiler. They are in a place of their own, so
// that Go's build cache knows them again.
func overlayClock(ctx context.Context, source string) (file string, err error) {
	root, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return "", fmt.Errorf("go env GOROOT: %w", err)
	}
	lib := filepath.Join(string(bytes.TrimSpace(root)), "src", "time")
	text, err := os.ReadFile(filepath.Join(lib, "time.go"))
	if err != nil {
		return "", err
	}
	if !bytes.Contains(text, []byte(nowCall)) {
		return "", errors.New("package time of this Go is not as expected; adapt build.go")
	}
	overlay := filepath.Join(source, "bin", "chaos")
	changed := map[string]string{"time.go": string(bytes.Replace(text, []byte(nowCall), []byte(nowAhead), 1)), "chaos.go": clockSource}
	replace := map[string]string{}
	if err := os.MkdirAll(overlay, 0o750); err != nil {
		return "", err
	}
	for name, content := range changed {
		file := filepath.Join(overlay, name+".txt")
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			return "", err
		}
		replace[filepath.Join(lib, name)] = file
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	file = filepath.Join(overlay, "overlay.json")
	return file, os.WriteFile(file, list, 0o600)
}
