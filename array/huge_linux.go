package array

import (
	"syscall"
	"unsafe"
)

const (
	adviseHuge = 14      // MADV_HUGEPAGE, which package syscall lacks for some processors
	hugePage   = 2 << 20 // of amd64, and of arm64 with pages of 4 KB
	// hugeFrom is the size of memory from which on huge pages are asked for: less takes less time to
	// touch than a whole huge page takes to clear.
	hugeFrom = 512 << 10
)

// askForHugePages asks for huge pages for large memory that nobody has touched. A kernel that reads
// weights of a hundred megabytes otherwise waits for page tables: on virtual machines, where each
// look-up is two, ResNet-50 took up to a quarter longer next to another process, and differed from
// run to run. The system takes a microsecond or more for each page of 4 KB that is touched first: half
// of the time of folding and packing weights of 1 to 4 MB, as networks have them.
//
// The pages at both ends are asked for, too: Go's heap consists of pieces of 64 MB (4 MB on processors
// of 32 bits), aligned to their size, so that they belong to the heap, where weights are neighbours of weights.
// The system may refuse; then memory is as it was.
func askForHugePages(b []byte) {
	if len(b) < hugeFrom {
		return
	}
	begin := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	end := (begin + uintptr(len(b)) + hugePage - 1) &^ (hugePage - 1)
	begin &^= hugePage - 1
	_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, begin, end-begin, adviseHuge)
}
