//go:build !unix

package handlers

import "os/exec"

// Without process groups only the program itself is ended.
func ownGroup(*exec.Cmd)           {}
func terminateGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
func killGroup(cmd *exec.Cmd)      { _ = cmd.Process.Kill() }
