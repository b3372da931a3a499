// Command calendar-vectors writes reference vectors for calendar events: random timers, and what systemd-analyze makes
// of them. It needs systemd-analyze; the columns are those of testdata/calendar/systemd.tsv.
//
//	go run ./scripts/calendar-vectors -n 1000 -seed 7 > more.tsv
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"time"
)

const elapses = 5

func main() {
	log.SetFlags(0)
	n := flag.Int("n", 1000, "number of vectors")
	seed := flag.Uint64("seed", 1, "seed of the random timers")
	flag.Parse()
	g := &generator{rand.New(rand.NewPCG(*seed, 0))}
	out := bufio.NewWriter(os.Stdout)
	for range *n {
		timer, base := g.timer(), g.base()
		row := append([]string{timer, base.Format(time.RFC3339)}, reference(timer, base)...)
		fmt.Fprintln(out, strings.Join(row, "\t"))
	}
	if err := out.Flush(); err != nil {
		log.Fatal(err)
	}
}

// reference asks systemd-analyze for the normal form and the next elapses; "!" when it refuses the timer.
func reference(timer string, base time.Time) []string {
	cmd := exec.Command("systemd-analyze", "calendar", fmt.Sprintf("--iterations=%d", elapses),
		"--base-time="+base.Format("2006-01-02 15:04:05 UTC"), "--", timer)
	cmd.Env = append(os.Environ(), "TZ=UTC", "LC_ALL=C")
	text, err := cmd.Output()
	if err != nil {
		if refused := (*exec.ExitError)(nil); !errors.As(err, &refused) {
			log.Fatalf("cannot run systemd-analyze: %v", err)
		}
		return []string{"!"}
	}
	var row []string
	for line := range strings.Lines(string(text)) {
		label, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch {
		case label == "Normalized form":
			row = append(row, value)
		case value == "never":
			row = append(row, value)
		case label == "Next elapse", strings.HasPrefix(label, "Iter. #"):
			at, err := time.Parse("Mon 2006-01-02 15:04:05 MST", value)
			if err != nil {
				log.Fatalf("systemd-analyze printed %q: %v", value, err)
			}
			row = append(row, at.Format(time.RFC3339))
		}
	}
	return row
}
