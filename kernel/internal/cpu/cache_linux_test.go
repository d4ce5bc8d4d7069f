package cpu

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestListed(t *testing.T) {
	for list, n := range map[string]int{"": 0, "0": 1, "0-3": 4, "0-1,8-9": 4, "0,4,8": 3, "3-1": 1} {
		require.Equal(t, n, listed(list), "%q", list)
	}
}

// TestSystemCaches reads caches as Linux lists them, two processors a core, four
// cores a second level.
func TestSystemCaches(t *testing.T) {
	dir := t.TempDir()
	for i, c := range []struct{ level, kind, size, list string }{
		{"1", "Data", "64K", "0,32"}, {"1", "Instruction", "32K", "0,32"}, {"2", "Unified", "4096K", "0-3,32-35"}, {"3", "Unified", "36864K", "0-63"},
	} {
		folder := filepath.Join(dir, "index"+strconv.Itoa(i))
		require.NoError(t, os.Mkdir(folder, 0o755))
		for name, text := range map[string]string{"level": c.level, "type": c.kind, "size": c.size, "shared_cpu_list": c.list, "coherency_line_size": "128"} {
			require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text+"\n"), 0o644))
		}
	}
	var f found
	systemCaches(&f, dir)
	require.Equal(t, Caches{Line: 128, L1: 64 << 10, L2: 1 << 20, L3: 36 << 20}, f.caches())
	f = found{}
	systemCaches(&f, filepath.Join(dir, "none"))
	require.Equal(t, usual, f.caches())
}

// TestSystemAgrees compares the processor's report with Linux's.
func TestSystemAgrees(t *testing.T) {
	var f found
	systemCaches(&f, "/sys/devices/system/cpu/cpu0/cache")
	if f.size[1] == 0 {
		t.Skip("the system does not list caches")
	}
	require.Equal(t, f.caches().L1, DetectCaches().L1)
	require.Equal(t, f.caches().L3, DetectCaches().L3)
}
