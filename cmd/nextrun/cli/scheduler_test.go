package cli_test

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

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
		for range b.lines { // until the program has ended
			continue
		}
	})
	return b
}

// patience is how long a test waits for a line, which fails it.
const patience = 30 * time.Second

// waitFor reads lines up to one that has all the texts.
func (b *background) waitFor(texts ...string) {
	b.t.Helper()
	var read []string
	late := time.After(patience)
	for {
		select {
		case line, ok := <-b.lines:
			if read = append(read, line); ok && hasAll(line, texts) {
				return
			} else if !ok {
				b.t.Fatalf("the program ended without a line that has %q:\n%s", texts, strings.Join(read, "\n"))
			}
		case <-late:
			b.t.Fatalf("no line has %q:\n%s", texts, strings.Join(read, "\n"))
		}
	}
}

func hasAll(line string, texts []string) bool {
	for _, text := range texts {
		if !strings.Contains(line, text) {
			return false
		}
	}
	return true
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

func TestModes(t *testing.T) {
	t.Parallel()
	onBothMigrated(t, func(t *testing.T, s shell) {
		first := s.start(t, "scheduler", "--mode", "exclusive", "--name", "first")
		first.waitFor("started", "name=first")
		s.fails(t, cli.Failed, []string{"scheduler", "--mode", "exclusive"}, "another instance", "first/", "--mode leader")
		first.stop()
		if exit := <-first.exit; exit != cli.Done {
			t.Errorf("exit code %d after the signal, want %d", exit, cli.Done)
		}
		second := s.start(t, "scheduler", "--mode", "exclusive", "--name", "second")
		second.waitFor("started", "name=second")
	})
}

func TestSchedulerBesideDocspell(t *testing.T) {
	t.Parallel()
	onBothMigrated(t, func(t *testing.T, s shell) {
		s.exec(t, `CREATE TABLE node (id varchar(254), type varchar(254), url varchar(254), not_found integer)`)
		s.exec(t, `INSERT INTO node VALUES ('joex1', 'joex', 'http://joex1', 0)`)
		for _, command := range []string{"serve", "scheduler", "scheduler --once"} {
			s.fails(t, cli.Failed, strings.Fields(command), "joex1", "--beside-docspell")
		}
		s.must(t, "scheduler", "--once", "--beside-docspell")
		config := writeFile(t, "nextrun.yaml", "handlers: {echo: {command: [echo]}}\n")
		s.start(t, "executor", "--config", config).waitFor("started", "name=test") // it does not schedule
	})
}
