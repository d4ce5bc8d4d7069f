package program

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/opcode"
	"github.com/gofx-dev/gofx/kernel/internal/par"
	"github.com/gofx-dev/gofx/kernel/internal/vmath"
)

func TestFunctionLengths(t *testing.T) {
	for _, level := range kerneltest.VecLevels() {
		for n := range 2*vmath.MaxStrip + 2 {
			x, got := make([]float32, n), make([]float32, n+1)
			want := make([]float32, n)
			for i := range x {
				x[i] = float32(i) / 10
			}
			got[n] = 7
			vmath.ApplyTwin(opcode.OpExp, want, x)
			vmath.ApplyFunction(level, opcode.OpExp, got[:n], x)
			kerneltest.RequireSame(t, want, got[:n], level, n)
			require.Equal(t, float32(7), got[n])
		}
	}
}

// programMaker writes random programs of the operations that the strip machine
// supports.
type programMaker struct {
	r    *rand.Rand
	p    Program
	regs [3][]array.DType // the type in every register
}

func (m *programMaker) put(in Instr) {
	c := opcode.RegClassOf(in.DType)
	n := len(m.regs[c])
	in.Dst = uint16(m.r.IntN(n))
	if in.Op == opcode.OpInput || m.r.IntN(3) > 0 || m.fixed(c, in.Dst) {
		in.Dst = uint16(n)
		m.regs[c] = append(m.regs[c], in.DType)
	} else {
		m.regs[c][in.Dst] = in.DType
	}
	m.p.Code = append(m.p.Code, in)
}

func (m *programMaker) fixed(c opcode.RegClass, r uint16) bool {
	for _, k := range m.p.Consts {
		if opcode.RegClassOf(k.DType) == c && k.Dst == r {
			return true
		}
	}
	return false
}

// pick returns a register that holds a value of type d.
func (m *programMaker) pick(d array.DType) uint16 {
	c := opcode.RegClassOf(d)
	var with []uint16
	for i, t := range m.regs[c] {
		if t == d {
			with = append(with, uint16(i))
		}
	}
	return with[m.r.IntN(len(with))]
}

var stripTypesAll = []array.DType{
	array.F32, array.F16, array.BF16, array.Bool, array.I32, array.I16, array.I8, array.U32, array.U16, array.U8,
}

func newProgram(r *rand.Rand, steps int) Program {
	m := &programMaker{r: r}
	for _, d := range stripTypesAll {
		m.p.Inputs = append(m.p.Inputs, d, array.F32)
		m.p.Outputs = append(m.p.Outputs, d)
		bits := uint64(1)
		if d.IsFloat() {
			bits = uint64(map[array.DType]int{array.F32: 0x40200000, array.F16: 0x3e00, array.BF16: 0x3fc0}[d])
		}
		c := opcode.RegClassOf(d)
		m.p.Consts = append(m.p.Consts, Instr{Op: opcode.OpConst, DType: d, Dst: uint16(len(m.regs[c])), Imm: bits})
		m.regs[c] = append(m.regs[c], d)
	}
	for i, d := range m.p.Inputs {
		m.put(Instr{Op: opcode.OpInput, DType: d, Imm: uint64(i)})
	}
	for range steps {
		m.random()
	}
	for i, d := range m.p.Outputs {
		m.p.Code = append(m.p.Code, Instr{Op: opcode.OpOutput, DType: d, A: m.pick(d), Imm: uint64(i)})
	}
	for c := range m.regs {
		m.p.Regs[c] = len(m.regs[c])
	}
	return m.p
}

func (m *programMaker) random() {
	d := []array.DType{array.F32, array.F32, array.F32, array.F16, array.BF16, array.I32, array.U32, array.Bool}[m.r.IntN(8)]
	switch m.r.IntN(8) {
	case 0:
		to := stripTypesAll[m.r.IntN(len(stripTypesAll))]
		from := stripTypesAll[m.r.IntN(len(stripTypesAll))]
		m.put(Instr{Op: opcode.OpCast, DType: to, From: from, A: m.pick(from)})
	case 1:
		m.put(Instr{Op: opcode.OpSelect, DType: d, A: m.pick(array.Bool), B: m.pick(d), C: m.pick(d)})
	case 2:
		from := []array.DType{array.F32, array.BF16, array.I32, array.U32, array.U8}[m.r.IntN(5)]
		op := opcode.OpEq + opcode.Code(m.r.IntN(6))
		if from.IsFloat() && m.r.IntN(7) == 0 {
			op = opcode.OpIsNaN
		}
		m.put(Instr{Op: op, DType: array.Bool, From: from, A: m.pick(from), B: m.pick(from)})
	default:
		var ops []opcode.Code
		for op := opcode.OpAdd; op < opcode.Count; op++ {
			if op.Accepts(d) && !opcode.Table[op].ToBool {
				ops = append(ops, op)
			}
		}
		m.put(Instr{Op: ops[m.r.IntN(len(ops))], DType: d, A: m.pick(d), B: m.pick(d), C: m.pick(d)})
	}
}

// TestStripsAgainstBlocks runs random programs on both machines.
func TestStripsAgainstBlocks(t *testing.T) {
	levels := kerneltest.VecLevels()
	if len(levels) == 0 {
		t.Skip("no assembly for this processor or level")
	}
	r := rand.New(rand.NewPCG(5, 6))
	ran := 0
	for k := range 400 {
		p := newProgram(r, 1+k%25)
		require.NoError(t, p.Check())
		shape := []int{1 + r.IntN(5), 1 + r.IntN(7), 1 + r.IntN(150)}
		var in, want, got []*array.Array
		for _, d := range p.Inputs {
			s := append([]int(nil), shape...)
			for i := range s {
				if r.IntN(6) == 0 {
					s[i] = 1
				}
			}
			in = append(in, kerneltest.StridedArray(r, d, s))
		}
		for _, d := range p.Outputs {
			want, got = append(want, array.New(d, shape...)), append(got, array.New(d, shape...))
		}
		w := &par.Workspace{}
		n := want[0].Len()
		p.run(cpu.Generic, w, wholeOut(want), in, 0, n)
		for _, level := range levels {
			if p.runStrips(level, w, wholeOut(got), in, 0, n) {
				ran++
				for i := range want {
					kerneltest.RequireEqualArrays(t, want[i], got[i], level, k, p.Code)
				}
			}
			for _, o := range got {
				clear(o.Storage().Bytes())
			}
		}
	}
	require.Greater(t, ran, 50*len(levels))
}

// TestResultsInPlaceOfOperands runs programs of one output whose memory is that of an
// operand, at every level.
func TestResultsInPlaceOfOperands(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for k := range 60 {
		p := newProgram(r, 1+k%25)
		at := r.IntN(len(p.Outputs))
		d := p.Outputs[at]
		code := p.Code[:0]
		for _, in := range p.Code {
			if in.Op != opcode.OpOutput || in.Imm == uint64(at) {
				code = append(code, in)
			}
		}
		code[len(code)-1].Imm = 0
		p.Code, p.Outputs = code, []array.DType{d}
		require.NoError(t, p.Check())
		shape := []int{1 + r.IntN(5), 1 + r.IntN(9), 1 + r.IntN(400)}
		var in []*array.Array
		over := -1
		for i, t := range p.Inputs {
			s := slices.Clone(shape)
			if t == d && (over < 0 || r.IntN(2) == 0) {
				over = i
			} else if r.IntN(3) == 0 {
				s[r.IntN(3)] = 1
			}
			in = append(in, kerneltest.StridedArray(r, t, s))
		}
		want := array.New(d, shape...)
		Elementwise{Program: p}.Run(&par.Workspace{}, []*array.Array{want}, in)
		kerneltest.EachLevel(t, func(t *testing.T) {
			for _, threads := range []int{1, 3} {
				got := array.Clone(in[over])
				operands := slices.Clone(in)
				operands[over] = got
				Elementwise{Program: p}.Run(&par.Workspace{Threads: threads}, []*array.Array{got}, operands)
				kerneltest.RequireEqualArrays(t, want, got, k, p.Code)
			}
		})
	}
}

// Operands that are the same along rows, which lie whole, begin or end within blocks.
func TestRowsOfOneValue(t *testing.T) {
	r := rand.New(rand.NewPCG(51, 52))
	p := Program{Inputs: []array.DType{array.F32, array.F32}, Outputs: []array.DType{array.F32}, Regs: [3]int{3, 0, 0}, Code: []Instr{
		{Op: opcode.OpInput, DType: array.F32}, {Op: opcode.OpInput, DType: array.F32, Dst: 1, Imm: 1},
		{Op: opcode.OpMul, DType: array.F32, Dst: 2, A: 0, B: 1}, {Op: opcode.OpOutput, DType: array.F32, A: 2}}}
	for _, inner := range []int{1, 7, 9, 16, 49, 100, 196, 1000, 1500, 3136} {
		for _, outer := range [][2]int{{1, 40}, {3, 5}, {2, 64}} {
			batch, chans := outer[0], outer[1]
			x, y := array.New(array.F32, batch, chans, inner), array.New(array.F32, chans, 2)
			copy(array.Data[float32](x), kerneltest.RandomFloats(r, x.Len()))
			copy(array.Data[float32](y), kerneltest.RandomFloats(r, y.Len()))
			scales := array.Slice(y, 1, 1, 2, 1) // with gaps
			want := make([]float32, x.Len())
			for i, v := range array.Data[float32](x) {
				want[i] = v * array.Data[float32](y)[2*(i/inner%chans)+1]
			}
			for _, level := range kerneltest.VecLevels() {
				out := []*array.Array{array.New(array.F32, batch, chans, inner)}
				p.run(level, &par.Workspace{}, wholeOut(out), []*array.Array{x, scales}, 0, x.Len())
				kerneltest.RequireSame(t, want, array.Data[float32](out[0]), level, inner)
			}
		}
	}
}
