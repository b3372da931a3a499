//go:build linux

package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/nextrun/nextrun/bench/internal/must"
)

// clockSource is added to package time of the program under test, and nowCall replaced by nowAhead in it.
// libfaketime cannot do this: a Go program reads the clock without the C library.
//
//go:embed clock.go.txt
var clockSource []byte

const (
	nowCall  = "func Now() Time {\n\tsec, nsec, mono := runtimeNow()\n"
	nowAhead = nowCall + "\tsec += chaosAhead()\n"
)

// source is the module of nextrun, seen from that of the chaos.
const source = ".."

// build builds nextrun. If its clock is to jump, it is the program without cgo: the code is the product's, unchanged, but the
// library's package time is not.
func build(ctx context.Context, program string, jumps bool) {
	args, cgo := []string{"build", "-o", program}, "CGO_ENABLED=1"
	if jumps {
		args, cgo = append(args, "-overlay", overlayClock(ctx)), "CGO_ENABLED=0"
	}
	build := exec.CommandContext(ctx, "go", append(args, "./cmd/nextrun")...)
	build.Dir, build.Env = source, append(os.Environ(), cgo)
	if out, err := build.CombinedOutput(); err != nil {
		panic(fmt.Errorf("build nextrun: %w\n%s", err, out))
	}
}

// overlayClock writes the changed files, and the file that names them to the compiler. They are in a place of their own, so
// that Go's build cache knows them again.
func overlayClock(ctx context.Context) string {
	root := must.Get(exec.CommandContext(ctx, "go", "env", "GOROOT").Output())
	lib := filepath.Join(string(bytes.TrimSpace(root)), "src", "time")
	text := must.Get(os.ReadFile(filepath.Join(lib, "time.go")))
	changed := bytes.Replace(text, []byte(nowCall), []byte(nowAhead), 1)
	if bytes.Equal(text, changed) {
		panic(errors.New("package time of this Go is not as expected; adapt build.go"))
	}
	dir := must.Get(filepath.Abs(filepath.Join(source, "bin", "chaos")))
	now, clock, overlay := filepath.Join(dir, "time.go.txt"), filepath.Join(dir, "chaos.go.txt"), filepath.Join(dir, "overlay.json")
	list := must.Get(json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(lib, "time.go"): now, filepath.Join(lib, "chaos.go"): clock}}))
	must.Nil(os.MkdirAll(dir, 0o750))
	must.Nil(os.WriteFile(clock, clockSource, 0o600))
	must.Nil(os.WriteFile(overlay, list, 0o600))
	must.Nil(os.WriteFile(now, changed, 0o600)) //nolint:gosec // it is a copy
	return overlay
}
