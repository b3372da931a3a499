package scheduler

import (
	"syscall"
	"time"
)

// timerSlack is how late a timer of the runtime may fire.
const timerSlack = 2 * time.Millisecond

// sleepPrecisely sleeps for a time of about timerSlack, or less if a signal arrives.
// The runtime's timers are exact to a millisecond only.
func sleepPrecisely(d time.Duration) {
	left := syscall.NsecToTimespec(d.Nanoseconds())
	_ = syscall.Nanosleep(&left, nil) // the caller looks at the time
}
