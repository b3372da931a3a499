//go:build crashpoints && linux

package crashpoint

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
)

// On reports whether the program has crash points.
const On = true

// variable says where the process ends or stops.
const variable = "NEXTRUN_CRASHPOINT"

var chosen = choose(os.Getenv(variable))

// choice is a visit of a point, and what happens there.
type choice struct {
	point string
	stop  bool
	left  atomic.Int64 // visits before it
}

func choose(text string) *choice {
	if text == "" {
		return nil
	}
	parts := strings.Split(text, ":")
	if len(parts) != 3 {
		panic(variable + ": use ACTION:POINT:VISIT, such as kill:scheduler/marked:1")
	}
	c := &choice{point: parts[1], stop: parts[0] == "stop"}
	visit, err := strconv.ParseInt(parts[2], 10, 64)
	if err != nil || !c.stop && parts[0] != "kill" {
		panic(fmt.Sprintf("%s is %q: there is no such action or visit", variable, text))
	}
	c.left.Store(visit)
	return c
}

// At is a point: it ends or stops the process if this visit of the point is the chosen one.
func At(point string) {
	if chosen == nil || chosen.point != point || chosen.left.Add(-1) != 0 {
		return
	}
	fmt.Fprintln(os.Stderr, "crashpoint: "+point)
	signal := syscall.SIGKILL
	if chosen.stop {
		signal = syscall.SIGSTOP
	}
	// A signal to the thread arrives before the call returns.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := syscall.Tgkill(os.Getpid(), syscall.Gettid(), signal); err != nil {
		panic(err)
	}
}
