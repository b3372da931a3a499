package text_test

import (
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/text"
)

func TestText(t *testing.T) {
	t.Parallel()
	tests := map[time.Duration]string{
		0:                                "0 s",
		time.Millisecond:                 "1 s",
		59 * time.Second:                 "59 s",
		60 * time.Second:                 "1 min",
		61 * time.Second:                 "1 min 1 s",
		3*time.Hour + 12*time.Minute:     "3 h 12 min",
		3*time.Hour + 12*time.Second:     "3 h",
		49 * time.Hour:                   "2 d 1 h",
		400 * 24 * time.Hour:             "1 y 35 d",
		10*time.Second - time.Nanosecond: "10 s",
	}
	for d, want := range tests {
		if got := text.Text(d); got != want {
			t.Errorf("Text(%s) is %q, want %q", d, got, want)
		}
	}
}
