package program

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/opcode"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
	"github.com/gofx-dev/gofx/kernel/internal/vmath"
)

// stripRun is a run of a program on the strip machine.
type stripRun struct {
	machine
	coder  stripCoder
	level  cpu.Level
	strip  int
	tails  []float32 // a strip for each input and output: the end of a row, or the one element repeated
	gather []float32 // a block for each input
	ahead  bool      // inputs are asked for before they are read
	scalars
}

// runStrips computes the elements [lo, hi) of the outputs by assembly. It
// reports false, having written nothing, where there are no steps for the
// program. lo is a multiple of programBlock.
func (p *Program) runStrips(level cpu.Level, w *par.Workspace, out programOut, in []*array.Array, lo, hi int) bool {
	mark := w.Mark()
	defer w.Release(mark)
	s := stripRun{machine: machine{p: p, level: level, out: out.arrays, shape: out.shape, from: out.from, in: in, start: lo}, level: level, strip: vmath.StripLen(level)}
	if !s.code(w) {
		return false
	}
	s.execute(lo, hi)
	return true
}

// code translates the program to steps, in scratch memory, and reports false where
// there are none for it.
func (s *stripRun) code(w *par.Workspace) bool {
	p, c := s.p, &s.coder
	code := vmath.StripCode(s.level)
	if code == nil || !p.stripTypes() {
		return false
	}
	s.beginScalars(w)
	c.code, c.acc, c.slot, c.ints = code, -1, uint64(4*s.strip), p.Regs[opcode.RegF32]
	regs := p.Regs[opcode.RegF32] + p.Regs[opcode.RegI64]
	c.places = scratchPlaces(w, regs)
	c.last = par.Scratch[int32](w, len(p.Code))
	c.most = extraSlots(p)
	c.f32s = par.Scratch[float32](w, (regs+c.most)*s.strip)
	c.slots = addressOf(c.f32s)
	c.steps = par.Scratch[uint64](w, maxSteps(p)*vmath.StepWords)
	c.lifetimes(p, par.Scratch[int32](w, regs+1))
	s.tails = par.Scratch[float32](w, (len(p.Inputs)+len(s.out))*s.strip)
	s.setLayouts(w)
	for i := range p.Consts {
		if stripType(p.Consts[i].DType) {
			s.constant(&p.Consts[i])
		}
	}
	for i := range p.Code {
		in := &p.Code[i]
		c.at = i
		switch {
		case !stripInstr(in):
			if !s.scalar(in) && !s.index(in) {
				return false
			}
		case s.folded(in):
		case s.translate(in):
			s.lost(in)
		default:
			return false
		}
	}
	c.emit(vmath.StepEnd, place{}, place{})
	return true
}

// maxSteps bounds the steps of a program: an instruction saves the accumulator
// and an operand, loads, and takes at most three steps, constants none.
func maxSteps(p *Program) int { return 6*len(p.Code) + 1 }

const placeWords = 4

func scratchPlaces(w *par.Workspace, n int) []place {
	return placesOf(par.Scratch[uint64](w, n*placeWords))
}

// stripTypes reports whether the machine has the types of the program's operands and
// constants, or may be given the others as scalars.
func (p *Program) stripTypes() bool {
	scalars := p.scalarResults() > 0
	for i := range p.Consts {
		if !scalars && !stripType(p.Consts[i].DType) {
			return false
		}
	}
	for i := range p.Code {
		in := &p.Code[i]
		if in.Op >= opcode.Count || in.Op == opcode.OpCoord || !scalars && !stripInstr(in) {
			return false
		}
	}
	return true
}

// setLayouts finds out how inputs lie, and makes room to gather those that are
// strided.
func (s *stripRun) setLayouts(w *par.Workspace) {
	rank := len(s.shape)
	s.stride = layoutLen(rank)
	s.layout = par.Scratch[int64](w, len(s.p.Inputs)*s.stride)
	s.coord = par.Scratch[int64](w, rank+1)
	strided := 0
	for i, d := range s.p.Inputs {
		if d != array.Invalid {
			s.setLayout(i)
			if s.lies(i) == layStrided {
				strided = i + 1
			}
		}
	}
	s.gather = par.Scratch[float32](w, strided*gatherBlockLen)
	s.ahead = s.computes()
}

// computes reports whether strips are computed for longer than memory takes to bring their
// inputs: arrays are then not asked for often enough for the processor to foresee them. Where
// memory is all that a program waits for, more requests only get into each other's way.
func (s *stripRun) computes() bool {
	work, rows := 0, 0
	for i := range s.p.Code {
		switch in := &s.p.Code[i]; {
		case in.Op == opcode.OpInput:
			if s.lies(int(in.Imm)) == layRow {
				rows++
			}
		case in.Op == opcode.OpOutput:
		case vmath.FunctionSteps[in.Op] != 0:
			work += functionWork
		default:
			work++
		}
	}
	return work >= rowWork*rows
}

// How an input lies in memory.
const (
	layRow = iota
	layStrided
	layOne
)

func (s *stripRun) lies(i int) int {
	lay := s.layout[i*s.stride:]
	switch {
	case lay[1] != 0:
		return layRow
	case lay[0] == 1 && lay[3] == 0 && (s.p.Inputs[i].Size() == 4 || !stripType(s.p.Inputs[i])):
		return layOne
	}
	return layStrided
}

// buffer returns the block that input i is gathered to.
func (s *stripRun) buffer(i int) []float32 { return s.gather[i*gatherBlockLen:][:gatherBlockLen] }

func (s *stripRun) constant(in *Instr) {
	c := &s.coder
	r := c.reg(in.DType, in.Dst)
	slot := viewAs[uint32](c.f32s[r*s.strip:][:s.strip])
	switch {
	case opcode.RegClassOf(in.DType) == opcode.RegF32:
		operand.FillBlock(viewAs[float32](slot), constF32(in.DType, in.Imm))
	case in.DType == array.Bool:
		operand.FillBlock(slot, -uint32(in.Imm&1))
	default:
		operand.FillBlock(slot, uint32(in.Imm))
	}
	c.places[r] = place{addr: c.slotOf(r)}
}

func (s *stripRun) translate(in *Instr) bool {
	switch in.Op {
	case opcode.OpInput:
		s.input(in)
	case opcode.OpOutput:
		s.output(in)
	default:
		return s.coder.instruction(in)
	}
	return true
}

// input makes a register stand for an input's memory, or converts it.
func (s *stripRun) input(in *Instr) {
	c, i := &s.coder, int(in.Imm)
	r := c.reg(in.DType, in.Dst)
	p := place{mask: ^uint64(0), tag: uint64(i + 1), last: int64(c.last[c.at])}
	switch s.lies(i) {
	case layRow:
		p.addr = baseOf(s.in[i])
		if s.ahead && in.DType.Size() == 4 && 4*s.in[i].Len() >= aheadBytes() {
			c.emit(vmath.StepPrefetch, p, place{})
		}
	case layStrided:
		p.addr, p.mask, p.tag = addressOf(s.buffer(i)), gatherBlockLen-1, 0
	default:
		// A strip of its own: the register's is written by whatever shares it.
		slot := viewAs[uint32](s.tailOf(i))
		operand.FillBlock(slot, array.Raw[uint32](s.in[i])[s.in[i].Offset()])
		p.addr, p.mask, p.tag = addressOf(slot), 0, 0
	}
	if c.acc == r {
		c.acc = -1
	}
	if step := loadStep(in.DType); step != vmath.StepLoad {
		c.keep(true)
		c.emit(step, p, place{})
		c.give(r)
		return
	}
	c.places[r] = p
}

// output stores a register.
func (s *stripRun) output(in *Instr) {
	c, o := &s.coder, s.out[in.Imm]
	if r := c.reg(in.DType, in.A); c.acc != r {
		c.keep(true)
		c.emit(vmath.StepLoad, c.places[r], place{})
		c.acc, c.saved = r, true
	}
	p := place{addr: baseOf(o) - uint64(s.from*o.DType().Size()), mask: ^uint64(0), tag: uint64(len(s.p.Inputs)) + in.Imm + 1}
	step := storeStep(in.DType)
	if step == vmath.StepStore && 4*o.Len() >= throughBytes() && p.addr%64 == 0 && !s.overwrites(o) {
		step = vmath.StepStoreThrough
	}
	c.emit(step, p, place{})
}

// overwrites reports whether an output lies where an input does, whose memory a cache holds when it
// is written.
func (s *stripRun) overwrites(o *array.Array) bool {
	for i, d := range s.p.Inputs {
		if a := s.in[i]; d != array.Invalid && a.Storage() == o.Storage() && a.Offset() == o.Offset() {
			return true
		}
	}
	return false
}

// baseOf returns the address of a contiguous array's first element.
func baseOf(a *array.Array) uint64 {
	size := a.DType().Size()
	switch at := uint64(a.Offset() * size); size {
	case 1:
		return addressOf(array.Raw[uint8](a)) + at
	case 2:
		return addressOf(array.Raw[uint16](a)) + at
	}
	return addressOf(array.Raw[uint32](a)) + uint64(a.Offset()*4)
}

// execute runs the steps block by block where inputs are gathered, else at once.
func (s *stripRun) execute(lo, hi int) {
	var temp vmath.StripTemp
	for s.start = lo; s.start < hi; {
		end := hi
		if len(s.gather) > 0 {
			end = min((s.start/gatherBlockLen+1)*gatherBlockLen, hi)
			s.fillBlocks(end)
		}
		full := end - end%s.strip
		vmath.RunStrips(s.level, s.coder.steps, s.start, full, &temp)
		if full < end {
			s.tail(full, end, &temp)
		}
		s.start = end
	}
}

// fillBlocks gathers strided inputs up to element end.
func (s *stripRun) fillBlocks(end int) {
	at, n := s.start%gatherBlockLen, end-s.start
	for i, d := range s.p.Inputs {
		if d == array.Invalid || s.lies(i) != layStrided || !stripType(d) {
			continue
		}
		switch b, a := s.buffer(i), s.in[i]; d.Size() {
		case 1:
			gatherBlock(&s.machine, i, viewAs[uint8](b)[at:at+n], array.Raw[uint8](a))
		case 2:
			gatherBlock(&s.machine, i, viewAs[uint16](b)[at:at+n], array.Raw[uint16](a))
		default:
			gatherBlock(&s.machine, i, viewAs[uint32](b)[at:at+n], array.Raw[uint32](a))
		}
	}
}

// tail computes the elements [lo, hi), less than a strip, on copies of the
// operands that are a strip long. It changes the steps.
func (s *stripRun) tail(lo, hi int, temp *vmath.StripTemp) {
	for i, d := range s.p.Inputs {
		if d != array.Invalid && s.lies(i) == layRow {
			copyElems(s.tailOf(i), s.in[i], lo, hi, false)
		}
	}
	code := s.coder.steps[:s.coder.used]
	for k := 0; k < len(code); k += vmath.StepWords {
		tags := code[k+5]
		for j, tag := range [2]uint64{tags & (1<<32 - 1), tags >> 32} {
			if tag != 0 {
				code[k+1+2*j], code[k+2+2*j] = addressOf(s.tailOf(int(tag-1))), 0
			}
			if code[k] == s.coder.code[vmath.StepStoreThrough] {
				code[k] = s.coder.code[vmath.StepStore]
			}
		}
	}
	vmath.RunStrips(s.level, code, lo, lo+s.strip, temp)
	for i, o := range s.out {
		copyElems(s.tailOf(len(s.p.Inputs)+i), o, lo-s.from, hi-s.from, true)
	}
}

func (s *stripRun) tailOf(i int) []float32 { return s.tails[i*s.strip:][:s.strip] }

// copyElems copies elements [lo, hi) of a contiguous array to buf, or back.
func copyElems(buf []float32, a *array.Array, lo, hi int, back bool) {
	lo, hi = a.Offset()+lo, a.Offset()+hi
	switch a.DType().Size() {
	case 1:
		copyEither(viewAs[uint8](buf), array.Raw[uint8](a)[lo:hi], back)
	case 2:
		copyEither(viewAs[uint16](buf), array.Raw[uint16](a)[lo:hi], back)
	default:
		copyEither(viewAs[uint32](buf), array.Raw[uint32](a)[lo:hi], back)
	}
}

func copyEither[T array.Elem](buf, a []T, back bool) {
	if back {
		copy(a, buf)
	} else {
		copy(buf, a)
	}
}

// stripScratch bounds the scratch that vmath.RunStrips takes.
func (p *Program) stripScratch(rank int) int {
	regs := p.Regs[opcode.RegF32] + p.Regs[opcode.RegI64]
	n := alignScratch(regs*placeWords*8) + alignScratch(4*len(p.Code)) + alignScratch((regs+extraSlots(p))*vmath.MaxStrip*4) +
		alignScratch(maxSteps(p)*vmath.StepWords*8) + alignScratch(4*(regs+1)) +
		alignScratch((len(p.Inputs)+len(p.Outputs))*vmath.MaxStrip*4) + alignScratch(len(p.Inputs)*layoutLen(rank)*8)
	return n + alignScratch((rank+1)*8) + alignScratch(len(p.Inputs)*gatherBlockLen*4) + p.scalarScratch(rank)
}
