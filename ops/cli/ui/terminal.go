package ui

import (
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// Terminal is what is known of the device that a stream goes to.
type Terminal struct {
	Width int  // columns; 0: as many as there are, since it is no terminal
	Color bool // texts may be coloured
}

// terminal looks at a stream. Terminals get colours, unless NO_COLOR is set (https://no-color.org).
func (env *Env) terminal(w io.Writer) Terminal {
	var t Terminal
	if l, is := w.(*Lines); is {
		w = l.to
	}
	if env.Terminal != nil {
		t.Width = env.Terminal(w)
	} else if file, ok := w.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		t.Width = 80
		if width, _, err := term.GetSize(int(file.Fd())); err == nil && width > 0 {
			t.Width = width
		}
	}
	t.Color = t.Width > 0 && env.Getenv("NO_COLOR") == "" && env.Getenv("TERM") != "dumb"
	return t
}

// Width is the width of the terminal that standard output goes to; 0: it is none.
func (env *Env) Width() int { return env.terminal(env.Stdout).Width }

// style is a colour of a terminal: parameters of SGR (ECMA-48, 8.3.117). All are
// legible on a light and on a dark background. The yellow, green and cyan of most
// terminals are not, on white, so these are of the palette of 256 colours.
type style string

const (
	plain  style = ""
	bold   style = "1"
	dim    style = "2"
	red    style = "31"
	green  style = "38;5;28"
	yellow style = "38;5;130"
	cyan   style = "38;5;31"
)

// paint writes a text in a colour, if the terminal has any.
func (t Terminal) paint(s style, text string) string {
	if !t.Color || s == plain || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}

// state writes a text that begins with a word for a state in the colour of that.
func (t Terminal) state(text string) string {
	word, _, _ := strings.Cut(text, " ")
	return t.paint(stateStyles[strings.ToLower(word)], text)
}

// stateStyles are the colours of the words for what became of ticks, jobs, events
// and parts of a service.
var stateStyles = map[string]style{
	"success": green, "done": green, "ok": green, "up": green, "published": green, "yes": plain,
	"submitted": plain, "running": cyan, "scheduled": cyan, "waiting": plain, "starting": cyan,
	"failed": red, "dead": red, "error": red, "down": red, "problem": red, "lost": red,
	"retrying": yellow, "late": yellow, "missed": yellow, "warning": yellow, "retry": yellow, "blocked": red,
	"skipped": dim, "cancelled": dim, "paused": yellow, "disabled": dim, "never": dim,
}
