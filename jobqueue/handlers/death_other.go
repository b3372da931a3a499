//go:build !linux

package handlers

import "os/exec"

// Elsewhere a program goes on when this process is killed.
func endsWithExecutor(*exec.Cmd) (release func()) { return func() {} }
