//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/nextrun/nextrun/bench/internal/must"
)

// nowAhead replaces nowCall in package time of the program under test, to which clock.go.txt is added.
// libfaketime cannot do this: a Go program reads the clock without the C library.
const (
	nowCall  = "func Now() Time {\n\tsec, nsec, mono := runtimeNow()\n"
	nowAhead = nowCall + "\tsec += chaosAhead()\n"
)

// source is the module of nextrun, seen from that of the chaos.
const source = ".."

// build builds nextrun. If its clock is to jump, it is the program without cgo: the code is the product's, unchanged, but the
// library's package time is not. A newer one has one migration more.
func build(ctx context.Context, program string, jumps, newer bool) {
	replaced, cgo := map[string]string{}, "CGO_ENABLED=1"
	if jumps {
		cgo = "CGO_ENABLED=0"
		replaceClock(ctx, absolute(source, "bin", "chaos"), replaced)
	}
	if newer {
		for _, database := range []string{"postgres", "sqlite"} {
			replaced[absolute(source, "migrations", database, "00099_newer.sql")] = absolute("chaos", "newer", database+".sql")
		}
	}
	overlay := program + ".json" // names the changed files to the compiler
	must.Nil(os.WriteFile(overlay, must.Get(json.Marshal(map[string]any{"Replace": replaced})), 0o600))
	build := exec.CommandContext(ctx, "go", "build", "-overlay", overlay, "-o", program, "./cmd/nextrun")
	build.Dir, build.Env = source, append(os.Environ(), cgo)
	if out, err := build.CombinedOutput(); err != nil {
		panic(fmt.Errorf("build nextrun: %w\n%s", err, out))
	}
}

func absolute(parts ...string) string { return must.Get(filepath.Abs(filepath.Join(parts...))) }

// replaceClock writes the changed file into a place of its own, so that Go's build cache knows it again.
func replaceClock(ctx context.Context, dir string, replaced map[string]string) {
	root := must.Get(exec.CommandContext(ctx, "go", "env", "GOROOT").Output())
	lib := filepath.Join(string(bytes.TrimSpace(root)), "src", "time")
	text := must.Get(os.ReadFile(filepath.Join(lib, "time.go")))
	changed := bytes.Replace(text, []byte(nowCall), []byte(nowAhead), 1)
	if bytes.Equal(text, changed) {
		panic(errors.New("package time of this Go is not as expected; adapt build.go"))
	}
	now := filepath.Join(dir, "time.go.txt")
	must.Nil(os.MkdirAll(dir, 0o750))
	must.Nil(os.WriteFile(now, changed, 0o600)) //nolint:gosec // it is a copy
	replaced[filepath.Join(lib, "time.go")], replaced[filepath.Join(lib, "chaos.go")] = now, absolute("chaos", "clock.go.txt")
}
