package lower

import (
	"math"
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/source"
	"github.com/gofx-dev/gofx/op/expr"
)

// formed is an expression of a call over its operands, in the order of operations that the kernels of package kernel have, so
// that it gives their bits.
type formed struct {
	*call
	*expr.Builder
	in    []*Operand
	alone []bool
}

func (c *call) formed() *formed { return &formed{call: c, Builder: expr.NewBuilder()} }

// read is operand i, which nothing is computed of before.
func (f *formed) read(i int) expr.Value {
	return f.add(f.call.in[i], solitary(f.n)[i])
}

// add is a value as an input of the expression, the one that it was added as before.
func (f *formed) add(v *Operand, alone bool) expr.Value {
	k := slices.IndexFunc(f.in, v.same)
	if k < 0 {
		k = len(f.in)
		f.in, f.alone = append(f.in, v), append(f.alone, alone)
	}
	return f.Input(k, v.DType())
}

// param is operand i as one number, or one for each index of an axis next to rank dimensions; ok is false for an absent one.
func (f *formed) param(i, axis, rank int) (x expr.Value, ok bool) {
	v := f.dense(i)
	if v == nil {
		return x, false
	}
	dims := []int{}
	if n := v.Header.Len(); n != 1 {
		dims = make([]int, rank-axes([]int{axis}, rank)[0])
		for k := range dims {
			dims[k] = 1
		}
		dims[0] = n
	}
	return f.add(reshaped(v, dims...), false), true
}

// unit is operand i, one number; 1 where it is absent.
func (f *formed) unit(i int) expr.Value {
	if x, ok := f.param(i, 0, 0); ok {
		return x
	}
	return f.Const(array.F32, 1)
}

// less is operand i, bytes, less its zero point, two operands after it, as i32.
func (f *formed) less(i int) expr.Value {
	x := f.Cast(f.read(i), array.I32)
	if zero, ok := f.param(i+2, 0, 0); ok {
		x = f.Sub(x, f.Cast(zero, array.I32))
	}
	return x
}

// float is an integer as f32.
func (f *formed) float(x expr.Value) expr.Value { return f.Cast(x, array.F32) }

// result is the call's, which waits for what follows.
func (f *formed) result(y expr.Value) ([]*Operand, error) {
	return f.b.elementwise(f.n, f.Graph(f.Cast(y, f.n.Type().Members()[0].DType())), f.in, f.alone)
}

// quantised is x, in units of its scale, as integers of type d around a zero point, i32; relu limits them to real numbers from 0.
func quantised(eb *expr.Builder, x expr.Value, d array.DType, zero expr.Value, some, relu bool) expr.Value {
	least, most := int64(0), int64(1)<<d.Bits()-1
	if d.IsSigned() {
		least, most = -1<<(d.Bits()-1), int64(1)<<(d.Bits()-1)-1
	}
	if !some {
		zero = eb.ConstInt(array.I32, 0)
	}
	lo, hi := eb.Sub(eb.Const(array.F32, float64(least)), eb.Cast(zero, array.F32)), eb.Sub(eb.Const(array.F32, float64(most)), eb.Cast(zero, array.F32))
	if relu {
		lo = eb.Max(lo, eb.Const(array.F32, 0))
	}
	return eb.Add(eb.Cast(rounded(eb, x, lo, hi), array.I32), zero)
}

// again is x quantised with the zero point of operand i.
func (f *formed) again(x expr.Value, i int, relu bool) expr.Value {
	zero, ok := f.param(i, 0, 0)
	if ok {
		zero = f.Cast(zero, array.I32)
	}
	return quantised(f.Builder, x, f.n.Type().Members()[0].DType(), zero, ok, relu)
}

func quantize(c *call) ([]*Operand, error) {
	k, err := stepOf[*kernel.Quantize](c)
	if err != nil {
		return nil, err
	}
	f, rank := c.formed(), len(c.in[0].Shape())
	x := f.float(f.read(0))
	scale, _ := f.param(1, k.Axis, rank)
	zero, ok := f.param(2, k.Axis, rank)
	if ok {
		zero = f.Cast(zero, array.I32)
	}
	return f.result(quantised(f.Builder, f.Div(x, f.float(scale)), c.n.Type().Members()[0].DType(), zero, ok, false))
}

func dequantize(c *call) ([]*Operand, error) {
	k, err := stepOf[*kernel.Dequantize](c)
	if err != nil {
		return nil, err
	}
	f, rank := c.formed(), len(c.in[0].Shape())
	x := f.Cast(f.read(0), array.I32)
	scale, _ := f.param(1, k.Axis, rank)
	if zero, ok := f.param(2, k.Axis, rank); ok {
		x = f.Sub(x, f.Cast(zero, array.I32))
	}
	return f.result(f.Mul(f.float(x), f.float(scale)))
}

// Operands of q_add and q_mul, and of q_concat.
const (
	pairB     = 3
	pairScale = 6
	pairZero  = 7
)

func quantAdd(c *call) ([]*Operand, error) {
	k, err := stepOf[*kernel.QAdd](c)
	if err != nil {
		return nil, err
	}
	f := c.formed()
	scale := f.unit(pairScale)
	part := func(i int) expr.Value { return f.Mul(f.float(f.less(i)), f.Div(f.unit(i+1), scale)) }
	return f.result(f.again(f.Add(part(0), part(pairB)), pairZero, k.ReLU))
}

func quantMul(c *call) ([]*Operand, error) {
	k, err := stepOf[*kernel.QMul](c)
	if err != nil {
		return nil, err
	}
	f := c.formed()
	scale := f.Div(f.Mul(f.unit(1), f.unit(pairB+1)), f.unit(pairScale))
	return f.result(f.again(f.Mul(f.float(f.Mul(f.less(0), f.less(pairB))), scale), pairZero, k.ReLU))
}

// quantConcat writes each tensor to its part, quantised as the result is.
func quantConcat(c *call) ([]*Operand, error) {
	k, err := stepOf[*kernel.QConcat](c)
	if err != nil {
		return nil, err
	}
	out, at := c.result(0), 0
	for i := 2; i < len(c.in); i += 3 {
		x := c.placed(i)
		if len(x.Shape()) != len(out.Shape()) {
			continue // an empty vector
		}
		n := x.Shape()[k.Dim]
		part := c.part(out, array.Slice(out.Header, k.Dim, at, at+n, 1))
		at += n
		f := c.formed()
		q, scale, to := f.read(i), f.unit(i+1), f.unit(0)
		again := f.again(f.Div(f.Mul(f.float(f.less(i)), scale), to), 1, false)
		same := f.Eq(scale, to)
		zero, one := f.param(i+2, 0, 0)
		goal, other := f.param(1, 0, 0)
		if one && other {
			same = f.And(same, f.Eq(zero, goal))
		}
		y := f.Select(same, q, f.Cast(again, out.DType()))
		c.b.store(c.b.inline(c.n, f.Graph(y), part.Shape(), f.in, f.alone), part.Shape(), []*Operand{part})
	}
	return []*Operand{out}, nil
}

func quantLookup(c *call) ([]*Operand, error) {
	x, table := c.dense(0), c.dense(1)
	return c.one(source.Lookup(x.Header.Len()), x, table)
}

func quantMaxPool(c *call) ([]*Operand, error) {
	k, err := stepOf[*kernel.QMaxPool](c)
	if err != nil {
		return nil, err
	}
	out := c.results()
	p, x := c.pool(source.Window{Kernel: k.Kernel, Stride: k.Stride, Dilation: k.Dilation, Pad: k.PadLo}, out[0])
	c.emit(p.Max(false), out, []*Operand{x})
	return out, nil
}

// quantAvgPool takes exact sums of windows, which are scaled once.
func quantAvgPool(c *call) ([]*Operand, error) {
	k, err := stepOf[*kernel.QAvgPool](c)
	if err != nil {
		return nil, err
	}
	out := c.result(0)
	p, x := c.pool(source.Window{Kernel: k.Kernel, Stride: k.Stride, Pad: k.PadLo}, out)
	hi := k.PadHi
	if hi == nil {
		hi = make([]int, len(k.Kernel))
	}
	f := c.formed()
	sum := f.add(&Operand{Header: Header(array.I64, out.Shape()), Buf: -1}, false)
	inside := f.add(c.b.constant(p.Counts(nil, nil)), false)
	count := inside
	if k.CountIncludePad {
		count = f.add(c.b.constant(p.Counts(p.Pad, hi)), false)
	}
	if zero, ok := f.param(2, 0, 0); ok {
		sum = f.Sub(sum, f.Mul(f.Cast(zero, array.I64), f.Cast(inside, array.I64)))
	}
	scale, to, at := f.unit(1), expr.Value{}, 2
	if to = scale; c.dense(3) != nil {
		to, at = f.unit(3), 4
	}
	many := f.float(f.Max(count, f.ConstInt(array.I32, 1)))
	y := f.again(f.Mul(f.float(sum), f.Div(f.Div(scale, to), many)), at, false)
	from := &contraction{node: c.n, in: []*Operand{x}, kernel: func(o source.View, e source.Epilogue) *source.Kernel {
		q := p
		q.Out = o
		return q.Sum(e)
	}}
	h := Header(out.DType(), out.Shape())
	return []*Operand{{Header: h, todo: &pending{node: c.n, from: from, acc: 0, in: f.in, g: f.Graph(f.Cast(y, out.DType()))}}}, nil
}

// mostParts is how many work-items look for the range of a value.
const mostParts = 1024

// dynamicQuantize finds the range of x in two steps, and quantises it.
func dynamicQuantize(c *call) ([]*Operand, error) {
	x := c.dense(0)
	parts := min(max(x.Header.Len(), 1), mostParts)
	ends := c.b.temp(array.F32, []int{2, parts})
	c.emit(source.Ends(x.Header.Len(), parts), []*Operand{ends}, []*Operand{x})
	eb := expr.NewBuilder()
	lo, hi := eb.Input(0, array.F32), eb.Input(1, array.F32)
	all := eb.Const(array.F32, 255)
	scale := eb.Div(eb.Sub(hi, lo), all)
	scale = eb.Select(eb.Eq(scale, eb.Const(array.F32, 0)), eb.Const(array.F32, float64(float32(1.0/255))), scale)
	scale = eb.Select(eb.Gt(scale, eb.Const(array.F32, math.MaxFloat32)), eb.Sub(eb.Div(hi, all), eb.Div(lo, all)), scale)
	zero := quantised(eb, eb.Div(eb.Neg(lo), scale), array.U8, expr.Value{}, false, false)
	s, z := c.result(1), c.result(2)
	c.emit(source.Range(parts, c.group(parts), eb.Graph(scale, eb.Cast(zero, array.U8))), []*Operand{s, z}, []*Operand{ends})
	f := c.formed()
	q := quantised(f.Builder, f.Div(f.add(x, false), f.add(s, false)), array.U8, f.Cast(f.add(z, false), array.I32), true, false)
	p := c.b.inline(c.n, f.Graph(f.Cast(q, array.U8)), x.Shape(), f.in, f.alone)
	return []*Operand{{Header: Header(array.U8, x.Shape()), todo: p}, s, z}, nil
}
