package program

import (
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/opcode"
	"github.com/gofx-dev/gofx/kernel/internal/par"
	"github.com/gofx-dev/gofx/kernel/internal/vmath"
)

// Elementwise runs Program over every element of the outputs, which all have the
// same shape. Inputs may be strided and broadcast to that shape by the usual
// rule: aligned at the last axis, a missing or unit axis repeats.
// It is the reference twin of every other code made from the same expression.
//
//gofx:kernel
type Elementwise struct {
	Program Program
}

// machine is the state of one run; it lives on the stack of Run.
type machine struct {
	p       *Program
	level   cpu.Level
	out, in []*array.Array
	shape   []int
	from    int // flat index of the outputs' first element
	start   int // flat index of the block's first element
	n       int // elements in the block
	blk     int // register length

	f32 []float32
	f64 []float64
	i64 []int64
	// alias has, for each register of each class in order, the number plus one of
	// the input whose memory the register stands for; 0 for a register proper.
	alias [3][]uint16

	stage  []uint64 // one block, for inputs that are gathered and then converted
	layout []int64  // inputLayout for each input
	stride int      // length of one inputLayout
	coord  []int64
}

// Run implements Step. It panics with a *diag.Error when the operands do not fit
// the program; it allocates nothing once w has the scratch that it needs.
func (e Elementwise) Run(w *par.Workspace, out, in []*array.Array) {
	checkOperands(&e.Program, out, in)
	total := out[0].Len()
	if grain := e.Program.grain(); w.Threads > 1 && total > grain {
		j := par.TakeJob[programJob](w)
		j.program, j.out, j.in = e.Program, out, in
		w.Parallel((total-1)/programBlock+1, grain/programBlock, j)
		par.PutJob(w, j)
		return
	}
	if total > 0 {
		e.Program.run(cpu.Host.Level, w, wholeOut(out), in, 0, total)
	}
}

// programOut is the output of a run: contiguous arrays for the elements of a
// shape from one on.
type programOut struct {
	arrays []*array.Array
	shape  []int
	from   int
}

func wholeOut(out []*array.Array) programOut { return programOut{out, out[0].Shape(), 0} }

// run computes the elements [lo, hi), at least one; lo is a multiple of
// programBlock. Instructions are inside, blocks of elements outside: the registers
// of a program are slices of a block's length that stay in the first cache, and
// choosing an instruction costs once a block. On amd64 strips do the same in the
// registers of the processor.
func (p *Program) run(level cpu.Level, w *par.Workspace, out programOut, in []*array.Array, lo, hi int) {
	if lo%programBlock != 0 {
		panic(programBug("a run begins inside a block"))
	}
	mark := w.Mark()
	// Both ways take their scratch from here, so that the scratch of a run does not
	// depend on the processor.
	par.Scratch[uint64](w, p.scratch(hi-lo, len(out.shape))/8)
	w.Release(mark)
	if p.runStrips(level, w, out, in, lo, hi) {
		return
	}
	m := machine{p: p, level: level, out: out.arrays, shape: out.shape, from: out.from, in: in}
	m.begin(w, registerLen(hi-lo))
	for m.start = lo; m.start < hi; m.start += m.n {
		m.n = min(m.blk, hi-m.start)
		for i := range p.Code {
			m.exec(&p.Code[i])
		}
	}
	w.Release(mark)
}

// begin gives m its registers, of so many elements, and fills those of constants.
func (m *machine) begin(w *par.Workspace, blk int) {
	p := m.p
	m.blk = blk
	m.f32 = par.Scratch[float32](w, p.Regs[opcode.RegF32]*m.blk)
	m.f64 = par.Scratch[float64](w, p.Regs[opcode.RegF64]*m.blk)
	m.i64 = par.Scratch[int64](w, p.Regs[opcode.RegI64]*m.blk)
	m.stage = par.Scratch[uint64](w, m.blk)
	for c := range m.alias {
		m.alias[c] = par.Scratch[uint16](w, p.Regs[c])
		clear(m.alias[c])
	}
	rank := len(m.shape)
	m.stride = layoutLen(rank)
	m.layout = par.Scratch[int64](w, len(p.Inputs)*m.stride)
	m.coord = par.Scratch[int64](w, rank+1)
	for i, d := range p.Inputs {
		if d != array.Invalid {
			m.setLayout(i)
		}
	}
	m.n = m.blk
	for i := range p.Consts {
		m.fillConst(&p.Consts[i])
	}
}

// Overwrites implements Overwriter: no instruction after the output's reads the input.
func (e Elementwise) Overwrites(out, in int) bool {
	type register struct {
		class opcode.RegClass
		n     uint16
	}
	holds, stored := map[register]bool{}, false
	for i := range e.Program.Code {
		c := &e.Program.Code[i]
		switch c.Op {
		case opcode.OpInput:
			if own := int(c.Imm) == in; stored && own {
				return false
			}
		case opcode.OpOutput:
			if stored && holds[register{opcode.RegClassOf(c.DType), c.A}] {
				return false
			}
			stored = stored || int(c.Imm) == out
			continue
		}
		for k, r := range [3]uint16{c.A, c.B, c.C} {
			if k < opcode.Table[c.Op].Arity && stored && holds[register{opcode.RegClassOf(operandType(c, k)), r}] {
				return false
			}
		}
		holds[register{opcode.RegClassOf(c.DType), c.Dst}] = c.Op == opcode.OpInput && int(c.Imm) == in
	}
	return true
}

// ScratchBytes implements Scratcher. Threads bring scratch of their own.
func (e Elementwise) ScratchBytes(out, in []*array.Array) int {
	if len(out) == 0 || out[0].Len() == 0 {
		return 0
	}
	return e.Program.scratch(out[0].Len(), out[0].Rank())
}

// scratch returns the most bytes of scratch that a run for n elements takes.
func (p *Program) scratch(n, rank int) int {
	blk := registerLen(n)
	size := alignScratch(p.Regs[opcode.RegF32]*blk*4) + alignScratch(p.Regs[opcode.RegF64]*blk*8) + alignScratch(p.Regs[opcode.RegI64]*blk*8) +
		alignScratch(blk*8) + alignScratch(len(p.Inputs)*layoutLen(rank)*8) + alignScratch((rank+1)*8)
	for _, r := range p.Regs {
		size += alignScratch(r * 2)
	}
	return max(size, p.stripScratch(rank))
}

func alignScratch(n int) int { return (n + array.Align - 1) &^ (array.Align - 1) }

// registerLen keeps small runs from clearing and filling whole blocks.
func registerLen(total int) int { return min(programBlock, (total+7)&^7) }

func checkOperands(p *Program, out, in []*array.Array) {
	if len(p.Outputs) == 0 || len(out) != len(p.Outputs) || len(in) < len(p.Inputs) {
		panic(programBug("the number of operands does not match the program"))
	}
	shape := out[0].Shape()
	for i, o := range out {
		if o.DType() != p.Outputs[i] {
			panic(programBug("an output is " + o.DType().String() + ", the program gives " + p.Outputs[i].String()))
		}
		if !slices.Equal(o.Shape(), shape) || !o.IsContiguous() {
			panic(programBug("outputs differ in shape or are not contiguous"))
		}
	}
	checkInputs(p, shape, in)
}

// checkInputs panics unless the inputs fit the program and broadcast to shape.
func checkInputs(p *Program, shape []int, in []*array.Array) {
	for i, d := range p.Inputs {
		if d == array.Invalid {
			continue
		}
		if in[i] == nil || in[i].DType() != d {
			panic(programBug("an input is missing or not " + d.String()))
		}
		s := in[i].Shape()
		if len(s) > len(shape) {
			panic(programBug("an input has more axes than the output"))
		}
		for k := range s {
			if o := shape[len(shape)-len(s)+k]; s[k] != o && s[k] != 1 {
				panic(programBug("an input's shape does not broadcast to the output's"))
			}
		}
	}
}

// regBlock returns the block of a register or the input memory that it stands for.
func regBlock[T array.Elem](m *machine, file []T, c opcode.RegClass, r uint16) []T {
	if a := m.alias[c][r]; a != 0 {
		in := m.in[a-1]
		return array.Raw[T](in)[in.Offset()+m.start:][:m.n]
	}
	return file[int(r)*m.blk:][:m.n]
}

// dstBlock returns the block of a register that is about to be written. Operands are
// fetched before, since writing ends an alias.
func dstBlock[T array.Elem](m *machine, file []T, c opcode.RegClass, r uint16) []T {
	m.alias[c][r] = 0
	return file[int(r)*m.blk:][:m.n]
}

func (m *machine) rF32(r uint16) []float32 { return regBlock(m, m.f32, opcode.RegF32, r) }
func (m *machine) rF64(r uint16) []float64 { return regBlock(m, m.f64, opcode.RegF64, r) }
func (m *machine) rI64(r uint16) []int64   { return regBlock(m, m.i64, opcode.RegI64, r) }
func (m *machine) wF32(r uint16) []float32 { return dstBlock(m, m.f32, opcode.RegF32, r) }
func (m *machine) wF64(r uint16) []float64 { return dstBlock(m, m.f64, opcode.RegF64, r) }
func (m *machine) wI64(r uint16) []int64   { return dstBlock(m, m.i64, opcode.RegI64, r) }

func (m *machine) exec(in *Instr) {
	switch in.Op {
	case opcode.OpInput:
		m.load(in)
		return
	case opcode.OpOutput:
		m.store(in)
		return
	case opcode.OpIndex:
		d := m.wI64(in.Dst)
		for i := range d {
			d[i] = int64(m.start + i)
		}
		return
	case opcode.OpCoord:
		m.coordinate(in)
		return
	case opcode.OpCast:
		m.cast(in)
		return
	case opcode.OpSelect:
		m.sel(in)
		return
	}
	if in.Op >= opcode.OpIsNaN && in.Op <= opcode.OpGe {
		m.compare(in)
		return
	}
	switch opcode.RegClassOf(in.DType) {
	case opcode.RegF32:
		a, b, c := m.rF32(in.A), m.rF32(in.B), m.rF32(in.C)
		d := m.wF32(in.Dst)
		if in.Op == opcode.OpFMA {
			for i := range d {
				d[i] = fma32(a[i], b[i], c[i])
			}
		} else if !vmath.Apply32(m.level, in.Op, d, a) {
			floatOp(in.Op, d, a, b)
		}
		if in.DType != array.F32 {
			roundHalfBlock(in.DType, d)
		}
	case opcode.RegF64:
		a, b, c := m.rF64(in.A), m.rF64(in.B), m.rF64(in.C)
		d := m.wF64(in.Dst)
		if in.Op == opcode.OpFMA {
			fma64s(d, a, b, c)
		} else {
			floatOp(in.Op, d, a, b)
		}
	default:
		a, b := m.rI64(in.A), m.rI64(in.B)
		intOp(in.Op, in.DType, m.wI64(in.Dst), a, b)
	}
}

// coordinate writes the output coordinates along one axis.
func (m *machine) coordinate(in *Instr) {
	shape := m.shape
	axis := int(int64(in.Imm))
	if axis < 0 {
		axis += len(shape)
	}
	if axis < 0 || axis >= len(shape) {
		panic(programBug("an axis is out of the output's range"))
	}
	inner := 1
	for _, d := range shape[axis+1:] {
		inner *= d
	}
	c := m.start / inner % shape[axis]
	left := inner - m.start%inner
	d := m.wI64(in.Dst)
	for i := range d {
		d[i] = int64(c)
		if left--; left == 0 {
			left = inner
			if c++; c == shape[axis] {
				c = 0
			}
		}
	}
}

func (m *machine) sel(in *Instr) {
	cond := m.rI64(in.A)
	switch opcode.RegClassOf(in.DType) {
	case opcode.RegF32:
		a, b := m.rF32(in.B), m.rF32(in.C)
		selectOp(m.wF32(in.Dst), cond, a, b)
	case opcode.RegF64:
		a, b := m.rF64(in.B), m.rF64(in.C)
		selectOp(m.wF64(in.Dst), cond, a, b)
	default:
		a, b := m.rI64(in.B), m.rI64(in.C)
		selectOp(m.wI64(in.Dst), cond, a, b)
	}
}

func selectOp[T array.Elem](d []T, cond []int64, a, b []T) {
	cond, a, b = cond[:len(d)], a[:len(d)], b[:len(d)]
	for i := range d {
		if cond[i] != 0 {
			d[i] = a[i]
		} else {
			d[i] = b[i]
		}
	}
}

func (m *machine) compare(in *Instr) {
	switch opcode.RegClassOf(in.From) {
	case opcode.RegF32:
		compareOp(in.Op, m.wI64(in.Dst), m.rF32(in.A), m.rF32(in.B))
	case opcode.RegF64:
		compareOp(in.Op, m.wI64(in.Dst), m.rF64(in.A), m.rF64(in.B))
	default:
		a, b := m.rI64(in.A), m.rI64(in.B)
		d := m.wI64(in.Dst)
		if in.From == array.U64 {
			compareOp(in.Op, d, asUnsigned(a), asUnsigned(b))
		} else {
			compareOp(in.Op, d, a, b)
		}
	}
}

func compareOp[T float32 | float64 | int64 | uint64](op opcode.Code, d []int64, a, b []T) {
	a, b = a[:len(d)], b[:len(d)]
	switch op {
	case opcode.OpEq:
		for i := range d {
			d[i] = boolBit(a[i] == b[i])
		}
	case opcode.OpNe:
		for i := range d {
			d[i] = boolBit(a[i] != b[i])
		}
	case opcode.OpLt:
		for i := range d {
			d[i] = boolBit(a[i] < b[i])
		}
	case opcode.OpLe:
		for i := range d {
			d[i] = boolBit(a[i] <= b[i])
		}
	case opcode.OpGt:
		for i := range d {
			d[i] = boolBit(a[i] > b[i])
		}
	case opcode.OpGe:
		for i := range d {
			d[i] = boolBit(a[i] >= b[i])
		}
	case opcode.OpIsNaN:
		for i := range d {
			d[i] = boolBit(a[i] != a[i])
		}
	default:
		panic(programBug("unknown comparison " + op.String()))
	}
}

func boolBit(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
