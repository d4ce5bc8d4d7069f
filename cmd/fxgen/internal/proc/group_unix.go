//go:build unix

package proc

import (
	"os"
	"os/exec"
	"syscall"
)

func group(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// interrupt asks a whole group to end: the go command removes its files then.
func interrupt(p *os.Process) error { return syscall.Kill(-p.Pid, syscall.SIGINT) }

// kill ends the remaining processes of a group; there may be none.
func kill(id int) { _ = syscall.Kill(-id, syscall.SIGKILL) }

// Signals are those that end fxgen.
var Signals = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}

// ExitCode is the exit code of a program that a signal ended.
func ExitCode(s os.Signal) int {
	if n, ok := s.(syscall.Signal); ok {
		return 128 + int(n)
	}
	return 1
}
