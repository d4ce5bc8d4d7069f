package main

import (
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// tableFunc is an odd function that a table of package vmath has; see
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
	sign := b.keep(0, x)
	m := b.atMost(b.absolute(x), f.far)
	index := b.op2(b.VPSUBUSW, m, f.base)
	index = b.map1(func(i int, d reg.Register) { b.VPSRLD(U8(16+f.shift), index[i], d) })
	look := b.lookup(f.table, index)
	// In interval 0 nothing is too far: m is the argument.
	head := b.keep(1, b.all(b.whereZero(index, m, look(1))))
	y := b.sub(m, look(0))
	s := b.all(look(tableRows - 1))
	for row := tableRows - 2; row > 1; row-- {
		s = b.add(b.mul(s, y), look(row))
	}
	return b.withSign(b.add(b.mul(s, y), head), sign)
}

// whereZero is x in the lanes where index is zero, y in the others.
func (b batch) whereZero(index, x vals, y later) later {
	if b.wide {
		return func(i int) Op {
			k := b.K()
			b.VPTESTNMD(index[i], index[i], k)
			return b.blend(k, x[i], y(i))
		}
	}
	zero := b.vec()
	b.VPXOR(zero, zero, zero)
	return func(i int) Op {
		m := b.vec()
		b.VPCMPEQD(zero, index[i], m)
		return b.blend(m, x[i], y(i))
	}
}

// lookup returns a function that fetches a row's elements at an index, whose
// low four bits count. With AVX2 a row is two registers, of which bit 3
// chooses.
func (b batch) lookup(table string, index vals) func(row int) later {
	const size = 4 * 16
	at := func(row, i int) Mem { return global(table, row*size+i*b.size(), 1) }
	if b.wide {
		return func(row int) later {
			r := b.vec()
			b.VMOVUPS(at(row, 0), r)
			return func(i int) Op {
				d := b.vec()
				b.VPERMPS(r, index[i], d)
				return d
			}
		}
	}
	upper := b.map1(func(i int, d reg.Register) { b.VPSLLD(U8(28), index[i], d) })
	return func(row int) later {
		return func(i int) Op {
			lo, hi := b.vec(), b.vec()
			b.VPERMPS(at(row, 0), index[i], lo)
			b.VPERMPS(at(row, 1), index[i], hi)
			return b.blend(upper[i], hi, lo)
		}
	}
}
