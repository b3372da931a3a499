package handlers

import (
	"os/exec"
	"syscall"
)

// ownGroup starts the program in a new process group, whose id is the program's.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func terminateGroup(cmd *exec.Cmd) { signalGroup(cmd, syscall.SIGTERM) }
func killGroup(cmd *exec.Cmd)      { signalGroup(cmd, syscall.SIGKILL) }

// signalGroup signals all processes of the group; that there are none any more
// is no error. The group's id is not given to others while one of them lives.
func signalGroup(cmd *exec.Cmd, signal syscall.Signal) {
	_ = syscall.Kill(-cmd.Process.Pid, signal)
}
