package quant

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// Dynamic is the product of floats with a weight of i8 [n, k] whose zero points are 0.
// Floats are quantised by the range that they have, as DynamicQuantize does; sums of
// bytes are exact and rescaled once. It is for products that steps repeat.
type Dynamic struct {
	b     PackedQ
	units []float32 // scales of the columns
	bytes []uint8
	bias  []int32
	scale []float32
}

// DynamicBytes is the scratch that a Dynamic takes at most, with Add of m rows.
func DynamicBytes(m, n, k int, packed bool) int {
	columns := operand.RoundUp(n, qCols)
	size := 3*par.ScratchSize(columns, 4) + par.ScratchSize(m*k, 1) + qMatrixScratch(m, k, k)
	if !packed {
		size += par.ScratchSize(QLinearPackedBytes(n, k), 1) + par.ScratchSize(n*k, 1)
	}
	return size
}

// NewDynamic prepares products of at most m rows with weight, [n, k] i8 or the
// output of QPackLinear for it, whose scale has one element or n.
func NewDynamic(w *par.Workspace, step string, m, n, k int, weight, scale *array.Array, packed bool) Dynamic {
	if weight.DType() != array.I8 {
		operand.BadOperand(step, "a weight is "+weight.DType().String()+", expected i8")
	}
	perChannel(step, "the scale of a weight", scale, n)
	d := Dynamic{}
	if packed {
		mem := operand.LoadSame[int8](w, weight)
		if size, ok := qPackedBytes(n, 1, k); !ok || size != len(mem) {
			operand.BadOperand(step, "a packed weight has another length than these sizes give")
		}
		d.b = qPacked(mem, n, 1, k)
	} else {
		if weight.Rank() != 2 || weight.Dim(0) != n || weight.Dim(1) != k {
			operand.BadOperand(step, "a weight has another shape than these sizes give")
		}
		d.b = packLinear(w, step, par.Scratch[int8](w, QLinearPackedBytes(n, k)), weight)
	}
	columns := operand.RoundUp(n, qCols)
	d.units, d.scale, d.bias = par.Scratch[float32](w, columns), par.Scratch[float32](w, columns), par.Scratch[int32](w, columns)
	d.bytes = par.Scratch[uint8](w, m*k)
	clear(d.units)
	for i := range n {
		at := i
		if scale.Len() == 1 {
			at = 0
		}
		d.units[i] = scaleAt(step, scale, at)
	}
	return d
}

// Add adds the products of the rows of x [m, k] to rows of c, ldc apart.
func (d *Dynamic) Add(w *par.Workspace, m int, x, c []float32, ldc int) {
	k := d.b.run
	x = x[:m*k]
	lo, hi := rangeOf(w, x)
	scale, zero := rangeParams(lo, hi)
	quantizeFloats(w, d.bytes[:m*k], x, scale, int32(zero))
	j := par.TakeJob[qJob](w)
	*j = d.product(d.bytes, dynamicRange{scale, int32(zero)}, c, ldc, 0, len(d.scale))
	mark := w.Mark()
	j.runMatrix(w, m, k)
	w.Release(mark)
	par.PutJob(w, j)
}

// DynamicColumns is a divisor of the columns at which the parts of a product begin and end.
const DynamicColumns = qCols

// DynamicPart computes columns of such products, with the bits of Add. Goroutines that have each
// their own one may share the columns, as it uses no workspace.
type DynamicPart struct {
	d     *Dynamic
	bytes []uint8
	job   qJob
	m     int
	of    dynamicRange
}

// dynamicRange is how bytes stand for floats.
type dynamicRange struct {
	scale float32
	zero  int32
}

// Part returns a part that has its own bytes, of m rows of k.
func (d *Dynamic) Part(bytes []uint8) DynamicPart { return DynamicPart{d: d, bytes: bytes} }

// product rescales columns [lo, hi), and returns the job that adds products of bytes.
func (d *Dynamic) product(bytes []uint8, of dynamicRange, c []float32, ldc, lo, hi int) qJob {
	rescale(d.b.sums[lo:hi], d.units[lo:hi], of.zero, of.scale, d.bias[lo:hi], d.scale[lo:hi])
	return qJob{a: bytes, b: d.b, out: qEpilogue{floats: c, ld: ldc, bias: d.bias, scale: d.scale, add: c, ldAdd: ldc}}
}

// Quantise takes the rows of x [m, k], all of them.
func (p *DynamicPart) Quantise(m int, x []float32) {
	p.m, x = m, x[:m*p.d.b.run]
	lo, hi := valueRange(x)
	scale, zero := rangeParams(lo, hi)
	p.of = dynamicRange{scale, int32(zero)}
	at := p.of.zero
	quantize(x, scale, float32(-at), float32(255-at), at, p.bytes[:len(x)])
}

// Add adds columns [lo, hi), multiples of DynamicColumns, of the products to c.
func (p *DynamicPart) Add(c []float32, ldc, lo, hi int) {
	p.job = p.d.product(p.bytes, p.of, c, ldc, lo, hi)
	p.job.asMatrix(p.m, p.d.b.run)
	p.job.block = 1
	p.job.Do(lo/qCols*p.job.tiles, hi/qCols*p.job.tiles)
}

// quantizeFloats quantises to u8 on w's threads.
func quantizeFloats(w *par.Workspace, dst []uint8, src []float32, scale float32, zero int32) {
	if w.Threads <= 1 || len(src) < 2*elementwiseWork {
		quantize(src, scale, float32(-zero), float32(255-zero), zero, dst)
		return
	}
	j := par.TakeJob[floatsJob](w)
	*j = floatsJob{dst: dst, src: src, scale: scale, zero: zero}
	w.Parallel((len(src)+elementwiseWork-1)/elementwiseWork, 1, j)
	*j = floatsJob{}
	par.PutJob(w, j)
}

type floatsJob struct {
	dst   []uint8
	src   []float32
	scale float32
	zero  int32
}

// Do quantises parts [lo, hi).
func (j *floatsJob) Do(lo, hi int) {
	from, to := lo*elementwiseWork, min(hi*elementwiseWork, len(j.src))
	quantize(j.src[from:to], j.scale, float32(-j.zero), float32(255-j.zero), j.zero, j.dst[from:to])
}
