package array

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// TestHugePages_areAskedFor: the system's list of the process's memory has the mark hg where they are.
func TestHugePages_areAskedFor(t *testing.T) {
	if b, err := os.ReadFile("/sys/kernel/mm/transparent_hugepage/enabled"); err != nil || strings.Contains(string(b), "[never]") {
		t.Skip("the system has no huge pages for programs that ask for them")
	}
	for _, n := range []int{64 << 20, 4 << 20, 1 << 20} {
		s := NewStorage(n)
		middle := uint64(uintptr(unsafe.Pointer(unsafe.SliceData(s.Bytes())))) + uint64(n)/2
		flags := flagsAt(t, middle)
		if flags == "" {
			t.Skip("the system lists no flags of memory")
		}
		if n >= 2*hugePage {
			require.Contains(t, strings.Fields(flags), "hg", n)
		}
		s.Bytes()[0], s.Bytes()[n-1] = 1, 1
	}
	askForHugePages(nil)
}

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
