package handlers

import (
	"os/exec"
	"runtime"
	"syscall"
)

// endsWithExecutor makes the kernel kill the program when this process dies without having
// ended it, as by SIGKILL: its job is given to another executor then. The kernel
// looks at the thread that started the program (prctl(2), PR_SET_PDEATHSIG), so
// this goroutine keeps its thread until release is called, after the program's
// end. A goroutine that waits for a program has a thread to itself in any case.
//
// What the program has started itself is not killed, nor is a program that
// takes on another user.
func endsWithExecutor(cmd *exec.Cmd) (release func()) {
	runtime.LockOSThread()
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	return runtime.UnlockOSThread
}
