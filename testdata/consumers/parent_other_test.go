//go:build !linux

package consumers_test

import "os/exec"

// tie does nothing: only Linux can tie a process to its parent.
func tie(*exec.Cmd) {}
