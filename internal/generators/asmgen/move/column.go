package main

import (
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/gofx-dev/gofx/internal/generators/asmgen/simd"
)

// group is the number of columns that the loops over columns do at least; the
// rest is done with masks.
const group = 16

// column writes loops that combine the rows of a matrix of floats column by
// column. Positions advance by columns.
type column struct {
	isa
	acc, x, ld, rows, n reg.GPVirtual
	ahead               reg.GPVirtual   // distance of the prefetched data
	more                []reg.GPVirtual // further operands of the size of acc
	accSize             int             // bytes of an element of acc
	lanes               int             // columns in a register of accumulators
}

// start loads the operands that all have.
func (c *column) start() {
	c.acc, c.x, c.ld, c.rows, c.n = c.Arg("acc"), c.Arg("x"), c.Bytes("ld"), c.Arg("rows"), c.Arg("n")
	c.ahead = c.Arg("ahead")
}

// accAt is the place of register i of accumulators, or of another operand.
func (c *column) accAt(p reg.GPVirtual, i int) Mem {
	return simd.At(p, i*c.lanes*c.accSize)
}

// masks makes masks of the first n of group columns, one a register.
func (c *column) masks(first int) []*simd.Mask {
	var list []*simd.Mask
	k := []reg.Register{reg.K1, reg.K2}
	for i := range group / c.lanes {
		n, none, all := c.GP64(), c.GP64(), c.GP64()
		c.XORQ(none, none)
		c.MOVQ(U32(uint32(c.lanes)), all)
		c.MOVQ(c.n, n)
		c.SUBQ(U8(i*c.lanes), n)
		c.CMOVQLT(none, n)
		c.CMPQ(n, all)
		c.CMOVQGT(all, n)
		m := c.LaneMask(n, k[i%2], first+i)
		list = append(list, &m)
	}
	return list
}

// blocks writes the loops over blocks of the given numbers of columns, the last
// of which is group, and the masked one. body does a row: register i of x is at
// the given memory, under a mask or nil.
func (c *column) blocks(sizes []int, firstMask int, load, store func(i int), row func(i int, from Mem, m *simd.Mask), after func()) {
	p, left := c.GP64(), c.GP64()
	rows := func(label string, n int, masks []*simd.Mask) {
		for i := range n / c.lanes {
			load(i)
		}
		c.MOVQ(c.x, p)
		c.MOVQ(c.rows, left)
		c.Label(label)
		for i := 0; i < 4*n && masks == nil; i += line {
			c.PREFETCHT0(Mem{Base: p, Index: c.ahead, Scale: 1, Disp: i})
		}
		for i := range n / c.lanes {
			var m *simd.Mask
			if masks != nil {
				m = masks[i]
			}
			row(i, simd.At(p, i*c.lanes*4), m)
		}
		if after != nil {
			after()
		}
		c.ADDQ(c.ld, p)
		c.DECQ(left)
		c.JNE(LabelRef(label))
		for i := range n / c.lanes {
			store(i)
		}
	}
	for _, n := range sizes {
		name := map[bool]string{true: "group", false: "block"}[n == group]
		c.wholes(name, c.n, n, func() {
			rows(name+"_row", n, nil)
			for _, q := range append([]reg.GPVirtual{c.acc}, c.more...) {
				c.ADDQ(U32(uint32(n*c.accSize)), q)
			}
			c.ADDQ(U32(uint32(n*4)), c.x)
		})
	}
	c.TESTQ(c.n, c.n)
	c.JEQ(LabelRef("done"))
	rows("rest_row", group, c.masks(firstMask))
	c.Label("done")
	c.End()
}

const columnDoc = "For each of n columns of rows rows, ld elements apart, at least one of either. acc and what\n" +
	"is like it have room for a multiple of 16 columns. ahead is the distance in bytes of what is\n" +
	"asked for meanwhile."

// emitColumns writes reductions of columns.
func emitColumns(s isa) {
	s.columns64("columnSum", "adds the elements to acc.", false, func(x, _, acc reg.VecPhysical) { s.VADDPD(x, acc, acc) })
	s.columns64("columnProd", "multiplies acc by the elements.", false, func(x, _, acc reg.VecPhysical) { s.VMULPD(x, acc, acc) })
	s.columns64("columnSquares", "adds the squares of the elements less mean to acc.", true, func(x, mean, acc reg.VecPhysical) {
		s.VSUBPD(mean, x, x)
		s.VMULPD(x, x, x)
		s.VADDPD(x, acc, acc)
	})
	s.columnsExtreme("columnMax", "raises acc to the elements that are greater; NaN is greater than all.", s.VMAXPS)
	s.columnsExtreme("columnMin", "lowers acc to the elements that are less; NaN is less than all.", s.VMINPS)
	s.columnsIndex("columnArgMax", "is columnMax and sets index to the row that acc is of; the first\nrow has number one.", 6)
	s.columnsIndex("columnArgMin", "is columnMin and sets index to the row that acc is of; the first\nrow has number one.", 9)
}

// columns64 writes a loop with accumulators of 64 bits.
func (s isa) columns64(name, doc string, withMean bool, op func(x, mean, acc reg.VecPhysical)) {
	signature := "func(acc *float64, x *float32, ld, rows, n, ahead int)"
	if withMean {
		signature = "func(acc, mean *float64, x *float32, ld, rows, n, ahead int)"
	}
	s.Begin(name, signature, doc+"\n"+columnDoc)
	c := &column{isa: s, accSize: 8, lanes: s.Lanes() / 2}
	c.start()
	if withMean {
		c.more = append(c.more, c.Arg("mean"))
	}
	// Accumulators are registers 0 to 7, means 8 to 15, with AVX2 half as many;
	// then come one to work in and, of AVX2, the masks.
	half := s.Pick(4, 8)
	work := s.V(2*half + s.Pick(0, 4))
	sizes := []int{group}
	if s.Wide() {
		sizes = []int{4 * group, group}
	}
	load := func(i int) {
		c.VMOVUPD(c.accAt(c.acc, i), c.V(i))
		if withMean {
			c.VMOVUPD(c.accAt(c.more[0], i), c.V(half+i))
		}
	}
	store := func(i int) { c.VMOVUPD(c.V(i), c.accAt(c.acc, i)) }
	c.blocks(sizes, 12, load, store, func(i int, from Mem, m *simd.Mask) {
		c.widen(from, work, m)
		op(work, c.V(half+i), c.V(i))
	}, nil)
}

// widen converts floats to 64 bits.
func (c *column) widen(from Mem, to reg.VecPhysical, m *simd.Mask) {
	switch {
	case m == nil:
		c.VCVTPS2PD(from, to)
	case c.Wide():
		c.VCVTPS2PD_Z(from, m.Opmask(), to)
	default:
		c.VMASKMOVPS(from, m.Vector().AsX(), to.AsX())
		c.VCVTPS2PD(to.AsX(), to)
	}
}

// columnsExtreme writes a loop with accumulators of 32 bits. better keeps its
// first operand unless the second one is better.
func (s isa) columnsExtreme(name, doc string, better func(...Op)) {
	s.Begin(name, "func(acc, x *float32, ld, rows, n, ahead int)", doc+"\n"+columnDoc)
	c := &column{isa: s, accSize: 4, lanes: s.Lanes()}
	c.start()
	load := func(i int) { c.VMOVUPS(c.accAt(c.acc, i), c.V(i)) }
	store := func(i int) { c.VMOVUPS(c.V(i), c.accAt(c.acc, i)) }
	work, nan := c.V(8), c.V(9)
	c.blocks([]int{s.Pick(2, 4) * group, group}, 10, load, store, func(i int, from Mem, m *simd.Mask) {
		acc := c.V(i)
		c.LoadLanes(from, work, m)
		better(acc, work, acc)
		if c.Wide() {
			c.VCMPPS(U8(3), work, work, reg.K3)
			c.VMOVAPS(work, reg.K3, acc)
		} else {
			c.VCMPPS(U8(3), work, work, nan)
			c.VBLENDVPS(nan, work, acc, acc)
		}
	}, nil)
}

// columnsIndex writes a loop that also keeps where the best element is. beats is
// the comparison that holds where an element is better or either is NaN.
func (s isa) columnsIndex(name, doc string, beats uint8) {
	s.Begin(name, "func(acc *float32, index *int32, x *float32, ld, rows, n, ahead int)", doc+"\n"+columnDoc)
	c := &column{isa: s, accSize: 4, lanes: s.Lanes()}
	c.start()
	c.more = []reg.GPVirtual{c.Arg("index")}
	index := func(i int) reg.VecPhysical { return c.V(4 + i) }
	load := func(i int) {
		c.VMOVUPS(c.accAt(c.acc, i), c.V(i))
		c.VMOVUPS(c.accAt(c.more[0], i), index(i))
		if i == 0 {
			c.VMOVAPS(c.V(9), c.V(8))
		}
	}
	store := func(i int) {
		c.VMOVUPS(c.V(i), c.accAt(c.acc, i))
		c.VMOVUPS(index(i), c.accAt(c.more[0], i))
	}
	row, one, work, take, known := c.V(8), c.V(9), c.V(10), c.V(11), c.V(12)
	c.ones(one)
	c.blocks([]int{2 * group, group}, 13, load, store, func(i int, from Mem, m *simd.Mask) {
		acc := c.V(i)
		c.LoadLanes(from, work, m)
		if c.Wide() {
			c.VCMPPS(U8(7), acc, acc, reg.K3)
			c.VCMPPS(U8(beats), acc, work, reg.K3, reg.K3)
			c.VMOVAPS(work, reg.K3, acc)
			c.VMOVDQA32(row, reg.K3, index(i))
			return
		}
		c.VCMPPS(U8(7), acc, acc, known)
		c.VCMPPS(U8(beats), acc, work, take)
		c.VANDPS(known, take, take)
		c.VBLENDVPS(take, work, acc, acc)
		c.VBLENDVPS(take, row, index(i), index(i))
	}, func() { c.VPADDD(one, row, row) })
}

// ones sets every element of 32 bits to one.
func (s isa) ones(v reg.VecPhysical) {
	t := s.GP32()
	s.MOVL(U32(1), t)
	s.VMOVD(t, v.AsX())
	s.VPBROADCASTD(v.AsX(), v)
}
