//go:build linux || darwin

package swap

import (
	"os"
	"syscall"
)

// tryLock locks an open folder, unless others hold a lock that excludes it. done is also true
// where the file system has no locks.
func tryLock(d *os.File, shared bool) (done bool) {
	how := syscall.LOCK_EX
	if shared {
		how = syscall.LOCK_SH
	}
	err := syscall.Flock(int(d.Fd()), how|syscall.LOCK_NB)
	return err != syscall.EWOULDBLOCK && err != syscall.EINTR
}
