package program

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/opcode"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// withScalars computes x·f32(√(2·a)), or x where n is less than 3, and adds f32(a) + i32(n) to it: a
// is f64, n is i64, and registers are used again.
var withScalars = Program{
	Inputs: []array.DType{array.F32, array.F64, array.I64}, Outputs: []array.DType{array.F32}, Regs: [3]int{4, 3, 3},
	Consts: []Instr{{Op: opcode.OpConst, DType: array.F64, Dst: 1, Imm: math.Float64bits(2)}, {Op: opcode.OpConst, DType: array.I64, Dst: 1, Imm: 3}},
	Code: []Instr{
		{Op: opcode.OpInput, DType: array.F32, Dst: 0, Imm: 0},
		{Op: opcode.OpInput, DType: array.F64, Dst: 0, Imm: 1},
		{Op: opcode.OpMul, DType: array.F64, Dst: 2, A: 0, B: 1},
		{Op: opcode.OpSqrt, DType: array.F64, Dst: 2, A: 2},
		{Op: opcode.OpCast, DType: array.F32, From: array.F64, Dst: 1, A: 2},
		{Op: opcode.OpMul, DType: array.F32, Dst: 1, A: 0, B: 1},
		{Op: opcode.OpInput, DType: array.I64, Dst: 0, Imm: 2},
		{Op: opcode.OpLt, DType: array.Bool, From: array.I64, Dst: 2, A: 0, B: 1},
		{Op: opcode.OpSelect, DType: array.F32, Dst: 1, A: 2, B: 0, C: 1},
		{Op: opcode.OpCast, DType: array.I32, From: array.I64, Dst: 2, A: 0},
		{Op: opcode.OpCast, DType: array.F32, From: array.I32, Dst: 2, A: 2},
		{Op: opcode.OpCast, DType: array.F32, From: array.F64, Dst: 3, A: 0},
		{Op: opcode.OpAdd, DType: array.F32, Dst: 2, A: 2, B: 3},
		{Op: opcode.OpAdd, DType: array.F32, Dst: 1, A: 1, B: 2},
		{Op: opcode.OpOutput, DType: array.F32, A: 1},
	},
}

// TestStripsWithScalars: scalars of types that strips lack are computed once, with the same bits.
func TestStripsWithScalars(t *testing.T) {
	p := withScalars
	require.NoError(t, p.Check())
	r := rand.New(rand.NewPCG(3, 4))
	for _, level := range kerneltest.VecLevels() {
		for _, n := range []int{2, 3, 15, 16, 17, 100, 1000, 5000} {
			for _, i := range []int64{2, 3, -7} {
				x := array.New(array.F32, n)
				copy(array.Data[float32](x), kerneltest.RandomFloats(r, n))
				in := []*array.Array{x, array.Scalar(0.1 * float64(n)), array.FromSlice([]int64{i}, 1)}
				want, got := []*array.Array{array.New(array.F32, n)}, []*array.Array{array.New(array.F32, n)}
				w := &par.Workspace{}
				w.Reserve(p.scratch(n, 1))
				p.run(cpu.Generic, w, wholeOut(want), in, 0, n)
				require.True(t, p.runStrips(level, w, wholeOut(got), in, 0, n))
				kerneltest.RequireEqualArrays(t, want[0], got[0], level, n, i)
				require.Zero(t, testing.AllocsPerRun(2, func() { p.run(level, w, wholeOut(got), in, 0, n) }))
			}
		}
		// What is no scalar, and one element alone, is left to the other machine.
		for _, n := range []int{1, 4} {
			in := []*array.Array{array.New(array.F32, n), array.New(array.F64, n), array.New(array.I64, n)}
			require.False(t, p.runStrips(level, &par.Workspace{}, wholeOut([]*array.Array{array.New(array.F32, n)}), in, 0, n))
		}
	}
}
