//go:build !unix

package proc

import (
	"os"
	"os/exec"
)

func group(*exec.Cmd) {}

func interrupt(p *os.Process) error { return p.Kill() }

func kill(id int) {
	if p, err := os.FindProcess(id); err == nil {
		_ = p.Kill()
	}
}

// Signals are those that end fxgen.
var Signals = []os.Signal{os.Interrupt}

// ExitCode is the exit code of a program that a signal ended.
func ExitCode(os.Signal) int { return 130 }
