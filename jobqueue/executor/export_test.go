package executor

import "time"

// Hasten has an executor beat and compare often, for tests in which nobody else lives.
func Hasten(e *Executor) { e.tempo = tempo{20 * time.Millisecond, 20 * time.Millisecond} }
