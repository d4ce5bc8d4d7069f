package peers

import (
	"os/exec"
	"syscall"
)

// endWithParent has the process killed when this one ends in whatever way: a
// stopped one would not notice that its input has ended.
func endWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
