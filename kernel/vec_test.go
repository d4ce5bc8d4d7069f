package kernel

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
)

// vecLevels are the levels with assembly that this machine and GOFX_CPU allow.
func vecLevels() []cpuLevel {
	var levels []cpuLevel
	for l := levelAVX2; l <= cpu.level; l++ {
		if stripCode(l) != nil {
			levels = append(levels, l)
		}
	}
	return levels
}

// edges are values at which functions change their ways.
var edges = func() []float32 {
	s := []float32{
		0, 1, -1, 0.5, 2, 3, 1.5, 10, 18, 88.7, 88.8, 89, 103.9, 104, 1.0 / 64, 1.0 / 256, 1 << 20, 1 << 23, 1 << 24, 1 << 31,
		math.MaxFloat32, math.SmallestNonzeroFloat32, 0x1p-126, 0x1p-127, 65504, 65520, 0x1p-24, 0x1p-25, 128, 255, 256, 32768,
		math.Pi / 2, math.Pi, math.Sqrt2, math.Sqrt2 / 2, 2.5, 3.5, float32(math.Inf(1)), float32(math.NaN()),
	}
	for _, v := range s {
		b := math.Float32bits(v)
		s = append(s, -v, math.Float32frombits(b+1), math.Float32frombits(b-1))
	}
	return s
}()

func sameFloat(a, b float32) bool {
	return math.Float32bits(a) == math.Float32bits(b) || a != a && b != b
}

func requireSame(t *testing.T, want, got []float32, what ...any) {
	t.Helper()
	for i := range want {
		if !sameFloat(want[i], got[i]) {
			require.Failf(t, "differs", "%v: element %d is %v (%#x), the twin gives %v (%#x)", what, i, got[i],
				math.Float32bits(got[i]), want[i], math.Float32bits(want[i]))
		}
	}
}

func TestFunctionLengths(t *testing.T) {
	for _, level := range vecLevels() {
		for n := range 2*maxStrip + 2 {
			x, got := make([]float32, n), make([]float32, n+1)
			want := make([]float32, n)
			for i := range x {
				x[i] = float32(i) / 10
			}
			got[n] = 7
			applyTwin(OpExp, want, x)
			applyFunction(level, OpExp, got[:n], x)
			requireSame(t, want, got[:n], level, n)
			require.Equal(t, float32(7), got[n])
		}
	}
}

// programMaker writes random programs of what the strip machine has steps for.
type programMaker struct {
	r    *rand.Rand
	p    Program
	regs [3][]array.DType // the type in every register
}

func (m *programMaker) put(in Instr) {
	c := RegClassOf(in.DType)
	n := len(m.regs[c])
	in.Dst = uint16(m.r.IntN(n))
	if in.Op == OpInput || m.r.IntN(3) > 0 || m.fixed(c, in.Dst) {
		in.Dst = uint16(n)
		m.regs[c] = append(m.regs[c], in.DType)
	} else {
		m.regs[c][in.Dst] = in.DType
	}
	m.p.Code = append(m.p.Code, in)
}

func (m *programMaker) fixed(c RegClass, r uint16) bool {
	for _, k := range m.p.Consts {
		if RegClassOf(k.DType) == c && k.Dst == r {
			return true
		}
	}
	return false
}

// pick returns a register that holds a value of type d.
func (m *programMaker) pick(d array.DType) uint16 {
	c := RegClassOf(d)
	var with []uint16
	for i, t := range m.regs[c] {
		if t == d {
			with = append(with, uint16(i))
		}
	}
	return with[m.r.IntN(len(with))]
}

var stripTypesAll = []array.DType{
	array.F32, array.F16, array.BF16, array.Bool, array.I32, array.I16, array.I8, array.U16, array.U8,
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
		c := RegClassOf(d)
		m.p.Consts = append(m.p.Consts, Instr{Op: OpConst, DType: d, Dst: uint16(len(m.regs[c])), Imm: bits})
		m.regs[c] = append(m.regs[c], d)
	}
	for i, d := range m.p.Inputs {
		m.put(Instr{Op: OpInput, DType: d, Imm: uint64(i)})
	}
	for range steps {
		m.random()
	}
	for i, d := range m.p.Outputs {
		m.p.Code = append(m.p.Code, Instr{Op: OpOutput, DType: d, A: m.pick(d), Imm: uint64(i)})
	}
	for c := range m.regs {
		m.p.Regs[c] = len(m.regs[c])
	}
	return m.p
}

func (m *programMaker) random() {
	d := []array.DType{array.F32, array.F32, array.F32, array.F16, array.BF16, array.I32, array.Bool}[m.r.IntN(7)]
	switch m.r.IntN(8) {
	case 0:
		to := stripTypesAll[m.r.IntN(len(stripTypesAll))]
		from := stripTypesAll[m.r.IntN(len(stripTypesAll))]
		m.put(Instr{Op: OpCast, DType: to, From: from, A: m.pick(from)})
	case 1:
		m.put(Instr{Op: OpSelect, DType: d, A: m.pick(array.Bool), B: m.pick(d), C: m.pick(d)})
	case 2:
		from := []array.DType{array.F32, array.BF16, array.I32, array.U8}[m.r.IntN(4)]
		op := OpEq + Code(m.r.IntN(6))
		if from.IsFloat() && m.r.IntN(7) == 0 {
			op = OpIsNaN
		}
		m.put(Instr{Op: op, DType: array.Bool, From: from, A: m.pick(from), B: m.pick(from)})
	default:
		var ops []Code
		for op := OpAdd; op < numCodes; op++ {
			if op.Accepts(d) && !codeTable[op].ToBool {
				ops = append(ops, op)
			}
		}
		m.put(Instr{Op: ops[m.r.IntN(len(ops))], DType: d, A: m.pick(d), B: m.pick(d), C: m.pick(d)})
	}
}

// randomArray fills an array of shape with values of all sizes and special ones.
func randomArray(r *rand.Rand, d array.DType, shape []int) *array.Array {
	a := array.New(d, shape...)
	switch d {
	case array.F32:
		for i, s := 0, array.Raw[float32](a); i < len(s); i++ {
			switch r.IntN(4) {
			case 0:
				s[i] = edges[r.IntN(len(edges))]
			case 1:
				s[i] = math.Float32frombits(r.Uint32())
			default:
				s[i] = float32(r.NormFloat64() * 3)
			}
		}
	case array.Bool:
		for i, s := 0, array.Raw[uint8](a); i < len(s); i++ {
			s[i] = uint8(r.IntN(2))
		}
	case array.I32:
		for i, s := 0, array.Raw[uint32](a); i < len(s); i++ {
			s[i] = r.Uint32() >> r.IntN(32)
		}
	default:
		if d.Size() == 2 {
			for i, s := 0, array.Raw[uint16](a); i < len(s); i++ {
				s[i] = uint16(r.Uint32())
			}
		} else {
			for i, s := 0, array.Raw[uint8](a); i < len(s); i++ {
				s[i] = uint8(r.Uint32())
			}
		}
	}
	return a
}

// TestStripsAgainstBlocks runs random programs on both machines.
func TestStripsAgainstBlocks(t *testing.T) {
	levels := vecLevels()
	if len(levels) == 0 {
		t.Skip("no assembly here")
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
			in = append(in, stridedArray(r, d, s))
		}
		for _, d := range p.Outputs {
			want, got = append(want, array.New(d, shape...)), append(got, array.New(d, shape...))
		}
		w := &Workspace{}
		n := want[0].Len()
		p.run(levelGeneric, w, wholeOut(want), in, 0, n)
		for _, level := range levels {
			if p.runStrips(level, w, wholeOut(got), in, 0, n) {
				ran++
				for i := range want {
					requireEqualArrays(t, want[i], got[i], level, k, p.Code)
				}
			}
			for _, o := range got {
				clear(o.Storage().Bytes())
			}
		}
	}
	require.Greater(t, ran, 50*len(levels))
}

// stridedArray is randomArray, now and then with gaps between the elements.
func stridedArray(r *rand.Rand, d array.DType, shape []int) *array.Array {
	if r.IntN(4) != 0 {
		return randomArray(r, d, shape)
	}
	wide := append(append([]int(nil), shape...), 2)
	a := randomArray(r, d, wide)
	v := &array.Array{}
	v.SetLayout(a, shape, a.Strides()[:len(shape)], 1)
	return v
}

// requireEqualArrays compares bits; all NaN are equal.
func requireEqualArrays(t *testing.T, want, got *array.Array, what ...any) {
	t.Helper()
	floats := func(a *array.Array) []float32 {
		f := make([]float32, a.Len())
		switch a.DType() {
		case array.F32:
			copy(f, array.Raw[float32](a))
		case array.F16, array.BF16:
			unpackHalfBlock(a.DType(), f, array.Raw[uint16](a)[:len(f)])
		}
		return f
	}
	if want.DType().IsFloat() {
		requireSame(t, floats(want), floats(got), what...)
		return
	}
	n := want.Len() * want.DType().Size()
	require.Equal(t, want.Storage().Bytes()[:n], got.Storage().Bytes()[:n], what...)
}
