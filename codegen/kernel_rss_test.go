//go:build unix

package codegen_test

import (
	"os/exec"
	"runtime"
	"syscall"
)

// maxRSS returns the most memory in bytes that a finished command took, with
// what it ran.
func maxRSS(cmd *exec.Cmd) int64 {
	n := int64(cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss)
	if runtime.GOOS == "linux" {
		n <<= 10
	}
	return n
}
