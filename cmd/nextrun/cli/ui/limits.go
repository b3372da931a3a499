package ui

import (
	"strconv"
	"time"

	"github.com/spf13/cobra"
)

// LimitFlags are the flags of the limits of a task or a job.
type LimitFlags struct {
	RetryLimit, Concurrency CountFlag
	RetryDelay, Timeout     SecondsFlag
}

// Register adds the flags to a command about jobs of that kind, such as "jobs of the
// task".
func (f *LimitFlags) Register(command *cobra.Command, of, together string) {
	f.RetryDelay.AllowNone, f.Timeout.AllowNone = true, true
	flags := command.Flags()
	flags.Var(&f.RetryLimit, "retry-limit", "how often "+of+" is tried again after a failure, or none (default as its handler)")
	flags.Var(&f.RetryDelay, "retry-delay", "wait before the first retry, such as 90 or 1h30m, or none (default as its handler)")
	flags.Var(&f.Timeout, "timeout", "how long an attempt may take, or none (default as its handler)")
	flags.Var(&f.Concurrency, "concurrency", "how many "+together+" may run at once, or none (default none)")
}

// Number is the number of a flag, 0 for none.
func (f *CountFlag) Number() int {
	if f.Value == nil {
		return 0
	}
	return *f.Value
}

// Duration is the duration of a flag, 0 for none.
func (f *SecondsFlag) Duration() time.Duration {
	if f.Value == nil {
		return 0
	}
	return *f.Value
}

// SecondsUnlessZero writes a duration in whole seconds, and nothing for 0.
func SecondsUnlessZero(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return Seconds(d)
}

// NumberUnlessZero writes a number, and nothing for 0.
func NumberUnlessZero(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// SecondsOrNull is a duration in seconds as JSON has it: null for 0.
func SecondsOrNull(d time.Duration) *int64 {
	if d == 0 {
		return nil
	}
	seconds := int64(d / time.Second)
	return &seconds
}

// NumberOrNull is a number as JSON has it: null for 0.
func NumberOrNull(n int) *int {
	if n == 0 {
		return nil
	}
	return &n
}
