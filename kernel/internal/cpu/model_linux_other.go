//go:build linux && !amd64

package cpu

import "syscall"

// systemModel returns the number by which arm64 names a core; other processors have no such file.
func systemModel() string {
	fd, err := syscall.Open("/sys/devices/system/cpu/cpu0/regs/identification/midr_el1", syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return ""
	}
	var b [32]byte
	n, err := syscall.Read(fd, b[:])
	_ = syscall.Close(fd)
	if err != nil || n < 2 {
		return ""
	}
	return string(b[:n-1])
}
