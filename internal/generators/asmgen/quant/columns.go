package main

import (
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// emitColumns writes the data that epilogues need of every column: a factor, and a
// term before it. A layer of many columns and few rows would wait for them.
func emitColumns(w writer) {
	for _, wide := range []bool{true, false} {
		level, v, step, note := "AVX512", z, 16, "."
		if !wide {
			level, v, step, note = "AVX2", y, 8, "; n is a\nmultiple of 8."
		}
		w.begin("qFactors"+level, "func(n int, v *float32, x, y float32)",
			"sets v = x·v/y, rounded after each operation"+note)
		n, p := w.arg("n"), w.arg("v")
		w.broadcast("x", v(2))
		w.broadcast("y", v(3))
		w.columns(n, step, []reg.GPVirtual{p}, func() {
			w.take(wide, at(p, 0), v(0))
			w.VMULPS(v(2), v(0), v(0))
			w.VDIVPS(v(3), v(0), v(0))
			w.give(wide, v(0), at(p, 0))
		})
		w.begin("qTerms"+level, "func(n int, sums *int32, zero int32, dst *int32)",
			"takes zero·sums from dst"+note)
		n, sums, to := w.arg("n"), w.arg("sums"), w.arg("dst")
		w.broadcast("zero", v(2))
		w.columns(n, step, []reg.GPVirtual{sums, to}, func() {
			w.take(wide, at(sums, 0), v(0))
			w.take(wide, at(to, 0), v(1))
			w.VPMULLD(v(2), v(0), v(0))
			w.VPSUBD(v(0), v(1), v(1))
			w.give(wide, v(1), at(to, 0))
		})
	}
}

// columns runs body for vectors of step elements, n in all, which the pointers move
// along; K1 selects those of a vector of 16.
func (w writer) columns(n reg.GPVirtual, step int, pointers []reg.GPVirtual, body func()) {
	count := w.GP64()
	w.Label("vector")
	if step == 16 {
		w.MOVQ(U32(16), count)
		w.CMPQ(n, count)
		w.CMOVQLT(n, count)
		w.lanes(count, reg.K1)
	}
	body()
	for _, p := range pointers {
		w.ADDQ(U8(4*step), p)
	}
	w.SUBQ(U8(step), n)
	w.JG(LabelRef("vector"))
	w.end()
}

// take loads the lanes of K1 of a wide vector, else a whole one.
func (w writer) take(wide bool, from Mem, v reg.VecPhysical) {
	if wide {
		w.VMOVDQU32_Z(from, reg.K1, v)
	} else {
		w.VMOVDQU(from, v)
	}
}

// give stores the lanes of K1 of a wide vector, else a whole one.
func (w writer) give(wide bool, v reg.VecPhysical, to Mem) {
	if wide {
		w.VMOVDQU32(v, reg.K1, to)
	} else {
		w.VMOVDQU(v, to)
	}
}
