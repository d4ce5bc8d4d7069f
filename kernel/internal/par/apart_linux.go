//go:build linux && (amd64 || arm64)

package par

import (
	"runtime"
	"syscall"
	"unsafe"
)

// affinity has a bit for each processor that a thread may run on.
type affinity [16]uint64

// processorHere returns the number of the processor that runs the caller, -1
// where that is not known.
func processorHere() int {
	var c uint32
	if _, _, e := syscall.RawSyscall(sysGetcpu, uintptr(unsafe.Pointer(&c)), 0, 0); e != 0 {
		return -1
	}
	return int(c)
}

// moveFrom has the calling thread run on another processor than c, if there is
// one for it: it may come back later, since its affinity stays as it was.
func moveFrom(c int) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var all, others affinity
	size, _, e := syscall.RawSyscall(syscall.SYS_SCHED_GETAFFINITY, 0, unsafe.Sizeof(all), uintptr(unsafe.Pointer(&all)))
	if e != 0 || c/64 >= len(all) {
		return
	}
	others = all
	others[c/64] &^= 1 << (c % 64)
	if others == all || others == (affinity{}) {
		return
	}
	if _, _, e = syscall.RawSyscall(syscall.SYS_SCHED_SETAFFINITY, 0, size, uintptr(unsafe.Pointer(&others))); e == 0 {
		syscall.RawSyscall(syscall.SYS_SCHED_SETAFFINITY, 0, size, uintptr(unsafe.Pointer(&all)))
	}
}
