package ui_test

import (
	"bufio"
	"os"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/ops/cli/ui"
)

// loggerTo returns a logger whose lines go to a file without waiting for it.
func loggerTo(t *testing.T, to *os.File) (say func(string), lines *ui.Lines, finish func()) {
	t.Helper()
	env := &ui.Env{Stderr: to, Getenv: func(string) string { return "" }}
	log, lines := env.NeverWait()
	return func(text string) { log.Info(text) }, lines, env.Finish
}

// Lines that nobody takes make nobody wait; they are counted, and the first line that gets through says how many they were.
func TestLogThatNobodyReads(t *testing.T) {
	t.Parallel()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer write.Close()
	say, lines, finish := loggerTo(t, write)
	for lines.Lost() == 0 {
		say("a line")
	}
	all := bufio.NewScanner(read)
	for said := false; !said; {
		if !all.Scan() {
			t.Fatal("no line says how many were lost")
		}
		said = strings.Contains(all.Text(), "log lines were lost") && strings.Contains(all.Text(), "lost=1")
	}
	drained := make(chan int)
	go func() {
		n := 0
		for all.Scan() {
			n++
		}
		drained <- n
	}()
	say("the last one")
	finish()
	_ = write.Close()
	if n := <-drained; n < 50 || lines.Lost() != 1 {
		t.Errorf("%d lines came, %d were lost", n, lines.Lost())
	}
}

// The commands of a hint work where the reader is, and repeat no password.
func TestHintNamesTheDatabase(t *testing.T) {
	t.Parallel()
	const hint = "to run it: nextrun task run nightly-backup; or start one: nextrun executor --config FILE"
	for _, c := range []struct {
		flags ui.GlobalFlags
		want  string // in place of nextrun
		file  string // behind executor
	}{
		{ui.GlobalFlags{}, "nextrun", " --config FILE"},
		{ui.GlobalFlags{DB: "sqlite:demo.db"}, "nextrun --db sqlite:demo.db", " --config FILE"},
		{ui.GlobalFlags{DB: "postgres:///jobs?host=/run&port=5433", Schema: "night"},
			"nextrun --db 'postgres:///jobs?host=/run&port=5433' --schema night", " --config FILE"},
		{ui.GlobalFlags{DB: "postgres://ada:pw@db/job"}, "nextrun", " --config FILE"},
		{ui.GlobalFlags{DB: "postgres://db/job?port=5433&password=pw"}, "nextrun", " --config FILE"},
		{ui.GlobalFlags{DB: "sqlite:my files.db"}, "nextrun --db 'sqlite:my files.db'", " --config FILE"},
		{ui.GlobalFlags{DBFile: "/etc/nextrun/database", Config: "nextrun.yaml"},
			"nextrun --db-file /etc/nextrun/database", " --config nextrun.yaml"},
	} {
		env := &ui.Env{Flags: c.flags}
		want := "to run it: " + c.want + " task run nightly-backup; or start one: " + c.want + " executor" + c.file
		if got := env.Hint(hint); got != want {
			t.Errorf("%+v:\ngot  %s\nwant %s", c.flags, got, want)
		}
	}
}
