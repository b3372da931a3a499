package consumers_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// installed are the workers of the directory node, which npm installs once.
var installed struct {
	once     sync.Once
	dir, out string
	err      error
}

// nodeWorker is a program of the directory node.
func nodeWorker(script string) func(t testing.TB) []string {
	return func(t testing.TB) []string {
		t.Helper()
		installed.once.Do(func() {
			if installed.dir, installed.err = filepath.Abs("node"); installed.err != nil {
				return
			}
			var out []byte
			out, installed.err = exec.Command(filepath.Join(installed.dir, "install")).CombinedOutput()
			installed.out = strings.TrimSpace(string(out))
		})
		if installed.err != nil {
			t.Fatalf("%s (%v)", installed.out, installed.err)
		}
		return []string{filepath.Join(installed.dir, "node_modules/.bin/node"), filepath.Join(installed.dir, script)}
	}
}

// released is a queue whose worker is of an older release.
func released(q queue, release string) queue {
	q.env = append([]string{"RELEASE=" + release}, q.env...)
	return q
}
