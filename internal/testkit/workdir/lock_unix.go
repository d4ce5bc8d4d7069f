//go:build unix

package workdir

import (
	"os"
	"syscall"
)

// lock holds a file until unlock, or until the process ends; ok is false where somebody holds it.
func lock(path string) (unlock func(), ok bool) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, false
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close() // nothing was written
		return nil, false
	}
	return func() { _ = f.Close() }, true
}
