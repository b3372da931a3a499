package main_test

import (
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

// Images are built from what .dockerignore leaves: each file that the program is made of, and no more.
func TestContextOfImages(t *testing.T) {
	t.Parallel()
	var kept, left []string
	for line := range strings.Lines(readFile(t, "../../.dockerignore")) {
		if pattern := strings.TrimSpace(line); strings.HasPrefix(pattern, "!") {
			kept = append(kept, pattern[1:])
		} else if anywhere, ok := strings.CutPrefix(pattern, "**/"); ok {
			left = append(left, anywhere)
		}
	}
	inContext := func(name string) bool {
		isLeft := func(part string) bool {
			return slices.ContainsFunc(left, func(pattern string) bool { ok, _ := path.Match(pattern, part); return ok })
		}
		return slices.ContainsFunc(kept, func(top string) bool { return within(name, top) }) && !slices.ContainsFunc(strings.Split(name, "/"), isLeft)
	}
	const files = `{{with .Module}}{{if .Main}}{{$d := $.ImportPath}}{{range $.GoFiles}}{{$d}}/{{.}} {{end}}{{range $.EmbedFiles}}{{$d}}/{{.}} {{end}}{{end}}{{end}}`
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", files, ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	linked := strings.Fields(string(out))
	if len(linked) < 300 {
		t.Errorf("the program is made of %d files only?", len(linked))
	}
	var rooms []string
	for _, file := range append(linked, module+"/go.mod", module+"/go.sum", module+"/LICENSE", module+"/dist/licenses.txt") {
		name := strings.TrimPrefix(file, module+"/")
		rooms = append(rooms, room(name))
		if !inContext(name) {
			t.Errorf(".dockerignore leaves out %s, without which no image can be built", name)
		}
	}
	for _, top := range kept {
		if !slices.Contains(rooms, room(top)) {
			t.Errorf(".dockerignore has %s, which the program does not need", top)
		}
	}
	for _, name := range []string{"README.md", ".env", "bench/main.go", "store/open_test.go", "ops/config/testdata/nextrun.yaml", "nextrun.db"} {
		if inContext(name) {
			t.Errorf(".dockerignore leaves %s in", name)
		}
	}
}
