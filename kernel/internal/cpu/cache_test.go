package cpu

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPretend(t *testing.T) {
	host := Caches{Line: 128, L1: 48 << 10, L2: 2 << 20, L3: 32 << 20}
	require.Equal(t, Caches{Line: 128, L1: 32 << 10, L2: 1 << 20}, pretend(host, "32K,1M,0"))
	require.Equal(t, Caches{Line: 128, L1: 65536, L2: 512 << 10, L3: 8 << 20}, pretend(host, "65536,512K,8M"))
	for _, text := range []string{"", "32K", "32K,1M", "32K,1M,0,", "32K,1M,0,0", "0,1M,0", "32K,0,0", "32k,1M,0", "-1,1M,0", ",,",
		"K,M,0", "32K,1M,4G", " 32K,1M,0", "32KK,1M,0", "32K,1M,9999999999", "32K,1M,2000M", "32K;1M,0"} {
		require.Equal(t, host, pretend(host, text), "%q", text)
	}
	// The variable is read before tests begin, which the test cache does not see.
	require.Equal(t, pretend(DetectCaches(), os.Getenv("GOFX_CACHE")), Cache())
}

func TestDetectedCachesMakeSense(t *testing.T) {
	c := DetectCaches()
	require.True(t, c.Line >= 16 && c.L1 >= 4<<10 && c.L2 >= c.L1 && (c.L3 == 0 || c.L3 >= c.L2), "%+v", c)
	t.Logf("%+v", c)
}

func TestFoundCaches(t *testing.T) {
	var f found
	require.Equal(t, usual, f.caches(), "nothing is said")
	f.add(1, 32<<10, 2, 64)
	f.add(2, 2<<20, 8, 64)
	require.Equal(t, Caches{Line: 64, L1: 32 << 10, L2: 512 << 10}, f.caches(), "four cores share a second level")
	f.add(3, 32<<20, 64, 64)
	require.Equal(t, 32<<20, f.caches().L3, "the last level is whole")
	f.add(2, 1<<20, 0, 48)
	require.Equal(t, Caches{Line: 64, L1: 32 << 10, L2: 1 << 20, L3: 32 << 20}, f.caches(), "a bad line and a bad count")
	f.add(4, 1<<30, 1, 64)
	f.add(0, 1<<30, 1, 64)
	require.Equal(t, 32<<20, f.caches().L3)
	f.add(3, 1<<10, 1, 64)
	require.Equal(t, usual, f.caches(), "a last level smaller than the second")
}

func TestUseCaches(t *testing.T) {
	small := Caches{Line: 64, L1: 8 << 10, L2: 64 << 10}
	before := UseCaches(small)
	require.Equal(t, small, Cache())
	require.Equal(t, small, UseCaches(before))
	require.Zero(t, testing.AllocsPerRun(10, func() { _ = Cache() }))
}
