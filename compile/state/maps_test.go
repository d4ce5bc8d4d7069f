package state

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// The keys of a map come in one order, which two walks of equal maps share.
func TestMapOf_order(t *testing.T) {
	type key struct {
		on   bool
		name string
		at   [2]int8
		n    uint16
	}
	m, want := map[key]int{}, []any{}
	for _, on := range []bool{false, true} {
		for _, name := range []string{"", "a", "b"} {
			for _, at := range []int8{-3, 0, 7} {
				for n := range uint16(2) {
					k := key{on, name, [2]int8{1, at}, n}
					m[k], want = 1, append(want, k)
				}
			}
		}
	}
	of := MapOf[key, int]()
	for range 20 {
		require.Equal(t, want, of.entries(unsafe.Pointer(&m)))
	}
}
