package cli_test

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/cmd/nextrun/cli"
)

// background is a run of the program that goes on.
type background struct {
	t     *testing.T
	stop  context.CancelFunc // the first signal
	lines chan string        // of standard error
	exit  chan int
}

// start runs the program until stop is called; it ends with the test.
func (s shell) start(t *testing.T, args ...string) *background {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	read, write := io.Pipe()
	b := &background{t: t, stop: cancel, lines: make(chan string, 10_000), exit: make(chan int, 1)}
	go func() {
		defer close(b.lines)
		var rest string
		buffer := make([]byte, 4096)
		for {
			n, err := read.Read(buffer)
			parts := strings.Split(rest+string(buffer[:n]), "\n")
			for _, line := range parts[:len(parts)-1] {
				b.lines <- line
			}
			if rest = parts[len(parts)-1]; err != nil {
				return
			}
		}
	}()
	go func() {
		lookup := func(name string) string { return s.env[name] }
		exit := cli.Run(ctx, args, strings.NewReader(""), io.Discard, write, lookup)
		_ = write.Close() // ends the reader
		b.exit <- exit
	}()
	t.Cleanup(func() {
		cancel()
		for range b.lines { //nolint:revive // until the program has ended
		}
	})
	return b
}

// waitFor reads lines up to one that has all the texts.
func (b *background) waitFor(texts ...string) string {
	b.t.Helper()
	var read []string
lines:
	for line := range b.lines {
		read = append(read, line)
		for _, text := range texts {
			if !strings.Contains(line, text) {
				continue lines
			}
		}
		return line
	}
	b.t.Fatalf("the program ended without a line that has %q:\n%s", texts, strings.Join(read, "\n"))
	return ""
}

func TestSchedulerRunsUntilTheSignal(t *testing.T) {
	t.Parallel()
	onBothMigrated(t, func(t *testing.T, s shell) {
		b := s.start(t, "scheduler")
		b.waitFor("INFO", "started", "name=test")
		s.exec(t, `INSERT INTO periodic_task (id, task, timer) VALUES ('tick', 'echo', '*:*:*')`)
		b.waitFor("INFO", "job submitted", "id=tick", "task=echo")
		b.waitFor("INFO", "tick skipped", "id=tick", `reason="the job of`, "is still waiting")
		b.stop()
		b.waitFor("stopped")
		if exit := <-b.exit; exit != cli.Done {
			t.Errorf("exit code %d after the signal, want %d", exit, cli.Done)
		}
	})
}

func TestLogFormatJSON(t *testing.T) {
	t.Parallel()
	onBothMigrated(t, func(t *testing.T, s shell) {
		b := s.start(t, "scheduler", "--log-format", "json", "--name", "other")
		b.waitFor(`"msg":"started"`, `"name":"other"`, `"level":"info"`)
	})
}

func TestModesThatAreNotThereYet(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"leader", "exclusive"} {
		shell{}.fails(t, cli.WrongUsage, []string{"scheduler", "--mode", mode}, mode, "--mode shared")
	}
}
