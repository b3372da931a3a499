package ui

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// Watch is the flag --watch of a command that shows something.
type Watch time.Duration

// The bounds of --watch, and its value if none is given.
const (
	watchLeast   = 100 * time.Millisecond
	watchDefault = "1s"
)

// Register adds the flag to a command.
func (w *Watch) Register(command *cobra.Command) {
	flags := command.Flags()
	flags.VarP(w, "watch", "w", "show it again every second, or as often as given, until Control-C")
	flags.Lookup("watch").NoOptDefVal = watchDefault
}

func (w *Watch) String() string { return "" }

// Type is what the help text says about the value.
func (w *Watch) Type() string { return "interval" }

// Set reads an interval.
func (w *Watch) Set(text string) error {
	d, err := ParseSpan(text)
	if err != nil || d < watchLeast {
		return errors.New("use an interval such as 500ms, 2s or 1m")
	}
	*w = Watch(d)
	return nil
}

// The control functions of a terminal (ECMA-48, and xterm's private modes).
const (
	enterScreen = "\x1b[?1049h\x1b[?25l" // a screen of its own, without a cursor
	leaveScreen = "\x1b[?25h\x1b[?1049l"
	home        = "\x1b[H"
	eraseLine   = "\x1b[K" // up to its end
	eraseBelow  = "\x1b[J"
)

// Run writes something, once or until ctx ends. A terminal shows it in the same
// place, on a screen of its own, and keeps what was shown last. Elsewhere an empty
// line follows each time.
func (w *Watch) Run(ctx context.Context, env *Env, write func() error) (err error) {
	if *w == 0 {
		return write()
	}
	show := writeAgain(env, write)
	if env.terminal(env.Stdout).Width > 0 {
		s := &screen{env: env, interval: time.Duration(*w), write: write}
		if _, err := io.WriteString(env.Stdout, enterScreen); err != nil {
			return err
		}
		defer func() {
			_, writeErr := io.WriteString(env.Stdout, leaveScreen+s.last)
			err = errors.Join(err, writeErr)
		}()
		show = s.show
	}
	tick := time.NewTicker(time.Duration(*w))
	defer tick.Stop()
	for {
		if err := show(); err != nil {
			return UnlessEnded(ctx, err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// writeAgain writes an empty line between the times.
func writeAgain(env *Env, write func() error) func() error {
	again := false
	return func() error {
		if again {
			if err := env.Printf("\n"); err != nil {
				return err
			}
		}
		again = true
		return write()
	}
}

// screen shows something in the same place of a terminal.
type screen struct {
	env      *Env
	interval time.Duration
	write    func() error
	last     string // what was written last
}

func (s *screen) show() error {
	device := s.env.terminal(s.env.Stdout)
	text, err := s.capture(device.Width)
	if err != nil {
		return err
	}
	s.last = text
	title := fmt.Sprintf("every %s, %s; Control-C ends it", s.interval, s.env.Now().In(s.env.Zone).Format(time.TimeOnly))
	if device.Color {
		title = dim.paint(title)
	}
	lines := strings.Split(strings.TrimSuffix(title+"\n"+text, "\n"), "\n")
	if most := device.Height; most > 1 && len(lines) > most {
		more := "... " + Counted(len(lines)-most+1, "more line")
		lines = append(lines[:most-1], more)
	}
	_, err = io.WriteString(s.env.Stdout, home+strings.Join(lines, eraseLine+"\n")+eraseLine+eraseBelow)
	return err
}

// capture is what is written for a terminal of that width.
func (s *screen) capture(width int) (string, error) {
	var b bytes.Buffer
	stdout, terminal := s.env.Stdout, s.env.Terminal
	s.env.Stdout, s.env.Terminal = &b, func(io.Writer) int { return width }
	defer func() { s.env.Stdout, s.env.Terminal = stdout, terminal }()
	err := s.write()
	return b.String(), err
}

// UnlessEnded is nil if the user ended the command, which fails what is going
// on then.
func UnlessEnded(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	return nil
}
