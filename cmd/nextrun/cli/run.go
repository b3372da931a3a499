package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"time"

	"github.com/spf13/cobra"
)

// The exit codes.
const (
	Done       = 0 // what was asked for is done
	Failed     = 1 // it could not be done
	WrongUsage = 2 // it was not asked for properly: a flag, an argument, a value
)

// Run runs the command line and returns its exit code. The end of ctx is the
// first signal: long-running commands finish what they have in hand. env looks
// environment variables up, as os.Getenv does.
//
// Run keeps no state; it may be called several times at once.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, env func(string) string) int {
	p := &program{stdin: stdin, stdout: stdout, stderr: stderr, env: env, now: time.Now, zone: time.Local}
	return p.run(ctx, args)
}

// program is one run of the command line.
type program struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	env            func(string) string
	now            func() time.Time
	zone           *time.Location // of times that people read
	flags          globalFlags
	begun          bool // the arguments were good and the command began
}

func (p *program) run(ctx context.Context, args []string) int {
	root := p.rootCommand()
	root.SetArgs(args)
	root.SetIn(p.stdin)
	root.SetOut(p.stdout)
	root.SetErr(p.stderr)
	command, err := root.ExecuteContextC(ctx)
	if err == nil {
		return Done
	}
	p.complain("%s: %s", command.CommandPath(), saidOnce(command, plainly(err)))
	var usage *usageError
	if p.begun && !errors.As(err, &usage) {
		return Failed
	}
	p.complain("See: %s --help", command.CommandPath())
	return WrongUsage
}

// userinfo finds the password in a URL, wherever it was typed.
var userinfo = regexp.MustCompile(`(://[^:/@\s]*:)[^@\s]*@`)

// sampleUserinfo stands in messages that say how to write a URL.
const sampleUserinfo = "://USER:PASSWORD@"

// complain writes a line to standard error.
func (p *program) complain(format string, args ...any) {
	line := userinfo.ReplaceAllStringFunc(fmt.Sprintf(format, args...), func(found string) string {
		if found == sampleUserinfo {
			return found
		}
		return userinfo.ReplaceAllString(found, "${1}xxxxx@")
	})
	_, _ = fmt.Fprintln(p.stderr, line) // there is nobody left to tell
}

// printf writes a result to standard output.
func (p *program) printf(format string, args ...any) error {
	_, err := fmt.Fprintf(p.stdout, format, args...)
	return err
}

// markBegin notes in every command of the tree when it begins: what fails
// before that is wrong usage.
func (p *program) markBegin(command *cobra.Command) {
	if run := command.RunE; run != nil {
		command.RunE = func(c *cobra.Command, args []string) error {
			p.begun = true
			return run(c, args)
		}
	}
	for _, c := range command.Commands() {
		p.markBegin(c)
	}
}
