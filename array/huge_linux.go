package array

import (
	"syscall"
	"unsafe"
)

const (
	adviseHuge = 14      // MADV_HUGEPAGE, which package syscall lacks for some processors
	hugePage   = 2 << 20 // of amd64, and of arm64 with pages of 4 KB
)

// askForHugePages asks for huge pages for large memory that nobody has touched. A kernel that reads
// weights of a hundred megabytes otherwise waits for page tables: on virtual machines, where each
// look-up is two, ResNet-50 took up to a quarter longer next to another process, and differed from
// run to run. The system may refuse; then memory is as it was.
func askForHugePages(b []byte) {
	if len(b) < 2*hugePage {
		return
	}
	skip := -uintptr(unsafe.Pointer(unsafe.SliceData(b))) & (hugePage - 1)
	if whole := (uintptr(len(b)) - skip) &^ (hugePage - 1); whole > 0 {
		_ = syscall.Madvise(b[skip:skip+whole], adviseHuge)
	}
}
