//go:build !linux

package scheduler

import "time"

const timerSlack = time.Millisecond

func sleepPrecisely(d time.Duration) { time.Sleep(d) } //nolint:forbidigo // shorter than any work that it could hold up
