package state

import (
	"cmp"
	"slices"
	"unsafe"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/tensor"
)

// opcode says what a step of a guard does.
type opcode uint8

const (
	opBits     opcode = iota // to opBits+3: compares 1, 2, 4, 8 bytes with want
	opBits16                 // 2 bytes
	opBits32                 // 4 bytes
	opBits64                 // 8 bytes
	opText                   // compares a string with a text
	opNil                    // is nil
	opSome                   // is not nil
	opCap                    // opBits64, of a capacity
	opHeld                   // is the address want
	opAt                     // is the memory of register dst
	opInside                 // lies want bytes from register size
	opFresh                  // is not nil, and apart from all other memory
	opReceiver               // is the receiver
	opGlobal                 // a variable of a package
	opBox                    // the value that an interface holds
	opFrozen                 // a tensor that is a constant
	opData                   // a tensor whose data is read
	opMapLen                 // entries of a map
	opMapGet                 // the value of a key
)

// step is a comparison of a guard. The word stands off bytes from the beginning of register base; what it leads to
// becomes register dst.
type step struct {
	op        opcode
	base, dst uint32
	off       uintptr
	want      uint64
	size      uintptr
	p         unsafe.Pointer
	as        *Map
	key       any
	number    int // of the word, from 1, where nothing but numbers of operators depends on it
	path      string
	line      string
}

// check is a step without what only people read.
type check struct {
	op        opcode
	base, dst uint32
	off       uintptr
	want      uint64
}

// span is the memory of an object that is known by its address.
type span struct{ from, to uintptr }

// Guard says whether memory is as a walk has found it.
type Guard struct {
	checks []check
	steps  []step // one for each check
	texts  []string
	alive  []unsafe.Pointer
	regs   int
	held   []span   // in increasing order, none within another one
	fresh  []region // apart from each other and from those
	slabs  []region // memory that tensors may lie in
	data   []datum
	frozen []seen
	writes []int // of data
}

// region is the memory of an object that is known by a register.
type region struct {
	reg  uint32
	size uintptr
}

// datum is a tensor whose data is read.
type datum struct {
	reg   uint32
	role  role
	dtype array.DType
	shape []int
	// strides say which calls make views and which copies: a graph has one of both.
	strides []int
	symbols []int // by axis: 0 for a size that is compared, else the number of a symbol from 1; nil for none
}

// Machine has what a check works with. It is for one goroutine at a time.
type Machine struct{ regs []unsafe.Pointer }

// Guard returns the guard of a walk. writes are numbers of its data tensors that are written, caps tells that
// capacities count. The numbers at the paths of open are not compared. sizes, nil for none, has the symbol of each axis of a data
// tensor from 1, 0 for a size that is compared.
func (m *Image) Guard(writes []int, caps bool, open map[string]bool, sizes [][]int) *Guard {
	g := &Guard{texts: m.texts, alive: m.alive, regs: len(m.objects), writes: writes}
	for _, s := range m.steps {
		if s.number > 0 && open[s.path] {
			continue
		}
		switch s.op {
		case opCap:
			if !caps {
				continue
			}
			s.op = opBits64
		case opFrozen:
			t := m.tensors[s.want]
			s.want = uint64(len(g.frozen))
			g.frozen = append(g.frozen, seen{reg: t.reg, role: t.role, array: t.array, version: t.version, exposed: t.exposed})
		case opData:
			t := m.tensors[s.want]
			s.want = uint64(len(g.data))
			g.data = append(g.data, datum{t.reg, t.role, t.array.DType(), slices.Clone(t.array.Shape()), slices.Clone(t.array.Strides()), symbolsOf(sizes, len(g.data))})
		case opFresh:
			g.fresh = append(g.fresh, region{s.dst, s.size})
		}
		g.steps = append(g.steps, s)
		g.checks = append(g.checks, check{s.op, s.base, s.dst, s.off, s.want})
	}
	for _, o := range m.objects {
		if o.held && !o.box && o.size > 0 {
			g.held = append(g.held, span{uintptr(o.ptr), uintptr(o.ptr) + o.size})
		}
		if o.typ != nil && !o.box && o.size > 0 && wrappable(o.typ) {
			g.slabs = append(g.slabs, region{o.reg, o.size})
		}
	}
	g.merge()
	return g
}

// merge sorts the held memory, and joins what overlaps.
func (g *Guard) merge() {
	slices.SortFunc(g.held, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	var out []span
	for _, h := range g.held {
		if n := len(out); n > 0 && h.from < out[n-1].to {
			out[n-1].to = max(out[n-1].to, h.to)
			continue
		}
		out = append(out, h)
	}
	g.held = out
}

// Len is the number of comparisons.
func (g *Guard) Len() int { return len(g.checks) }

// Check reports whether the memory that arguments lead to is as it was. failed is the number of the first step
// that does not hold.
func (g *Guard) Check(m *Machine, in, out unsafe.Pointer) (ok bool, failed int) {
	m.begin(g, in, out)
	return g.from(m.regs, 0)
}

// CheckBut is Check where numbers at the paths of open may differ.
func (g *Guard) CheckBut(m *Machine, in, out unsafe.Pointer, open map[string]bool) bool {
	m.begin(g, in, out)
	for at := 0; ; at++ {
		ok, failed := g.from(m.regs, at)
		if ok {
			return true
		}
		if at = failed; at == len(g.checks) || !g.open(m.regs, at, open) {
			return false
		}
	}
}

func (m *Machine) begin(g *Guard, in, out unsafe.Pointer) {
	if cap(m.regs) < g.regs {
		m.regs = make([]unsafe.Pointer, g.regs)
	}
	m.regs = m.regs[:g.regs]
	m.regs[inReg], m.regs[outReg] = in, out
}

// from checks the steps from a number on.
func (g *Guard) from(regs []unsafe.Pointer, first int) (ok bool, failed int) {
	for i := first; i < len(g.checks); i++ {
		c := &g.checks[i]
		at := unsafe.Add(regs[c.base], c.off)
		switch c.op {
		case opBits64:
			if *(*uint64)(at) != c.want {
				return false, i
			}
		case opHeld:
			p := *(*unsafe.Pointer)(at)
			if uint64(uintptr(p)) != c.want {
				return false, i
			}
			regs[c.dst] = p
		case opBits:
			if *(*uint8)(at) != uint8(c.want) {
				return false, i
			}
		case opBits32:
			if *(*uint32)(at) != uint32(c.want) {
				return false, i
			}
		case opFrozen:
			if !g.frozen[c.want].same((*tensor.Tensor)(regs[c.base])) {
				return false, i
			}
		default:
			if !g.rare(regs, i, c, at) {
				return false, i
			}
		}
	}
	return g.agree(regs) && g.apart(regs), len(g.checks)
}

// rare does the steps that few guards have many of.
func (g *Guard) rare(regs []unsafe.Pointer, i int, c *check, at unsafe.Pointer) bool {
	s := &g.steps[i]
	switch c.op {
	case opBits16:
		return *(*uint16)(at) == uint16(c.want)
	case opText:
		return *(*string)(at) == g.texts[c.want]
	case opData:
		return g.data[c.want].same((*tensor.Tensor)(regs[c.base]))
	case opGlobal:
		regs[c.dst] = s.p
		return true
	case opMapLen:
		return s.as.size(unsafe.Pointer(&regs[c.base])) == int(c.want)
	case opMapGet:
		p, ok := s.as.lookup(unsafe.Pointer(&regs[c.base]), s.key)
		regs[c.dst] = p
		return ok
	}
	p := *(*unsafe.Pointer)(at)
	switch c.op {
	case opNil:
		return p == nil
	case opSome:
		return p != nil
	case opAt:
		return p == regs[c.dst]
	case opInside:
		regs[c.dst] = p
		return p != nil && p == unsafe.Add(regs[s.size], c.want)
	}
	regs[c.dst] = p // opFresh, opReceiver, opBox
	return p != nil
}

func (t *seen) same(x *tensor.Tensor) bool {
	a, ok := x.Value().(*array.Array)
	if !ok || a != t.array || x.Engine() != nil || roleOf(x) != t.role {
		return false
	}
	st := a.Storage()
	return st.Version() == t.version && st.Exposed() == t.exposed
}

func (d *datum) same(x *tensor.Tensor) bool {
	a, ok := x.Value().(*array.Array)
	return ok && a.DType() == d.dtype && d.lies(a) && x.Engine() == nil && roleOf(x) == d.role
}

// apart reports whether the memory of objects that are known by registers is apart from all others, and that of
// written tensors from that of other tensors.
func (g *Guard) apart(regs []unsafe.Pointer) bool {
	for i, f := range g.fresh {
		from := uintptr(regs[f.reg])
		to := from + f.size
		if f.size == 0 {
			continue
		}
		if n, _ := slices.BinarySearchFunc(g.held, from, func(s span, at uintptr) int {
			if s.to <= at {
				return -1
			}
			return 1
		}); n < len(g.held) && g.held[n].from < to {
			return false
		}
		for _, o := range g.fresh[:i] {
			if p := uintptr(regs[o.reg]); from < p+o.size && p < to {
				return false
			}
		}
	}
	for i := range g.data {
		st := g.array(regs, i).Storage()
		if st.Exposed() == 0 {
			continue
		}
		for _, o := range g.slabs {
			if overlaps(st, regs[o.reg], o.size) {
				return false
			}
		}
	}
	return len(g.writes) == 0 || g.writable(regs)
}

func (g *Guard) array(regs []unsafe.Pointer, i int) *array.Array {
	return (*tensor.Tensor)(regs[g.data[i].reg]).Value().(*array.Array)
}

// writable reports whether no other tensor has memory of those that are written.
func (g *Guard) writable(regs []unsafe.Pointer) bool {
	for _, w := range g.writes {
		a := g.array(regs, w)
		st := a.Storage()
		if array.Repeats(a) {
			return false
		}
		for i := range g.data {
			if o := g.array(regs, i).Storage(); i != w && (o == st || o.Overlaps(st)) {
				return false
			}
		}
		for i := range g.frozen {
			if o := g.frozen[i].array.Storage(); o == st || o.Overlaps(st) {
				return false
			}
		}
	}
	return true
}

// Tensor returns a data tensor after a check.
func (g *Guard) Tensor(m *Machine, i int) *tensor.Tensor {
	return (*tensor.Tensor)(m.regs[g.data[i].reg])
}

// Reset lets go of the memory of the last check.
func (m *Machine) Reset() { clear(m.regs) }

// Special stands for the step that looks at the values of numbers.
const Special = -1

// Failure tells of a step that does not hold: the path of the word, and the line that reads it.
func (g *Guard) Failure(i int) (path, line string) {
	if i == Special {
		return "a number that is 0 or 1, or that an operator refuses", ""
	}
	if i < len(g.steps) {
		return g.steps[i].path, g.steps[i].line
	}
	return "memory that values share", ""
}
