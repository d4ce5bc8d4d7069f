package program

import (
	"sync/atomic"
	"unsafe"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/opcode"
	"github.com/gofx-dev/gofx/kernel/internal/par"
	"github.com/gofx-dev/gofx/kernel/internal/vmath"
)

// Map implements operand.Function for programs of one f32 that make one of it. A
// program must not be changed once it was mapped.
func (p *Program) Map(rows, cols int, c []float32, ld int) {
	if rows <= 0 || cols <= 0 {
		return
	}
	m, at := takeMapper()
	if m.program != p || m.level != cpu.Host.Level {
		m.prepare(p, cpu.Host.Level)
	}
	m.matrix(rows, cols, c, ld)
	putMapper(m, at)
}

// MapAll implements operand.Function.
func (p *Program) MapAll(w *par.Workspace, c []float32) {
	j := par.TakeJob[mapJob](w)
	*j = mapJob{p, c}
	w.Parallel((len(c)-1)/programBlock+1, p.grain()/programBlock, j)
	par.PutJob(w, j)
}

// mapJob is a program over elements side by side.
type mapJob struct {
	program *Program
	c       []float32
}

// Do computes blocks [lo, hi) of programBlock elements.
func (j *mapJob) Do(lo, hi int) {
	c := j.c[lo*programBlock : min(hi*programBlock, len(j.c))]
	j.program.Map(1, len(c), c, len(c))
}

// mapper is a program translated for memory anywhere: tiles are so small that
// translating it for each would take longer than running it.
type mapper struct {
	program *Program
	level   cpu.Level
	w       par.Workspace
	strips  stripRun // its steps have addresses counted from 0
	coded   bool     // or else there are none
	twin    machine
	block   []*array.Array // one, of programBlock elements
	buf     []float32      // what it has
	temp    vmath.StripTemp
}

// prepare translates a program.
func (m *mapper) prepare(p *Program, level cpu.Level) {
	m.program = nil // until it is done
	checkMap(p)
	if m.block == nil {
		m.block = []*array.Array{array.New(array.F32, programBlock)}
		m.buf = array.Data[float32](m.block[0])
	}
	m.w.Release(0)
	m.w.Reserve(p.scratch(programBlock, 1))
	base := machine{p: p, level: level, out: m.block, in: m.block, shape: m.block[0].Shape()}
	m.strips = stripRun{machine: base, level: level, strip: vmath.StripLen(level)}
	if m.coded = m.strips.code(&m.w); m.coded {
		m.strips.relocate()
	} else {
		m.w.Release(0)
		m.twin = base
		m.twin.begin(&m.w, programBlock)
	}
	m.program, m.level = p, level
}

// checkMap panics unless p makes one f32 of one f32, wherever that lies.
func checkMap(p *Program) {
	if len(p.Inputs) != 1 || len(p.Outputs) != 1 || p.Inputs[0] != array.F32 || p.Outputs[0] != array.F32 {
		panic(programBug("an epilogue's program is not of one f32 that makes one"))
	}
	for i := range p.Code {
		if op := p.Code[i].Op; op == opcode.OpIndex || op == opcode.OpCoord {
			panic(programBug("an epilogue's program asks where its operand is"))
		}
	}
}

// relocate makes the steps read and write operands at addresses that are the index
// of an element times its size, which may be stored anywhere.
func (s *stripRun) relocate() {
	code := s.coder.steps[:s.coder.used]
	for k := 0; k < len(code); k += vmath.StepWords {
		if code[k] == s.coder.code[vmath.StepStoreThrough] {
			code[k] = s.coder.code[vmath.StepStore]
		}
		if code[k+5]&(1<<32-1) != 0 {
			code[k+1] = 0
		}
		if code[k+5]>>32 != 0 {
			code[k+3] = 0
		}
	}
}

// matrix runs the program over a matrix: where there are steps, over the strips
// that rows hold in place, over everything else in blocks that rows are brought
// together in.
func (m *mapper) matrix(rows, cols int, c []float32, ld int) {
	if cols == ld {
		rows, cols, ld = 1, rows*cols, rows*cols
	}
	c = c[:(rows-1)*ld+cols]
	whole := 0
	if m.coded && (rows == 1 || cols >= programBlock/4) {
		whole = cols - cols%m.strips.strip
		for r := 0; whole > 0 && r < rows; r++ {
			m.run(c[r*ld : r*ld+whole])
		}
	}
	for x := whole; x < cols; x += programBlock {
		width := min(cols-x, programBlock)
		for r, per := 0, programBlock/width; r < rows; r += per {
			m.together(min(per, rows-r), width, c[r*ld+x:], ld)
		}
	}
}

// together runs the program over short rows, side by side.
func (m *mapper) together(rows, width int, c []float32, ld int) {
	n := rows * width
	for r := range rows {
		copy(m.buf[r*width:(r+1)*width], c[r*ld:])
	}
	if m.coded {
		m.run(m.buf[:(n+m.strips.strip-1)/m.strips.strip*m.strips.strip])
	} else {
		m.twin.n = n
		for i := range m.program.Code {
			m.twin.exec(&m.program.Code[i])
		}
	}
	for r := range rows {
		copy(c[r*ld:r*ld+width], m.buf[r*width:])
	}
}

// run runs the steps over whole strips.
func (m *mapper) run(c []float32) {
	at := int(addressOf(c) / 4)
	vmath.RunStrips(m.level, m.strips.coder.steps, at, at+len(c), &m.temp)
}

// mappers are idle ones. Each goroutine begins to look at another place, which
// follows from where its stack is, so that it finds the one that it had before.
var mappers [64]struct {
	idle atomic.Pointer[mapper]
	_    [120]byte
}

// takeMapper returns an idle mapper, or a new one, and where to put it.
func takeMapper() (m *mapper, at int) {
	var here byte
	first := int(uintptr(unsafe.Pointer(&here)) >> 13 % uintptr(len(mappers)))
	for i := range mappers {
		at = (first + i) % len(mappers)
		if p := &mappers[at].idle; p.Load() != nil {
			if m = p.Swap(nil); m != nil {
				return m, at
			}
		}
	}
	return new(mapper), first
}

// putMapper gives a mapper back, to a place near the given one.
func putMapper(m *mapper, at int) {
	for i := range mappers {
		if mappers[(at+i)%len(mappers)].idle.CompareAndSwap(nil, m) {
			return
		}
	}
}
