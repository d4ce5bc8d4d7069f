package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// rowStep is the number of elements of a turn of the loops over rows; sums have
// as many lanes, so that their order is the same at every level.
const rowStep = 16

// rows writes the primitives of reductions, softmax and norms. n is a multiple
// of rowStep, at least one; the numbers are f64.
type rows struct {
	isa
	n reg.GPVirtual
}

// parts is the number of registers of f64 that hold rowStep elements.
func (r *rows) parts() int { return rowStep * 8 / r.size() }

// start begins a function.
func (r *rows) start(name, signature, doc string) {
	r.Function("row" + name + r.name())
	r.Attributes(attr.NOSPLIT)
	r.Pragma("noescape")
	r.Doc("row" + name + r.name() + " " + doc)
	r.SignatureExpr(signature)
	r.n = r.pointer("n")
}

func (r *rows) pointer(name string) reg.GPVirtual {
	p := r.GP64()
	r.Load(r.Param(name), p)
	return p
}

// number broadcasts a parameter.
func (r *rows) number(name string) value {
	v := r.vec()
	a, err := r.Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	r.VBROADCASTSD(a.Addr, v)
	return v
}

// loop repeats body for every rowStep elements and advances the pointers.
func (r *rows) loop(body func(), pointers ...reg.GPVirtual) {
	r.Label("loop")
	body()
	for _, p := range pointers {
		r.ADDQ(U8(4*rowStep), p)
	}
	r.SUBQ(U8(rowStep), r.n)
	r.JNE(LabelRef("loop"))
}

// get converts part i of the elements at p.
func (r *rows) get(p reg.GPVirtual, i int) value {
	v := r.vec()
	r.VCVTPS2PD(Mem{Base: p, Disp: i * r.size() / 2}, v)
	return v
}

func (r *rows) put(v value, p reg.GPVirtual, i int) {
	r.VMOVUPS(r.narrow(v), Mem{Base: p, Disp: i * r.size() / 2})
}

// lanes loads the sums so far; done stores them.
func (r *rows) sums(p reg.GPVirtual) []value {
	var s []value
	for i := range r.parts() {
		v := r.vec()
		r.VMOVUPD(Mem{Base: p, Disp: i * r.size()}, v)
		s = append(s, v)
	}
	return s
}

func (r *rows) done(sums []value, p reg.GPVirtual) {
	for i, v := range sums {
		r.VMOVUPD(v, Mem{Base: p, Disp: i * r.size()})
	}
	r.VZEROUPPER()
	r.RET()
}

func emitRows(s isa) {
	r := &rows{isa: s}
	r.expSum()
}

func (r *rows) expSum() {
	r.start("ExpSum", "func(dst, src *float32, n int, shift float64, lanes *float64)",
		"stores exp(x-shift) and adds it, before it is rounded, to the lanes.")
	dst, src, lanes, shift := r.pointer("dst"), r.pointer("src"), r.pointer("lanes"), r.number("shift")
	sums := r.sums(lanes)
	r.loop(func() {
		for i, v := range sums {
			e := r.exp(r.sub(r.get(src, i), shift))
			r.VADDPD(e, v, v)
			r.put(e, dst, i)
		}
	}, dst, src)
	r.done(sums, lanes)
}
