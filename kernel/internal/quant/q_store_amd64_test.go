package quant

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// The generator of the tile writes these numbers.
func TestQStoreLayout(t *testing.T) {
	var s qStore
	require.Equal(t, []uintptr{0, 8, 16, 24, 32, 36, 40, 44}, []uintptr{
		unsafe.Offsetof(s.scale), unsafe.Offsetof(s.dst), unsafe.Offsetof(s.ld), unsafe.Offsetof(s.cols),
		unsafe.Offsetof(s.hi), unsafe.Offsetof(s.flip), unsafe.Offsetof(s.zero), unsafe.Offsetof(s.lo)})
}
