package lower

import (
	"fmt"
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/source"
	"github.com/gofx-dev/gofx/op/expr"
)

// Operands of the products of quantised values; values are followed by their scale and zero point.
const (
	quantX        = 0
	quantWeight   = 3
	quantScale    = 6 // of the result
	quantZero     = 7
	quantBias     = 8
	quantTable    = 9
	quantResidual = 10
)

// quant is a product of quantised values: sums of integers, exact modulo 2^32, and what becomes of them.
type quant struct {
	*call
	relu    bool
	max     float32
	channel []int // the shape of one number for each channel, next to the result
	across  []int // next to the weight
}

// given returns an operand as it is broadcast: one element, or one for each channel.
func (q *quant) given(i int, dims []int) *Operand {
	v := q.dense(i)
	if v == nil {
		return nil
	}
	if v.Header.Len() == 1 {
		dims = []int{1}
	}
	return &Operand{Header: array.Reshape(v.Header, dims...), Buf: v.Buf}
}

// zeroOf is a zero point less what bytes of type d are stored less; v may be nil, for 0.
func zeroOf(eb *expr.Builder, v *Operand, x expr.Value, less int64) expr.Value {
	if v == nil {
		return eb.ConstInt(array.I32, -less)
	}
	return eb.Sub(eb.Cast(x, array.I32), eb.ConstInt(array.I32, less))
}

// signed is what words hold less than bytes of type d are.
func signed(d array.DType) int64 {
	if d == array.U8 {
		return 128
	}
	return 0
}

// less returns operand i less its zero point, as numbers of type d.
func (q *quant) less(i int, dims []int, d array.DType) *Operand {
	v, zero := q.placed(i), q.given(i+2, dims)
	return q.shared(fmt.Sprint("less ", d), []*Operand{v, zero}, func() *Operand {
		return q.formula(d, v.Shape(), []*Operand{v, zero}, func(eb *expr.Builder, x []expr.Value) expr.Value {
			return eb.Sub(eb.Cast(x[0], array.I32), zeroOf(eb, zero, x[1], 0))
		})
	})
}

// known reports whether values are there before any run.
func (c *call) known(in ...*Operand) bool {
	for _, v := range in {
		if v != nil && !c.b.Buffers[v.Buf].Setup {
			return false
		}
	}
	return true
}

// ratio is the product of scales a and b over that of the result, rounded after each operation; a scale that is
// not given is 1. It is made once where that can be, else for each number.
func (q *quant) ratio(eb *expr.Builder, read func(*Operand) expr.Value, a, b, y *Operand) expr.Value {
	in, dims := []*Operand{a, b, y}, []int{1}
	of := func(eb *expr.Builder, x []expr.Value) expr.Value {
		s := eb.Const(array.F32, 1)
		if a != nil {
			s = x[0]
		}
		if b != nil {
			s = eb.Mul(s, x[1])
		}
		if y != nil {
			s = eb.Div(s, x[2])
		}
		return s
	}
	if b != nil {
		dims = b.Shape()
	}
	if q.known(in...) {
		return read(q.formula(array.F32, dims, in, of))
	}
	x := make([]expr.Value, len(in))
	for i, v := range in {
		if v != nil {
			x[i] = read(v)
		}
	}
	return of(eb, x)
}

// finish is the result of sums, to which offset is added; of weights whose zero point is not 0 it is
// taken off, times the sums of rows.
func (q *quant) finish(k *contraction, offset, rows, zero *Operand) ([]*Operand, error) {
	out := q.result(0)
	h := out.Header
	k.node = q.n
	eb := expr.NewBuilder()
	p := &pending{node: q.n, from: k, acc: 0, in: []*Operand{{Header: Header(array.I32, h.Shape()), Buf: -1}}}
	read := func(v *Operand) expr.Value { return eb.Input(p.index(v), v.DType()) }
	sum := eb.Input(0, array.I32)
	if offset != nil {
		sum = eb.Add(sum, read(offset))
	}
	if rows != nil {
		sum = eb.Sub(sum, eb.Mul(read(rows), read(zero)))
	}
	var y expr.Value
	switch h.DType() {
	case array.I32:
		y = sum
	case array.F32:
		y = eb.Mul(eb.Cast(sum, array.F32), q.scales(eb, read, nil))
		if bias := q.given(quantBias, q.channel); bias != nil && bias.DType() == array.F32 {
			y = eb.Add(y, read(bias))
		}
	default:
		y = q.bytes(eb, read, sum, h.DType())
	}
	p.g = eb.Graph(eb.Cast(y, h.DType()))
	v := &Operand{Header: h, todo: p}
	if table := q.dense(quantTable); table != nil {
		q.b.place(v)
		q.emit(source.Lookup(h.Len()), []*Operand{out}, []*Operand{v, table})
		v = out
	}
	return []*Operand{v}, nil
}

// scales are the factors of the channels' sums.
func (q *quant) scales(eb *expr.Builder, read func(*Operand) expr.Value, y *Operand) expr.Value {
	return q.ratio(eb, read, q.given(quantX+1, nil), q.given(quantWeight+1, q.channel), y)
}

// bytes scales sums to a result of 8 bits, as kernel.QLinear does.
func (q *quant) bytes(eb *expr.Builder, read func(*Operand) expr.Value, sum expr.Value, d array.DType) expr.Value {
	scale, zero := q.given(quantScale, nil), q.given(quantZero, nil)
	y := eb.Mul(eb.Cast(sum, array.F32), q.scales(eb, read, scale))
	if r := q.placed(quantResidual); r != nil {
		unit, none := q.given(quantResidual+1, nil), q.given(quantResidual+2, nil)
		var z expr.Value
		if none != nil {
			z = read(none)
		}
		less := eb.Sub(eb.Cast(read(r), array.I32), zeroOf(eb, none, z, 0))
		y = eb.Add(y, eb.Mul(eb.Cast(less, array.F32), q.ratio(eb, read, unit, nil, scale)))
	}
	var z expr.Value
	if zero != nil {
		z = read(zero)
	}
	at := zeroOf(eb, zero, z, 0)
	low, high := int64(0), int64(255)
	if d == array.I8 {
		low, high = -128, 127
	}
	end := func(v int64) expr.Value { return eb.Cast(eb.Sub(eb.ConstInt(array.I32, v), at), array.F32) }
	lo, hi := end(low), end(high)
	if q.relu {
		lo = eb.Max(lo, eb.Const(array.F32, 0))
	}
	if q.max > 0 {
		hi = eb.Min(hi, eb.Max(lo, read(q.most(scale))))
	}
	return eb.Add(eb.Cast(rounded(eb, y, lo, hi), array.I32), at)
}

// most is the real limit of results, in units of their scale.
func (q *quant) most(scale *Operand) *Operand {
	return q.formula(array.F32, []int{1}, []*Operand{scale}, func(eb *expr.Builder, x []expr.Value) expr.Value {
		v := eb.Const(array.F32, float64(q.max))
		if scale != nil {
			v = eb.Div(v, x[0])
		}
		return rounded(eb, v, eb.Const(array.F32, 0), eb.Const(array.F32, 1<<20))
	})
}

// rounded is x within limits, lo where it is NaN, halves rounded to even.
func rounded(eb *expr.Builder, x, lo, hi expr.Value) expr.Value {
	x = eb.Select(eb.Gt(x, lo), x, lo)
	return eb.Round(eb.Select(eb.Lt(x, hi), x, hi))
}

// bias is what is added to sums: none where it is a float.
func (q *quant) bias() *Operand {
	if b := q.given(quantBias, q.channel); b != nil && b.DType() == array.I32 {
		return b
	}
	return nil
}

// offset is what makes sums of words those of the values: the bias, less what the zero point of x adds. The
// sums of the weight's bytes are those of depth numbers each.
func (q *quant) offset(sums *Operand, depth int) *Operand {
	x, zero, w, bias := q.placed(quantX), q.given(quantX+2, nil), q.wordZero(), q.bias()
	return q.formula(array.I32, sums.Shape(), []*Operand{sums, zero, w, bias}, func(eb *expr.Builder, in []expr.Value) expr.Value {
		less := zeroOf(eb, zero, in[1], signed(x.DType()))
		y := in[0]
		if w != nil {
			y = eb.Sub(y, eb.Mul(eb.ConstInt(array.I32, int64(depth)), in[2]))
		}
		y = eb.Neg(eb.Mul(less, y))
		if bias != nil {
			y = eb.Add(y, in[3])
		}
		return y
	})
}

// wordZero is the zero point of the words of the weight; nil where it is 0.
func (q *quant) wordZero() *Operand {
	less, zero := signed(q.in[quantWeight].DType()), q.given(quantWeight+2, q.channel)
	if zero == nil && less == 0 {
		return nil
	}
	dims := []int{1}
	if zero != nil {
		dims = zero.Shape()
	}
	return q.formula(array.I32, dims, []*Operand{zero}, func(eb *expr.Builder, x []expr.Value) expr.Value { return zeroOf(eb, zero, x[0], less) })
}

// words lays the last dimension of bytes out for products of four; tensor cores read quads of words.
func (c *call) words(v *Operand) *Operand {
	dims := slices.Clone(v.Shape())
	last := len(dims) - 1
	if depth := dims[last]; c.b.byteCores(source.TensorLeast, source.TensorLeast, depth) {
		dims[last] = source.QuadsOf(depth)
	} else {
		dims[last] = source.WordsOf(depth)
	}
	return c.shared("words", []*Operand{v}, func() *Operand {
		out := c.b.temp(array.I32, dims)
		c.emit(source.Words(v.view(), last, 1, dims, make([]int, len(dims)), false), []*Operand{out}, []*Operand{v})
		return out
	})
}

// rowSums adds the bytes of rows of words.
func (c *call) rowSums(words *Operand) *Operand {
	dims := words.Shape()
	last := len(dims) - 1
	return c.shared("row sums", []*Operand{words}, func() *Operand {
		out := c.b.temp(array.I32, dims[:last])
		c.emit(source.RowSums(count(dims[:last]), dims[last]), []*Operand{out}, []*Operand{words})
		return out
	})
}

func quantLinear(c *call) ([]*Operand, error) {
	k, err := stepOf[*kernel.QLinear](c)
	if err != nil {
		return nil, err
	}
	w := c.placed(quantWeight)
	n := w.Shape()[0]
	return (&quant{call: c, relu: k.ReLU, max: k.Max, channel: []int{n}, across: []int{n, 1}}).matrix(w.Shape()[1], n, true)
}

func quantMatmul(c *call) ([]*Operand, error) {
	k, err := stepOf[*kernel.QMatMul](c)
	if err != nil {
		return nil, err
	}
	w := c.placed(quantWeight).Shape()
	n := w[len(w)-1]
	return (&quant{call: c, relu: k.ReLU, max: k.Max, channel: []int{n}, across: []int{n}}).matrix(w[len(w)-2], n, false)
}

// matrix multiplies by a matrix of depth rows and n columns, or its transpose.
func (q *quant) matrix(depth, n int, turned bool) ([]*Operand, error) {
	if q.result(0).Header.Len() == 0 {
		return []*Operand{q.result(0)}, nil
	}
	flat := func(v *Operand) *Operand { // rows of a linear layer are one matrix
		if !turned {
			return v
		}
		return reshaped(v, q.result(0).Header.Len()/n, len2(v))
	}
	right := func(v *Operand) *Operand {
		if turned {
			return swapped(v)
		}
		return v
	}
	switch host := q.b.info.Host; {
	case depth > 0 && !host:
		return q.inWords(flat, turned, depth)
	case depth > 0 && n > 1 && turned:
		x, w := q.less(quantX, nil, array.F32), q.bytesOf(depth)
		t := source.TileFor(q.b.info.Vector, n)
		t.Whole = true
		k := &contraction{in: append([]*Operand{x}, w.packed(t)...)}
		k.kernel = flattened(flat(x), x, true, func(o, x source.View, e source.Epilogue) *source.Kernel { return t.Narrow(o, x, w.Narrow, e) })
		return q.finish(k, q.bias(), nil, nil)
	case depth > 0 && n > 1:
		x, w := q.less(quantX, nil, array.F32), q.less(quantWeight, q.across, array.F32)
		t := source.TileFor(q.b.info.Vector, n)
		t.Whole = true
		k := &contraction{in: []*Operand{x, q.pack(t, w, w.view())}}
		k.kernel = func(o source.View, e source.Epilogue) *source.Kernel { return t.Product(o, x.view(), w.Shape(), e) }
		return q.finish(k, q.bias(), nil, nil)
	}
	x, w := q.less(quantX, nil, array.I16), right(q.less(quantWeight, q.across, array.I16))
	k := &contraction{in: []*Operand{x, w}}
	k.kernel = flattened(flat(x), x, turned, func(o, x source.View, e source.Epilogue) *source.Kernel {
		return source.Dot(o, x, w.view(), e)
	})
	return q.finish(k, q.bias(), nil, nil)
}

// bytesOf is the weight of a linear layer, which its kernel reads as it is.
func (q *quant) bytesOf(depth int) *narrow {
	w := q.dense(quantWeight)
	n := &narrow{call: q.call, Narrow: source.Narrow{DType: w.DType(), Depth: depth, Group: depth}, rows: w.Shape()[0], in: []*Operand{w}}
	n.Zero = n.param(quantWeight + 2)
	return n
}

// inWords multiplies words, by tensor cores or in blocks of local memory.
func (q *quant) inWords(flat func(*Operand) *Operand, turned bool, depth int) ([]*Operand, error) {
	x, w := q.placed(quantX), q.placed(quantWeight)
	if !turned {
		w = swapped(w)
	}
	xw, ww := q.words(x), q.words(w)
	sums := q.rowSums(ww)
	if dims := sums.Shape(); !turned {
		sums = reshaped(sums, slices.Insert(slices.Clone(dims), len(dims)-1, 1)...)
	}
	k := &contraction{in: []*Operand{xw, ww}}
	k.kernel = flattened(flat(xw), xw, turned, func(o, x source.View, e source.Epilogue) *source.Kernel {
		if q.b.byteCores(o.Shape[len(o.Shape)-2], o.Shape[len(o.Shape)-1], depth) {
			return q.warps(o.Shape).Product(o, x, swapped(ww).view(), e)
		}
		b := q.block(o.Shape)
		b.Words = true
		return b.Product(o, x, swapped(ww).view(), e)
	})
	zero := q.wordZero()
	var rows *Operand
	if zero != nil {
		rows = q.rowSums(xw)
		rows = reshaped(rows, append(slices.Clone(rows.Shape()), 1)...)
	}
	return q.finish(k, q.offset(sums, depth), rows, zero)
}
