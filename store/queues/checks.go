package queues

import (
	"fmt"
	"strconv"

	"github.com/nextrun/nextrun/jobqueue"
)

// checkPriority says why a job's priority cannot be mapped.
func checkPriority(j jobqueue.Job) string {
	if j.Priority < jobqueue.PriorityLow || j.Priority > jobqueue.PriorityHigh {
		return fmt.Sprintf("priority is %d, and not between %d and %d", j.Priority, jobqueue.PriorityLow, jobqueue.PriorityHigh)
	}
	return ""
}

// isNumber reports whether a reference is a number of 64 bits.
func isNumber(ref string) bool {
	_, err := strconv.ParseInt(ref, 10, 64)
	return err == nil
}
