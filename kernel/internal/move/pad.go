package move

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// Pad adds Lo[d] elements before and Hi[d] after dimension d; negative counts
// crop. Mode is "constant" (Value, rounded to the element type), "reflect" (the
// mirror image without the edge), "replicate" (the edge) or "circular".
//
//gofx:kernel
type Pad struct {
	Lo, Hi []int
	Mode   string
	Value  float64
}

// ScratchBytes implements Scratcher.
func (p Pad) ScratchBytes(out, _ []*array.Array) int {
	if p.Mode == "constant" {
		return 0
	}
	n := 0
	for _, size := range out[0].Shape() {
		n += par.ScratchSize(size, 8)
	}
	return n
}

// Run implements Step.
func (p Pad) Run(w *par.Workspace, out, in []*array.Array) {
	o, a := out[0], in[0]
	if r := operand.CheckRank("pad", a); len(p.Lo) != r || len(p.Hi) != r || o.Rank() != r {
		operand.BadOperand("pad", "the numbers of paddings and dimensions differ")
	}
	if o.Len() == 0 {
		return
	}
	if p.Mode == "constant" {
		p.constant(w, o, a)
		return
	}
	defer w.Release(w.Mark())
	var table [operand.MaxRank][]int64
	for d, n := range o.Shape() {
		if a.Dim(d) == 0 {
			operand.BadOperand("pad", "the operand has no elements to repeat")
		}
		table[d] = par.Scratch[int64](w, n)
		p.sources(table[d], p.Lo[d], a.Dim(d))
		for i := range table[d] {
			table[d][i] *= int64(a.Strides()[d])
		}
	}
	switch o.DType().Size() {
	case 1:
		padFrom(RawOut[uint8](o), array.Raw[uint8](a), a.Offset(), table[:o.Rank()])
	case 2:
		padFrom(RawOut[uint16](o), array.Raw[uint16](a), a.Offset(), table[:o.Rank()])
	case 4:
		padFrom(RawOut[uint32](o), array.Raw[uint32](a), a.Offset(), table[:o.Rank()])
	default:
		padFrom(RawOut[uint64](o), array.Raw[uint64](a), a.Offset(), table[:o.Rank()])
	}
}

// constant fills o and copies the part of a that lies inside it.
func (p Pad) constant(w *par.Workspace, o, a *array.Array) {
	fillBits(o, operand.ValueBits(o.DType(), p.Value))
	var m Nest
	do, so := o.Offset(), a.Offset()
	for d, n := range a.Shape() {
		skip, put := max(-p.Lo[d], 0), max(p.Lo[d], 0)
		so += skip * a.Strides()[d]
		do += put * o.Strides()[d]
		m.Push(max(min(n-skip, o.Dim(d)-put), 0), o.Strides()[d], a.Strides()[d])
	}
	Move(w, o, do, a, so, &m)
}

// sources sets idx to the source positions in a dimension of n elements.
func (p Pad) sources(idx []int64, lo, n int) {
	for i := range idx {
		k := i - lo
		switch p.Mode {
		case "reflect":
			if n == 1 {
				k = 0
				break
			}
			k = Mod(k, 2*(n-1))
			k = min(k, 2*(n-1)-k)
		case "replicate":
			k = min(max(k, 0), n-1)
		case "circular":
			k = Mod(k, n)
		default:
			operand.BadOperand("pad", "unknown mode "+p.Mode)
		}
		idx[i] = int64(k)
	}
}

// padFrom reads one source position per dimension from tables of offsets. The
// innermost table is one row of indices that serves every row and stays in the
// first cache.
func padFrom[T array.Elem](dst, src []T, off int, table [][]int64) {
	if len(table) == 0 {
		dst[0] = src[off]
		return
	}
	last := len(table) - 1
	inner := table[last]
	var at [operand.MaxRank]int
	for ; len(dst) > 0; dst = dst[len(inner):] {
		pos := off
		for d := range last {
			pos += int(table[d][at[d]])
		}
		row := dst[:len(inner)]
		for i, k := range inner {
			row[i] = src[pos+int(k)]
		}
		for d := last - 1; d >= 0; d-- {
			if at[d]++; at[d] < len(table[d]) {
				break
			}
			at[d] = 0
		}
	}
}
