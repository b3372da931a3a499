package ui

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/text"
)

// Env is what a command works with. A test makes one of its own.
type Env struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(string) string // as os.Getenv
	Now            func() time.Time
	Zone           *time.Location // of times that people read
	Flags          GlobalFlags
	Version        string                      // of the program
	Revision       string                      // the commit that it was built from; empty: not known
	Terminal       func(io.Writer) (width int) // tests: the width of a terminal; nil: that of the device
	lines          *Lines                      // nil: who writes to Stderr waits for it
}

// GlobalFlags are the flags that all commands know.
type GlobalFlags struct {
	DB        string
	DBFile    string
	Schema    string
	Config    string
	Wide      bool
	LogFormat Choice
	LogLevel  Choice
}

// Person is who uses this program, as far as the environment tells: USER@host.
func (env *Env) Person() string {
	name := cmp.Or(env.Getenv("SUDO_USER"), env.Getenv("USER"), env.Getenv("LOGNAME"))
	host, err := os.Hostname()
	if err != nil || name == "" {
		return name
	}
	return name + "@" + host
}

// userinfo finds the password in a URL, wherever it was typed.
var userinfo = regexp.MustCompile(`(://[^:/@\s]*:)[^@\s]*@`)

// Complain writes a line to standard error, without the passwords of URLs and
// what would disturb a terminal.
func (env *Env) Complain(format string, args ...any) {
	line := userinfo.ReplaceAllString(fmt.Sprintf(format, args...), "${1}xxxxx@")
	line = strings.ReplaceAll(line, "://USER:xxxxx@", "://USER:PASSWORD@") // in messages that say how to write a URL
	_, _ = fmt.Fprintln(env.Stderr, Printable(line))                       // nobody is left to report it to
}

// Printf writes a result for people to standard output, without what would
// disturb a terminal.
func (env *Env) Printf(format string, args ...any) error {
	_, err := io.WriteString(env.Stdout, Printable(fmt.Sprintf(format, args...)))
	return err
}

// ReadFile reads a file; - is standard input.
func ReadFile(stdin io.Reader, path string) ([]byte, error) {
	if path == "-" {
		return io.ReadAll(stdin)
	}
	return os.ReadFile(path)
}

// Moment writes a time for people: in their zone, to the second.
func (env *Env) Moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.In(env.Zone).Format("2006-01-02 15:04:05 MST")
}

// Ago writes how far a time is away, as [text.Away] does; nothing for the zero time.
func (env *Env) Ago(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return text.Away(t, env.Now())
}

// Seconds writes a duration in whole seconds.
func Seconds(d time.Duration) string { return strconv.FormatInt(int64(d/time.Second), 10) + " s" }
