package program

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/opcode"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// two is a program of two inputs that gives in[0]+in[1], then what last computes of registers 0
// and 1, the inputs, or 2, the sum.
func two(last Instr) Program {
	last.DType, last.Dst = array.F32, 3
	in := func(i uint16) Instr { return Instr{Op: opcode.OpInput, DType: array.F32, Dst: i, Imm: uint64(i)} }
	out := func(i uint64, r uint16) Instr { return Instr{Op: opcode.OpOutput, DType: array.F32, A: r, Imm: i} }
	p := Program{Inputs: []array.DType{array.F32, array.F32}, Outputs: []array.DType{array.F32, array.F32}, Regs: [3]int{4, 0, 0}}
	p.Code = []Instr{in(0), in(1), {Op: opcode.OpAdd, DType: array.F32, Dst: 2, A: 0, B: 1}, out(0, 2)}
	if last.Op == opcode.OpOutput {
		p.Code = append(p.Code, out(1, last.A))
	} else {
		p.Code = append(p.Code, last, out(1, 3))
	}
	return p
}

// TestOverwrites: a result may lie where an operand does if nothing reads the operand after it is
// stored; then both give what they give apart, in strips, in blocks and at the ends of rows.
func TestOverwrites(t *testing.T) {
	for name, c := range map[string]struct {
		last Instr
		may  [2]bool // output 0 over each input
	}{
		"the sum again":     {Instr{Op: opcode.OpMul, A: 2, B: 2}, [2]bool{true, true}},
		"the first input":   {Instr{Op: opcode.OpMul, A: 0, B: 2}, [2]bool{false, true}},
		"the second":        {Instr{Op: opcode.OpSub, A: 2, B: 1}, [2]bool{true, false}},
		"both":              {Instr{Op: opcode.OpSub, A: 0, B: 1}, [2]bool{false, false}},
		"an input as it is": {Instr{Op: opcode.OpOutput, A: 1}, [2]bool{true, false}},
		"a new value":       {Instr{Op: opcode.OpNeg, A: 2}, [2]bool{true, true}},
	} {
		e := Elementwise{two(c.last)}
		require.NoError(t, e.Program.Check(), name)
		for i, may := range c.may {
			require.Equal(t, may, e.Overwrites(0, i), "%s: input %d", name, i)
			require.True(t, e.Overwrites(1, i), "%s: nothing comes after the last output", name)
			if !may {
				continue
			}
			for _, n := range []int{1, 63, 64, 1000, 5000} {
				in := []*array.Array{array.New(array.F32, n), array.New(array.F32, n)}
				for k := range n {
					array.Data[float32](in[0])[k], array.Data[float32](in[1])[k] = float32(k)/7, float32(3-k)
				}
				want := []*array.Array{array.New(array.F32, n), array.New(array.F32, n)}
				e.Run(&par.Workspace{}, want, in)
				got := []*array.Array{in[i], array.New(array.F32, n)}
				e.Run(&par.Workspace{}, got, in)
				for k := range want {
					require.Equal(t, array.Data[float32](want[k]), array.Data[float32](got[k]), "%s, %d elements, output %d", name, n, k)
				}
			}
		}
	}
	require.True(t, Elementwise{two(Instr{Op: opcode.OpNeg, A: 2})}.Overwrites(0, 5), "what it does not read")
}
