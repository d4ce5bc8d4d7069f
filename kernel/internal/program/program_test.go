package program

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/kernel/internal/opcode"
	"github.com/gofx-dev/gofx/kernel/internal/vmath"
)

// TestCodeNumbersAreFixed: the numbers are in generated code that users keep.
func TestCodeNumbersAreFixed(t *testing.T) {
	names := []string{
		"input", "const", "output", "index", "coord", "cast", "select", "add", "sub", "mul", "div", "floordiv", "rem",
		"mod", "pow", "min", "max", "neg", "abs", "sign", "reciprocal", "sqrt", "rsqrt", "exp", "expm1", "log", "log1p",
		"log2", "sin", "cos", "tan", "atan", "erf", "tanh", "sigmoid", "floor", "ceil", "round", "trunc", "fma", "isnan",
		"eq", "ne", "lt", "le", "gt", "ge", "and", "or", "xor", "not", "shl", "shr", "mulhi",
	}
	codes := opcode.Codes()
	require.GreaterOrEqual(t, len(codes), len(names))
	for i, n := range names {
		require.Equal(t, n, codes[i].String())
		require.Equal(t, i+1, int(codes[i]))
	}
	require.Equal(t, "code0", opcode.OpInvalid.String())
	require.Equal(t, "code250", opcode.Code(250).String())
	require.False(t, opcode.Code(250).Accepts(array.F32))
}

func TestProgramCheck(t *testing.T) {
	sound := func() Program {
		return Program{
			Inputs:  []array.DType{array.F32},
			Outputs: []array.DType{array.Bool},
			Consts:  []Instr{{Op: opcode.OpConst, DType: array.F32, Dst: 1}},
			Code: []Instr{
				{Op: opcode.OpInput, DType: array.F32},
				{Op: opcode.OpLt, DType: array.Bool, From: array.F32, B: 1},
				{Op: opcode.OpOutput, DType: array.Bool},
			},
			Regs: [3]int{2, 0, 1},
		}
	}
	p := sound()
	require.NoError(t, p.Check())
	for name, spoil := range map[string]func(p *Program){
		"constant's register": func(p *Program) { p.Consts[0].Dst = 2 },
		"constant's code":     func(p *Program) { p.Consts[0].Op = opcode.OpAdd },
		"input number":        func(p *Program) { p.Code[0].Imm = 1 },
		"input type":          func(p *Program) { p.Code[0].DType = array.BF16 },
		"operand's register":  func(p *Program) { p.Code[1].B = 2 },
		"operand's type":      func(p *Program) { p.Code[1].From = array.Invalid },
		"result's register":   func(p *Program) { p.Code[1].Dst = 1 },
		"result's type":       func(p *Program) { p.Code[1].DType = array.F32 },
		"output number":       func(p *Program) { p.Code[2].Imm = 1 << 40 },
		"unknown code":        func(p *Program) { p.Code[1].Op = 250 },
		"constant in code":    func(p *Program) { p.Code[0].Op = opcode.OpConst },
		"cast from nothing":   func(p *Program) { p.Code[1] = Instr{Op: opcode.OpCast, DType: array.F32} },
		"select's condition":  func(p *Program) { p.Code[1] = Instr{Op: opcode.OpSelect, DType: array.F32, A: 1} },
	} {
		p := sound()
		spoil(&p)
		require.ErrorIs(t, p.Check(), diag.Internal, name)
	}
}

// TestPowAgainstExactPowers uses bases of few bits, whose powers f64 holds.
func TestPowAgainstExactPowers(t *testing.T) {
	for _, base := range []float64{-3, -2, -1, 0.5, 1, 2, 3, 5, 10} {
		want := 1.0
		for n := range 23 {
			require.Equal(t, want, vmath.PowFloat(base, float64(n)))
			require.Equal(t, float32(want), vmath.PowFloat(float32(base), float32(n)))
			want *= base
		}
	}
	// Beyond 64 the sign follows the parity; 2**k stays within two units.
	for _, n := range []float64{65, 100, 101, 1000, -1001} {
		require.InEpsilon(t, math.Ldexp(1, int(n)), vmath.PowFloat(2, n), 0x1p-51)
		require.Equal(t, n == 65 || n == 101 || n == -1001, vmath.PowFloat(-2, n) < 0)
	}
	require.Equal(t, math.Inf(1), vmath.PowFloat(-2.0, 1e300))
	require.Equal(t, math.Inf(-1), vmath.PowFloat(-2.0, 5001))
	require.Equal(t, 0.0, vmath.PowFloat(2.0, -1e300))
	require.Equal(t, float32(math.Inf(1)), vmath.PowFloat(float32(3.0), 100))
}
