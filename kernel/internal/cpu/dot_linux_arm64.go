package cpu

import "syscall"

// detectDot reports whether the processor has dot products of bytes: a bit of
// the kernel's report to each process.
func detectDot() bool {
	fd, err := syscall.Open("/proc/self/auxv", syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	var b [1024]byte
	n, err := syscall.Read(fd, b[:])
	_ = syscall.Close(fd)
	if err != nil {
		return false
	}
	return auxiliary(b[:n], auxHWCAP)&hwcapDot != 0
}

const (
	auxHWCAP = 16      // the entry with the processor's features
	hwcapDot = 1 << 20 // ASIMDDP
)

// auxiliary returns the value of an entry of an auxiliary vector, 0 without it.
func auxiliary(b []byte, key uint64) uint64 {
	for ; len(b) >= 16; b = b[16:] {
		if LittleEndian.Uint64(b) == key {
			return LittleEndian.Uint64(b[8:])
		}
	}
	return 0
}
