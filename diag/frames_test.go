package diag

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func siteOf() (s Site, ok bool) {
	ok = HereSite(&s)
	return s, ok
}

func TestSitesTellCallStacksApart(t *testing.T) {
	var same []Site
	for range 3 {
		s, ok := siteOf()
		if !ok {
			t.Skip("this architecture has no frame pointers")
		}
		same = append(same, s)
	}
	other, _ := siteOf()
	require.Equal(t, same[0], same[1])
	require.Equal(t, same[0], same[2])
	require.NotEqual(t, same[0], other, "another line")
	require.NotZero(t, same[0][1], "more than one frame")
}

func TestSitesEndWithTheStack(t *testing.T) {
	done := make(chan Site)
	go func() {
		s, _ := siteOf()
		done <- s
	}()
	if s := <-done; s[0] != 0 {
		require.Zero(t, s[MaxScan-1], "a goroutine's stack of a few frames")
	}
}

func TestCallersKeepsUserFrames(t *testing.T) {
	var pcs [MaxFrames]uintptr
	n := Callers(0, pcs[:])
	require.Equal(t, 1, n)
	require.Contains(t, Resolve(pcs[0]).Func, "TestCallersKeepsUserFrames")
	require.Contains(t, Here().File, "frames_test.go")
}
