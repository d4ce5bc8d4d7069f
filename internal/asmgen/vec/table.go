package main

import (
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// tableFunc is an odd function that a table of package kernel has; see
// tableSingle there, whose twin this is.
type tableFunc struct {
	table string
	far   single
	base  word
	shift uint8
}

// tableRows is the number of rows of a table, of 16 numbers each.
const tableRows = 8

func (b batch) tanh(x vals) vals { return b.odd(tableFunc{"tanhTable", fTanhFar, wTanhBase, 6}, x) }
func (b batch) erf(x vals) vals  { return b.odd(tableFunc{"erfTable", fErfFar, wErfBase, 5}, x) }

func (b batch) odd(f tableFunc, x vals) vals {
	t := b.absolute(x)
	m := b.atMost(t, f.far)
	index := b.op2(b.VPSUBUSW, m, f.base)
	index = b.map1(func(i int, d reg.Register) { b.VPSRLD(U8(16+f.shift), index[i], d) })
	look := b.lookup(f.table, index)
	y := b.sub(m, look(0))
	s := look(tableRows - 1)
	for row := tableRows - 2; row > 1; row-- {
		s = b.add(b.mul(s, y), look(row))
	}
	v := b.add(b.mul(s, y), b.pick(b.isZero(index), t, look(1)))
	return b.withSign(v, x)
}

// isZero chooses the lanes that are zero.
func (b batch) isZero(x vals) masks {
	m := make(masks, b.n)
	if b.wide {
		for i := range m {
			m[i] = b.K()
			b.VPTESTNMD(x[i], x[i], m[i])
		}
		return m
	}
	zero := b.vec()
	b.VPXOR(zero, zero, zero)
	for i := range m {
		m[i] = b.vec()
		b.VPCMPEQD(zero, x[i], m[i])
	}
	return m
}

// lookup returns what fetches a row's elements at an index, whose low four bits
// count. With AVX2 a row is two registers, of which bit 3 chooses.
func (b batch) lookup(table string, index vals) func(row int) vals {
	const size = 4 * 16
	at := func(row, i int) Mem { return global(table, row*size+i*b.size(), 1) }
	if b.wide {
		return func(row int) vals {
			r := b.vec()
			b.VMOVUPS(at(row, 0), r)
			return b.map1(func(i int, d reg.Register) { b.VPERMPS(r, index[i], d) })
		}
	}
	upper := b.map1(func(i int, d reg.Register) { b.VPSLLD(U8(28), index[i], d) })
	return func(row int) vals {
		return b.map1(func(i int, d reg.Register) {
			lo, hi := b.vec(), b.vec()
			b.VPERMPS(at(row, 0), index[i], lo)
			b.VPERMPS(at(row, 1), index[i], hi)
			b.VBLENDVPS(upper[i], hi, lo, d)
		})
	}
}
