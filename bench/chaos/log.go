//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nextrun/nextrun/bench/internal/must"
)

// log is the pipe through which a process says what it does, and the file to which that goes.
type log struct {
	reader, writer *os.File
	file           *os.File
	reading        sync.Mutex // held while nobody reads
	done           chan struct{}

	started, panicked atomic.Bool
}

func openLog(name, about string) *log {
	l := &log{done: make(chan struct{})}
	l.file = must.Get(os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600))
	must.Get(fmt.Fprintf(l.file, "---- %s: %s\n", time.Now().UTC().Format("15:04:05.000"), about))
	var err error
	l.reader, l.writer, err = os.Pipe()
	must.Nil(err)
	go l.read()
	return l
}

// read copies what the process says, but for what fills the pipe, until its end.
func (l *log) read() {
	defer close(l.done)
	buffer := make([]byte, 32<<10)
	for {
		n, err := l.reader.Read(buffer)
		l.reading.Lock()
		text := bytes.ReplaceAll(buffer[:n], []byte{0}, nil)
		for word, said := range map[string]*atomic.Bool{"  started  ": &l.started, "panic:": &l.panicked, "fatal error:": &l.panicked} {
			if bytes.Contains(text, []byte(word)) {
				said.Store(true)
			}
		}
		_, _ = l.file.Write(text)
		l.reading.Unlock()
		if err != nil {
			return
		}
	}
}

// end waits for the last words of a process that has ended.
func (l *log) end() {
	_ = l.writer.Close()
	<-l.done
	_, _ = l.file.Close(), l.reader.Close()
}

// block reads nothing until over says so, and fills the pipe, so that the next line has to wait.
func (l *log) block(over func()) {
	l.reading.Lock()
	defer l.reading.Unlock()
	go func() { _, _ = l.writer.Write(make([]byte, 128<<10)) }()
	over()
}
