// Command quant writes the assembly of the quantised kernels below package kernel and
// its Go stubs, for amd64 with avo: zq*_amd64.s, zq*_arm64.s and .go. The files it
// writes are checked in; a test regenerates them and compares byte for byte.
package main

import (
	"maps"

	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/gofx-dev/gofx/internal/generators/asmgen/simd"
)

// unit is one pair of generated files, zq<name>_amd64.s and zq<name>_amd64.go.
type unit struct {
	family, name string
	emit         func(writer)
}

var units = []unit{
	{"quant", "gemm", emitGemm},
	{"quant", "scale", emitScale},
	{"quant", "columns", emitColumns},
	{"quant", "depthwise", emitDepthwise},
	{"quant", "depthplane", emitDepthPlane},
	{"quant", "depthrows", emitDepthRows},
	{"quant", "transpose", emitTranspose},
	{"quant", "plane", emitPlane},
	{"quant", "bytes", emitBytes},
	{"quant", "lookup", emitLookup},
	{"quant", "pool", emitPool},
	{"quant", "frame", emitFrame},
	{"quant", "group", emitGroup},
	{"half", "weights", emitWeights},
	{"half", "blocks", emitBlocks},
	{"half", "products", emitProducts},
}

// generate returns the contents of the generated files by name.
func generate() (map[string][]byte, error) {
	var list []simd.Unit
	for _, u := range units {
		list = append(list, simd.Unit{Family: u.family, Name: "q" + u.name, Emit: func(c *build.Context) { u.emit(writer{c}) }})
	}
	files, err := simd.Files("asmgen/quant", list)
	if err != nil {
		return nil, err
	}
	maps.Copy(files, arm64Files())
	maps.Copy(files, neonBytes())
	return files, nil
}

func main() { simd.Main("asmgen/quant", generate) }

// writer writes functions instruction by instruction.
type writer struct {
	*build.Context
}

// begin starts a function whose arguments do not escape.
func (w writer) begin(name, signature, doc string) {
	simd.Begin(w.Context, name, signature, doc)
}

// end restores the upper halves for SSE code and returns.
func (w writer) end() {
	w.VZEROUPPER()
	w.RET()
}

// arg loads a parameter into a general register.
func (w writer) arg(name string) reg.GPVirtual {
	r := w.GP64()
	w.Load(w.Param(name), r)
	return r
}

// lanes makes opmask k select the first n of up to 64 lanes.
func (w writer) lanes(n reg.GPVirtual, k reg.Register) {
	t := w.GP64()
	w.MOVQ(I32(-1), t)
	w.BZHIQ(n, t, t)
	w.KMOVQ(t, k)
}

// at is the memory disp bytes after a register.
func at(base reg.Register, disp int) Mem { return Mem{Base: base, Disp: disp} }

// indexed is the memory disp bytes after base+index·scale.
func indexed(base, index reg.Register, scale uint8, disp int) Mem {
	return Mem{Base: base, Index: index, Scale: scale, Disp: disp}
}

func z(i int) reg.VecPhysical {
	return [...]reg.VecPhysical{reg.Z0, reg.Z1, reg.Z2, reg.Z3, reg.Z4, reg.Z5, reg.Z6, reg.Z7,
		reg.Z8, reg.Z9, reg.Z10, reg.Z11, reg.Z12, reg.Z13, reg.Z14, reg.Z15,
		reg.Z16, reg.Z17, reg.Z18, reg.Z19, reg.Z20, reg.Z21, reg.Z22, reg.Z23,
		reg.Z24, reg.Z25, reg.Z26, reg.Z27, reg.Z28, reg.Z29, reg.Z30, reg.Z31}[i]
}

func y(i int) reg.VecPhysical { return z(i).AsY().(reg.VecPhysical) }

func x(i int) reg.VecPhysical { return z(i).AsX().(reg.VecPhysical) }

// fours brings the bytes of four registers, r(from) and on, together in fours: those of
// each place lie side by side in r(from+8) to r(from+11), in the order of unpacking.
func (w writer) fours(r func(int) reg.VecPhysical, from int) {
	for half := range 2 {
		w.VPUNPCKLBW(r(from+2*half+1), r(from+2*half), r(from+4+2*half))
		w.VPUNPCKHBW(r(from+2*half+1), r(from+2*half), r(from+5+2*half))
	}
	for half := range 2 {
		w.VPUNPCKLWD(r(from+6+half), r(from+4+half), r(from+8+2*half))
		w.VPUNPCKHWD(r(from+6+half), r(from+4+half), r(from+9+2*half))
	}
}

// flippedFours is fours of Z0 to Z3, flipped by Z31.
func (w writer) flippedFours() {
	w.fours(z, 0)
	for v := range 4 {
		w.VPXORD(z(31), z(8+v), z(8+v))
	}
}

// fields returns a function that loads the word of a struct at s.
func (w writer) fields(s reg.Register) func(off int) reg.GPVirtual {
	return func(off int) reg.GPVirtual {
		r := w.GP64()
		w.MOVQ(at(s, off), r)
		return r
	}
}
