package expr_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op/expr"
)

func TestRandomAgreesWithKernel(t *testing.T) {
	const n = 1000
	b := expr.NewBuilder()
	words := expr.Philox(b, b.ConstUint(array.U32, 0xa4093822), b.ConstUint(array.U32, 0x299f31d0),
		b.Add(b.Cast(b.Index(), array.U64), b.ConstUint(array.U64, math.MaxUint32-10)))
	u := expr.Uniform(b, words[2])
	z0, z1 := expr.Normal(b, words[0], words[1])
	p := b.Compile(words[3], u, z0, z1)
	require.NoError(t, p.Check())
	outs := []*array.Array{array.New(array.U32, n), array.New(array.F32, n), array.New(array.F32, n), array.New(array.F32, n)}
	var w kernel.Workspace
	kernel.Elementwise{Program: p}.Run(&w, outs, nil)
	for i := range n {
		c := uint64(math.MaxUint32-10) + uint64(i)
		want := kernel.Philox4x32([4]uint32{uint32(c), uint32(c >> 32)}, [2]uint32{0xa4093822, 0x299f31d0})
		x, y := kernel.NormalF32(want[0], want[1])
		require.Equal(t, want[3], array.Data[uint32](outs[0])[i])
		require.Equal(t, kernel.UniformF32(want[2]), array.Data[float32](outs[1])[i])
		require.Equal(t, x, array.Data[float32](outs[2])[i])
		require.Equal(t, y, array.Data[float32](outs[3])[i])
	}
}

func TestPhiloxFoldsToConstants(t *testing.T) {
	b := expr.NewBuilder()
	zero := b.ConstInt(array.U32, 0)
	got := expr.PhiloxBlock(b, [2]expr.Value{zero, zero}, [4]expr.Value{zero, zero, zero, zero})
	for i, want := range []uint64{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8} {
		bits, ok := got[i].ConstBits()
		require.True(t, ok)
		require.Equal(t, want, bits)
	}
}
