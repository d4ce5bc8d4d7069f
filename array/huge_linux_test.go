package array

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// TestHugePages_areAskedFor: the system's list of the process's memory has the mark hg where they are.
func TestHugePages_areAskedFor(t *testing.T) {
	if b, err := os.ReadFile("/sys/kernel/mm/transparent_hugepage/enabled"); err != nil || strings.Contains(string(b), "[never]") {
		t.Skip("the system has no huge pages for programs that ask for them")
	}
	probe, err := syscall.Mmap(-1, 0, 2*hugePage, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	require.NoError(t, err)
	defer func() { require.NoError(t, syscall.Munmap(probe)) }()
	if err := syscall.Madvise(probe, adviseHuge); err != nil || !strings.Contains(flagsAt(t, addressOf(probe)), "hg") {
		t.Skip("the system takes no such advice, as under emulation")
	}
	for _, n := range []int{64 << 20, 4 << 20, 1 << 20, hugeFrom, 1 << 10} {
		s := NewStorage(n)
		if n >= hugeFrom {
			for _, at := range []int{0, n / 2, n - 1} {
				require.Contains(t, strings.Fields(flagsAt(t, addressOf(s.Bytes())+uint64(at))), "hg", n)
			}
		}
		s.Bytes()[0], s.Bytes()[n-1] = 1, 1
	}
	askForHugePages(nil)
}

func addressOf(b []byte) uint64 { return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) }

// flagsAt returns the flags of the memory that an address lies in, by /proc/self/smaps.
func flagsAt(t *testing.T, at uint64) string {
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		return ""
	}
	defer f.Close()
	in := false
	for s := bufio.NewScanner(f); s.Scan(); {
		var from, to uint64
		if n, _ := fmt.Sscanf(s.Text(), "%x-%x", &from, &to); n == 2 {
			in = from <= at && at < to
		}
		if flags, ok := strings.CutPrefix(s.Text(), "VmFlags:"); ok && in {
			return flags
		}
	}
	return ""
}
