package quant

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// The generators of the tiles write these numbers.
func TestQStoreLayout(t *testing.T) {
	var s qStore
	require.Equal(t, []uintptr{0, 8, 16, 24, 32, 36, 40, 44}, []uintptr{
		unsafe.Offsetof(s.scale), unsafe.Offsetof(s.dst), unsafe.Offsetof(s.ld), unsafe.Offsetof(s.cols),
		unsafe.Offsetof(s.hi), unsafe.Offsetof(s.flip), unsafe.Offsetof(s.zero), unsafe.Offsetof(s.lo)})
	var p qPlaneTile
	require.Equal(t, []uintptr{64, 72, 80, 84, 88, 92, 96, 104, 112, 120, 124, 128}, []uintptr{
		unsafe.Offsetof(p.channels), unsafe.Offsetof(p.mask), unsafe.Offsetof(p.flip), unsafe.Offsetof(p.zero),
		unsafe.Offsetof(p.lo), unsafe.Offsetof(p.hi), unsafe.Offsetof(p.form), unsafe.Offsetof(p.residual),
		unsafe.Offsetof(p.adds), unsafe.Offsetof(p.addFlip), unsafe.Offsetof(p.addZero), unsafe.Offsetof(p.addScale)})
	var g qGroupTile
	require.Equal(t, []uintptr{40, 48, 56, 64, 72, 80, 88, 96, 104, 112, 116, 120, 124}, []uintptr{
		unsafe.Offsetof(g.b), unsafe.Offsetof(g.step), unsafe.Offsetof(g.bias), unsafe.Offsetof(g.scale), unsafe.Offsetof(g.dst),
		unsafe.Offsetof(g.ld), unsafe.Offsetof(g.parts), unsafe.Offsetof(g.blocks), unsafe.Offsetof(g.channels),
		unsafe.Offsetof(g.flip), unsafe.Offsetof(g.zero), unsafe.Offsetof(g.lo), unsafe.Offsetof(g.hi)})
}

// qPeak measures the rate of VPDPBUSD in operations a nanosecond, 0 without it.
func qPeak() float64 {
	if !qVNNI() {
		return 0
	}
	const turns = 200000
	return turns * 24 * 128 / float64(shortest(func() { qPeakVNNI(turns) }).Nanoseconds())
}
