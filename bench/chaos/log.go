//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"github.com/nextrun/nextrun/bench/internal/must"
)

// log takes what a process says into a file, and looks out for some words.
type log struct {
	file              *os.File
	started, panicked atomic.Bool
}

func openLog(name, about string) *log {
	l := &log{file: must.Get(os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600))}
	must.Get(fmt.Fprintf(l.file, "---- %s: %s\n", time.Now().UTC().Format("15:04:05.000"), about))
	return l
}

func (l *log) Write(text []byte) (int, error) {
	for word, said := range map[string]*atomic.Bool{"  started  ": &l.started, "panic:": &l.panicked, "fatal error:": &l.panicked} {
		if bytes.Contains(text, []byte(word)) {
			said.Store(true)
		}
	}
	return l.file.Write(text)
}
