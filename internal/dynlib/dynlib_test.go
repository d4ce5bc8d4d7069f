package dynlib

import (
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/internal/testkit/clib"
)

func TestCallsFunctionsOfALibrary(t *testing.T) {
	so := clib.Text(t, `
		int sum(int a, int b, int c, int d, int e, int f, int g, int h, int i, int j, int k) {
			return a + 2*b + 3*c + 4*d + 5*e + 6*f + 7*g + 8*h + 9*i + 10*j + 11*k;
		}
		void fill(unsigned char *p, unsigned long n) { while (n--) p[n] = (unsigned char)n; }
	`)
	l, err := Open("/no/such/library.so", so)
	require.NoError(t, err)
	require.Equal(t, so, l.Name())
	require.Zero(t, l.Lookup("product"))
	require.Equal(t, int32(506), int32(Call(l.Lookup("sum"), 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)))
	bytes := make([]byte, 200)
	Call(l.Lookup("fill"), uintptr(unsafe.Pointer(&bytes[0])), uintptr(len(bytes)))
	require.Equal(t, byte(199), bytes[199])
}

func TestFindsFunctions(t *testing.T) {
	l, err := Open(clib.Text(t, "int one() { return 1; }\nint two() { return 2; }"))
	require.NoError(t, err)
	var one, two, three, four uintptr
	require.Empty(t, l.Find(map[string]*uintptr{"two": &two, "one": &one}))
	require.Equal(t, int32(2), int32(Call(two)))
	for range 10 {
		require.Equal(t, "four", l.Find(map[string]*uintptr{"two": &two, "one": &one, "three": &three, "four": &four}))
	}
}

// The loader keeps its error by thread, and goroutines change threads.
func TestReasonsAreOfTheirOwnThread(t *testing.T) {
	if !loads || runtime.GOOS == "windows" {
		t.Skip("no such loader here")
	}
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			name := filepath.Join("/no/such", strconv.Itoa(i)+".so")
			for range 2000 {
				if _, err := Open(name); !strings.Contains(err.Error(), name+": ") || strings.HasSuffix(err.Error(), ": ") {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
}

func TestAbsentLibrariesAreNamedInOneLine(t *testing.T) {
	_, err := Open("/no/such/one.so", "/no/such/two.so")
	require.ErrorContains(t, err, "/no/such/one.so")
	require.ErrorContains(t, err, "; ")
	require.ErrorContains(t, err, "/no/such/two.so")
	require.NotContains(t, err.Error(), "\n")
	_, err = Open()
	require.ErrorContains(t, err, "no library is named")
}
