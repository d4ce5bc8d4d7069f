package diag

import (
	"runtime"
	"slices"
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

// Functions of the standard library that call back are not the user's.
func TestHereIsNotTheStandardLibrary(t *testing.T) {
	var at Pos
	want := Here().Line + 1
	slices.SortFunc([]int{2, 1}, func(a, b int) int { at = relay(); return a - b })
	require.Equal(t, want, at.Line)
	require.Equal(t, "frames_test.go", at.File[len(at.File)-len("frames_test.go"):])
	require.False(t, UserCode("slices.IndexFunc", slicesFile()))
}

func relay() Pos { return Resolve(callers()[1]) }

func callers() (pcs [4]uintptr) {
	Callers(1, pcs[:])
	return pcs
}

// slicesFile is where slices.IndexFunc is.
func slicesFile() (file string) {
	_ = slices.IndexFunc([]int{1}, func(int) bool {
		var pcs [1]uintptr
		runtime.Callers(2, pcs[:])
		f, _ := runtime.CallersFrames(pcs[:]).Next()
		file = f.File
		return true
	})
	return file
}
