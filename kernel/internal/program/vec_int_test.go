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
	"github.com/gofx-dev/gofx/kernel/internal/random"
)

var intTypes = []array.DType{array.I8, array.U8, array.I16, array.U16, array.I32, array.U32, array.U32, array.U32}

// intOps are the operations on integers that strips have: all but quotients and powers.
var intOps = []opcode.Code{
	opcode.OpAdd, opcode.OpSub, opcode.OpMul, opcode.OpMulHi, opcode.OpMin, opcode.OpMax, opcode.OpNeg, opcode.OpAbs, opcode.OpSign,
	opcode.OpAnd, opcode.OpOr, opcode.OpXor, opcode.OpNot, opcode.OpShl, opcode.OpShr,
}

// newIntProgram writes a random program of integers, bools and conversions, among them both halves of the
// element's index and of a key, which is the last input.
func newIntProgram(r *rand.Rand, steps int) Program {
	m := &programMaker{r: r}
	types := []array.DType{array.I8, array.U8, array.I16, array.U16, array.I32, array.U32, array.Bool, array.F32}
	for _, d := range types {
		m.p.Inputs, m.p.Outputs = append(m.p.Inputs, d), append(m.p.Outputs, d)
	}
	m.p.Inputs = append(m.p.Inputs, array.U64)
	for _, k := range []struct {
		d    array.DType
		bits uint64
	}{{array.U64, 32}, {array.U32, 0xd2511f53}, {array.U32, 7}, {array.I8, ^uint64(0)}, {array.U8, 200}, {array.I16, 3}, {array.U16, 9}, {array.I32, 0},
		{array.Bool, 1}, {array.F32, 0x40200000}} {
		c := opcode.RegClassOf(k.d)
		m.p.Consts = append(m.p.Consts, Instr{Op: opcode.OpConst, DType: k.d, Dst: uint16(len(m.regs[c])), Imm: k.bits})
		m.regs[c] = append(m.regs[c], k.d)
	}
	for i, d := range m.p.Inputs {
		m.put(Instr{Op: opcode.OpInput, DType: d, Imm: uint64(i)})
	}
	m.halves(Instr{Op: opcode.OpCast, DType: array.U64, From: array.U64, A: uint16(len(m.regs[opcode.RegI64]) - 1)})
	m.halves(Instr{Op: opcode.OpCast, DType: array.U64, From: array.I64, A: m.fresh(Instr{Op: opcode.OpIndex, DType: array.I64})})
	for range steps {
		m.integer(types)
	}
	for i, d := range m.p.Outputs {
		m.p.Code = append(m.p.Code, Instr{Op: opcode.OpOutput, DType: d, A: m.pick(d), Imm: uint64(i)})
	}
	for c := range m.regs {
		m.p.Regs[c] = len(m.regs[c])
	}
	return m.p
}

// fresh adds an instruction that gives a new register.
func (m *programMaker) fresh(in Instr) uint16 {
	in.Dst = uint16(len(m.regs[opcode.RegI64]))
	m.regs[opcode.RegI64] = append(m.regs[opcode.RegI64], in.DType)
	m.p.Code = append(m.p.Code, in)
	return in.Dst
}

// halves adds the halves of a value of 64 bits, which an instruction gives.
func (m *programMaker) halves(in Instr) {
	whole := m.fresh(in)
	high := m.fresh(Instr{Op: opcode.OpShr, DType: array.U64, A: whole, B: 0})
	m.fresh(Instr{Op: opcode.OpCast, DType: array.U32, From: array.U64, A: whole})
	m.fresh(Instr{Op: opcode.OpCast, DType: array.U32, From: array.U64, A: high})
}

func (m *programMaker) integer(types []array.DType) {
	d := intTypes[m.r.IntN(len(intTypes))]
	switch m.r.IntN(8) {
	case 0:
		from, to := types[m.r.IntN(len(types))], types[m.r.IntN(len(types))]
		m.put(Instr{Op: opcode.OpCast, DType: to, From: from, A: m.pick(from)})
	case 1:
		m.put(Instr{Op: opcode.OpSelect, DType: d, A: m.pick(array.Bool), B: m.pick(d), C: m.pick(d)})
	case 2:
		from := types[m.r.IntN(len(types)-1)]
		m.put(Instr{Op: opcode.OpEq + opcode.Code(m.r.IntN(6)), DType: array.Bool, From: from, A: m.pick(from), B: m.pick(from)})
	case 3:
		op := []opcode.Code{opcode.OpAnd, opcode.OpOr, opcode.OpXor, opcode.OpNot, opcode.OpMin, opcode.OpMax}[m.r.IntN(6)]
		m.put(Instr{Op: op, DType: array.Bool, A: m.pick(array.Bool), B: m.pick(array.Bool)})
	default:
		op := intOps[m.r.IntN(len(intOps))]
		if op == opcode.OpMulHi {
			d = array.U32
		}
		m.put(Instr{Op: op, DType: d, A: m.pick(d), B: m.pick(d)})
	}
}

// checkIntProgram compares both machines on the program of a seed.
func checkIntProgram(t *testing.T, seed uint64, steps int) {
	r := rand.New(rand.NewPCG(seed, 11))
	p := newIntProgram(r, steps)
	require.NoError(t, p.Check())
	shape := []int{1 + r.IntN(4), 1 + r.IntN(6), 2 + r.IntN(90)}
	var in, want, got []*array.Array
	for i, d := range p.Inputs {
		s := append([]int(nil), shape...)
		if d == array.U64 {
			in = append(in, array.FromSlice([]uint64{r.Uint64()}, 1))
			continue
		}
		for k := range s {
			if r.IntN(6) == 0 {
				s[k] = 1
			}
		}
		in = append(in, kerneltest.StridedArray(r, p.Inputs[i], s))
	}
	for _, d := range p.Outputs {
		want, got = append(want, array.New(d, shape...)), append(got, array.New(d, shape...))
	}
	n := want[0].Len()
	w := &par.Workspace{}
	p.run(cpu.Generic, w, wholeOut(want), in, 0, n)
	for _, level := range kerneltest.VecLevels() {
		require.True(t, p.runStrips(level, w, wholeOut(got), in, 0, n), "seed %d", seed)
		for i := range want {
			kerneltest.RequireEqualArrays(t, want[i], got[i], level, seed, p.Code)
			clear(got[i].Storage().Bytes())
		}
	}
}

// TestIntegerStrips runs random programs of integers on both machines.
func TestIntegerStrips(t *testing.T) {
	if len(kerneltest.VecLevels()) == 0 {
		t.Skip("no assembly for this processor or level")
	}
	for seed := range uint64(200) {
		checkIntProgram(t, seed, 1+int(seed%40))
	}
}

func FuzzIntegerStrips(f *testing.F) {
	f.Add(uint64(1), uint8(5))
	f.Fuzz(func(t *testing.T, seed uint64, steps uint8) { checkIntProgram(t, seed, int(steps)) })
}

// TestIndexInStrips: both halves of the index, from a multiple of the block on, across 2**32 and in the end of a
// strip.
func TestIndexInStrips(t *testing.T) {
	p := Program{
		Outputs: []array.DType{array.U32, array.I32, array.U32}, Regs: [3]int{0, 0, 5},
		Consts: []Instr{{Op: opcode.OpConst, DType: array.U64, Dst: 4, Imm: 32}},
		Code: []Instr{
			{Op: opcode.OpIndex, DType: array.I64},
			{Op: opcode.OpCast, DType: array.U64, From: array.I64, Dst: 1},
			{Op: opcode.OpShr, DType: array.U64, Dst: 2, A: 1, B: 4},
			{Op: opcode.OpCast, DType: array.U32, From: array.U64, Dst: 1, A: 1},
			{Op: opcode.OpCast, DType: array.I32, From: array.I64, Dst: 3, A: 0},
			{Op: opcode.OpCast, DType: array.U32, From: array.U64, Dst: 2, A: 2},
			{Op: opcode.OpOutput, DType: array.U32, A: 1},
			{Op: opcode.OpOutput, DType: array.I32, A: 3, Imm: 1},
			{Op: opcode.OpOutput, DType: array.U32, A: 2, Imm: 2},
		},
	}
	require.NoError(t, p.Check())
	for _, level := range kerneltest.VecLevels() {
		for _, from := range []int{0, 512, 1<<31 - 1024, 1<<32 - 1024, 5<<32 + 512} {
			for _, n := range []int{2, 63, 128, 1500, 2048} {
				got := []*array.Array{array.New(array.U32, n), array.New(array.I32, n), array.New(array.U32, n)}
				require.True(t, p.runStrips(level, &par.Workspace{}, programOut{got, []int{1 << 40}, from}, nil, from, from+n))
				for i := range n {
					require.Equal(t, uint32(from+i), array.Data[uint32](got[0])[i], level)
					require.Equal(t, int32(from+i), array.Data[int32](got[1])[i], level)
					require.Equal(t, uint32((from+i)>>32), array.Data[uint32](got[2])[i], level)
				}
			}
		}
	}
}

// TestConversionsOfUnsigned: rounding and saturation at the ends of u32's range.
func TestConversionsOfUnsigned(t *testing.T) {
	p := Program{
		Inputs: []array.DType{array.U32, array.F32}, Outputs: []array.DType{array.F32, array.U32}, Regs: [3]int{2, 0, 2},
		Code: []Instr{
			{Op: opcode.OpInput, DType: array.U32},
			{Op: opcode.OpInput, DType: array.F32, Imm: 1},
			{Op: opcode.OpCast, DType: array.F32, From: array.U32, Dst: 1},
			{Op: opcode.OpCast, DType: array.U32, From: array.F32, Dst: 1},
			{Op: opcode.OpOutput, DType: array.F32, A: 1},
			{Op: opcode.OpOutput, DType: array.U32, A: 1, Imm: 1},
		},
	}
	require.NoError(t, p.Check())
	r := rand.New(rand.NewPCG(13, 14))
	u := []uint32{0, 1, 1<<24 - 1, 1<<24 + 1, 1<<24 + 3, 1<<31 - 1, 1 << 31, 1<<31 + 128, 1<<31 + 129, 1<<31 + 384, 1<<32 - 129, 1<<32 - 128, 1<<32 - 1}
	f := []float32{0, -0.5, 0.99, 1<<31 - 128, 1 << 31, 1<<31 + 256, 1<<32 - 256, 1 << 32, 1 << 40, -1, -1 << 31, -1e30, float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1))}
	for len(u) < 4000 {
		u = append(u, r.Uint32())
	}
	for len(f) < len(u) {
		f = append(f, (r.Float32()*3-1)*(1<<31))
	}
	in := []*array.Array{array.FromSlice(u, len(u)), array.FromSlice(f, len(f))}
	for _, level := range kerneltest.VecLevels() {
		got := []*array.Array{array.New(array.F32, len(u)), array.New(array.U32, len(u))}
		require.True(t, p.runStrips(level, &par.Workspace{}, wholeOut(got), in, 0, len(u)))
		for i := range u {
			require.Equal(t, float32(u[i]), array.Data[float32](got[0])[i], level)
			require.Equal(t, uint32(min(max(array.IntFromFloat64(float64(f[i])), 0), 1<<32-1)), array.Data[uint32](got[1])[i], "%v %v", level, f[i])
		}
	}
}

// TestResultsOfScalars: what follows from scalars alone is no step of strips, until its slots are used up.
func TestResultsOfScalars(t *testing.T) {
	const sums = foldedSlots + 5
	p := Program{
		Inputs: []array.DType{array.U64, array.U32}, Outputs: []array.DType{array.U32}, Regs: [3]int{0, 0, 4},
		Consts: []Instr{{Op: opcode.OpConst, DType: array.U32, Dst: 3, Imm: 0x9e3779b9}},
		Code: []Instr{
			{Op: opcode.OpInput, DType: array.U64},
			{Op: opcode.OpInput, DType: array.U32, Dst: 1, Imm: 1},
			{Op: opcode.OpCast, DType: array.U32, From: array.U64, Dst: 2},
		},
	}
	for range sums {
		p.Code = append(p.Code, Instr{Op: opcode.OpAdd, DType: array.U32, Dst: 2, A: 2, B: 3}, Instr{Op: opcode.OpXor, DType: array.U32, Dst: 1, A: 1, B: 2})
	}
	p.Code = append(p.Code, Instr{Op: opcode.OpOutput, DType: array.U32, A: 1})
	require.NoError(t, p.Check())
	x := make([]uint32, 300)
	want := make([]uint32, len(x))
	for i := range x {
		x[i] = uint32(i * 77)
		key := uint32(12345)
		want[i] = x[i]
		for range sums {
			key += 0x9e3779b9
			want[i] ^= key
		}
	}
	in := []*array.Array{array.FromSlice([]uint64{1<<40 + 12345}, 1), array.FromSlice(x, len(x))}
	for _, level := range kerneltest.VecLevels() {
		got := []*array.Array{array.New(array.U32, len(x))}
		w := &par.Workspace{}
		w.Reserve(p.scratch(len(x), 1))
		require.True(t, p.runStrips(level, w, wholeOut(got), in, 0, len(x)))
		require.Equal(t, want, array.Data[uint32](got[0]), level)
		require.Zero(t, testing.AllocsPerRun(2, func() { p.run(level, w, wholeOut(got), in, 0, len(x)) }))
	}
}

// uniform is the program of rand, whose registers are not used again.
func uniform() Program {
	m := &programMaker{}
	for _, k := range []uint64{random.PhiloxM0, random.PhiloxM1, random.PhiloxW0, random.PhiloxW1, 0, 8, 32} {
		d := array.U32
		if k == 32 {
			d = array.U64
		}
		m.p.Consts = append(m.p.Consts, Instr{Op: opcode.OpConst, DType: d, Dst: uint16(len(m.regs[opcode.RegI64])), Imm: k})
		m.regs[opcode.RegI64] = append(m.regs[opcode.RegI64], d)
	}
	binary := func(op opcode.Code, x, y uint16) uint16 { return m.fresh(Instr{Op: op, DType: array.U32, A: x, B: y}) }
	halves := func(whole uint16) [2]uint16 {
		high := m.fresh(Instr{Op: opcode.OpShr, DType: array.U64, A: whole, B: 6})
		return [2]uint16{m.fresh(Instr{Op: opcode.OpCast, DType: array.U32, From: array.U64, A: whole}),
			m.fresh(Instr{Op: opcode.OpCast, DType: array.U32, From: array.U64, A: high})}
	}
	key := halves(m.fresh(Instr{Op: opcode.OpInput, DType: array.U64}))
	at := halves(m.fresh(Instr{Op: opcode.OpCast, DType: array.U64, From: array.I64, A: m.fresh(Instr{Op: opcode.OpIndex, DType: array.I64})}))
	ctr := [4]uint16{at[0], at[1], 4, 4}
	for r := range random.PhiloxRounds {
		if r > 0 {
			key = [2]uint16{binary(opcode.OpAdd, key[0], 2), binary(opcode.OpAdd, key[1], 3)}
		}
		ctr = [4]uint16{
			binary(opcode.OpXor, binary(opcode.OpXor, binary(opcode.OpMulHi, 1, ctr[2]), ctr[1]), key[0]), binary(opcode.OpMul, 1, ctr[2]),
			binary(opcode.OpXor, binary(opcode.OpXor, binary(opcode.OpMulHi, 0, ctr[0]), ctr[3]), key[1]), binary(opcode.OpMul, 0, ctr[0]),
		}
	}
	top := binary(opcode.OpShr, ctr[0], 5)
	m.p.Inputs, m.p.Outputs = []array.DType{array.U64}, []array.DType{array.F32}
	m.p.Consts = append(m.p.Consts, Instr{Op: opcode.OpConst, DType: array.F32, Dst: 0, Imm: uint64(math.Float32bits(0x1p-24))})
	m.p.Code = append(m.p.Code, Instr{Op: opcode.OpCast, DType: array.F32, From: array.U32, Dst: 1, A: top},
		Instr{Op: opcode.OpMul, DType: array.F32, Dst: 2, A: 1}, Instr{Op: opcode.OpOutput, DType: array.F32, A: 2})
	m.p.Regs = [3]int{3, 0, len(m.regs[opcode.RegI64])}
	return m.p
}

// TestRandomStrips: the numbers of a key and of indices are those of package random.
func TestRandomStrips(t *testing.T) {
	p := uniform()
	require.NoError(t, p.Check())
	const n = 1000
	in := []*array.Array{array.FromSlice([]uint64{7<<32 + 5}, 1)}
	for _, from := range []int{0, 1<<32 - 512, 3 << 40} {
		want := make([]float32, n)
		for i := range want {
			at := uint64(from + i)
			want[i] = random.UniformF32(random.Philox4x32([4]uint32{uint32(at), uint32(at >> 32)}, [2]uint32{5, 7})[0])
		}
		for _, level := range kerneltest.VecLevels() {
			got := []*array.Array{array.New(array.F32, n)}
			require.True(t, p.runStrips(level, &par.Workspace{}, programOut{got, []int{1 << 50}, from}, in, from, from+n))
			require.Equal(t, want, array.Data[float32](got[0]), level)
		}
	}
}
