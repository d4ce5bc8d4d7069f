package standard

import (
	"math"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/onnx/internal/rule"
	"github.com/gofx-dev/gofx/onnx/internal/spec"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// mostBasis bounds the elements of the constant that a transform multiplies by.
const mostBasis = 1 << 22

// basis is a discrete Fourier transform of length as a matrix: (time or bin, part) in
// rows, in columns the same of the result. Part 0 is real, part 1 imaginary.
type basis struct {
	length             int
	rows, parts        int // of the operand
	columns, outs      int // of the result
	inverse, symmetric bool
}

// array computes it; the result is [rows*parts, columns*outs].
func (b basis) array(d array.DType) *array.Array {
	if b.rows < 1 || b.columns < 1 || b.rows > mostBasis || b.columns > mostBasis || b.rows*b.parts > mostBasis/(b.columns*b.outs) {
		panic(diag.New(spec.CodeOperator, "a transform of "+strconv.Itoa(b.length)+" elements, as a product with a constant, is not supported").
			WithHint("lengths up to 1024 are"))
	}
	a := array.New(d, b.rows*b.parts, b.columns*b.outs)
	for t := range b.rows {
		for k := range b.columns {
			sin, cos := math.Sincos(2 * pi * float64(t*k%b.length) / float64(b.length))
			scale := 1.0
			if b.inverse {
				sin, scale = -sin, 1/float64(b.length)
				if b.symmetric && t != 0 && 2*t != b.length {
					scale *= 2 // with the conjugate that is not there
				}
			}
			for p := range b.parts {
				for q := range b.outs {
					v := cos // of the same part
					if p < q {
						v = -sin
					} else if p > q {
						v = sin
					}
					array.SetFloat64At(a, (t*b.parts+p)*b.columns*b.outs+k*b.outs+q, scale*v)
				}
			}
		}
	}
	return a
}

// dft transforms an axis of [..., real and imaginary part].
func dft(c *rule.Call, axis int) []op.Value {
	rank := c.Rank(0)
	x, d := c.X(0), c.Type(0).DType()
	inverse, one := c.Flag("inverse", false), c.Flag("onesided", false)
	parts, known := c.Type(0).Dim(-1).Int()
	if axis = c.Axis(axis, rank); axis == rank-1 || !known || parts < 1 || parts > 2 {
		panic(diag.New(spec.CodeModel, "DFT over axis "+strconv.Itoa(axis)+" of "+c.Type(0).String()+": expected real and imaginary parts in the last"))
	}
	n, known := c.Type(0).Dim(axis).Int()
	b := basis{length: n, parts: parts, outs: 2, inverse: inverse, symmetric: inverse && one}
	if !known {
		return openDFT(c, b, axis, one)
	}
	if b.symmetric {
		b.length, b.outs = 2*(n-1), 1
	}
	if c.Has(1) {
		b.length = int(c.Number(1).Int64())
	}
	if b.length < 1 || b.length > mostBasis {
		panic(diag.New(spec.CodeModel, "the length of a DFT is "+strconv.Itoa(b.length)))
	}
	b.rows, b.columns = min(n, b.length), b.length
	switch half := b.length/2 + 1; {
	case b.symmetric && parts == 1:
		panic(diag.New(spec.CodeModel, "the input is "+c.Type(0).String()+", expected real and imaginary parts, of which an inverse one-sided DFT is"))
	case b.symmetric:
		b.rows = min(n, half)
	case one && parts == 2:
		panic(diag.New(spec.CodeModel, "a one-sided DFT is one of real signals"))
	case one:
		b.columns = half
	}
	if b.rows < n {
		x = c.Do(std.Narrow, std.NarrowAttrs{Dim: axis, Start: shape.Const(0), Length: shape.Const(b.rows)}, x)
	}
	return transform(c, x, axis, c.Tensor(b.array(wideFloat(d))), shape.Const(b.columns), b.outs)
}

// wideFloat is the type in which a transform of a type is computed.
func wideFloat(d array.DType) array.DType {
	if d.IsFloat() && d.Size() == 2 {
		return array.F32
	}
	return d
}

// transform multiplies an axis of x with its parts by a basis, which yields columns.
func transform(c *rule.Call, x op.Value, axis int, by op.Value, columns shape.Dim, outs int) []op.Value {
	t := x.Type()
	rank := t.Rank()
	swap := func(v op.Value) op.Value {
		if axis == rank-2 {
			return v
		}
		return c.Do(std.Transpose, std.TransposeAttrs{Dim0: axis, Dim1: rank - 2}, v)
	}
	x = swap(c.Do(std.Cast, std.CastAttrs{DType: by.Type().DType()}, x))
	lead := x.Type().Dims().Sub(0, rank-2).Slice()
	x = c.Do(std.Matmul, nil, Reshape(c, x, append(lead, t.Dim(axis).Mul(t.Dim(-1)))...), by)
	x = swap(Reshape(c, x, append(lead, columns, shape.Const(outs))...))
	return c.One(std.Cast, std.CastAttrs{DType: t.DType()}, x)
}

// openDFT is dft over all of an axis whose size a run tells: the basis is computed there.
func openDFT(c *rule.Call, b basis, axis int, one bool) []op.Value {
	n := c.Type(0).Dim(axis)
	switch {
	case b.symmetric || c.Has(1) && !c.Dim(1).Equal(n):
		panic(diag.New(spec.CodeValue, "DFT needs a size that is known, "+n.String()+" is not, unless it transforms as many elements to as many"))
	case one && b.parts == 2:
		panic(diag.New(spec.CodeModel, "a one-sided DFT is one of real signals"))
	}
	columns := n
	if one {
		columns = n.FloorDivInt(2).AddInt(1)
	}
	d := wideFloat(c.Type(0).DType())
	row := c.Do(std.Unsqueeze, std.DimAttrs{Dim: 1}, c.Do(std.Arange, std.ArangeAttrs{End: n}))
	turns := c.Do(std.Remainder, nil, c.Do(std.Mul, nil, row, c.Do(std.Arange, std.ArangeAttrs{End: columns})), c.Size(n, array.I64))
	length := c.Size(n, array.F64)
	angle := c.Do(std.Div, nil, c.Do(std.Mul, std.BinaryAttrs{Other: op.Float(2 * pi)}, c.Do(std.Cast, std.CastAttrs{DType: array.F64}, turns)), length)
	cos, sin := c.Do(std.Cos, nil, angle), c.Do(std.Sin, nil, angle)
	if b.inverse {
		cos, sin = c.Do(std.Div, nil, cos, length), c.Do(std.Neg, nil, c.Do(std.Div, nil, sin, length))
	}
	// [row, part, column, part]
	m := c.Do(std.Stack, std.DimAttrs{Dim: 2}, cos, c.Do(std.Neg, nil, sin))
	m = c.Do(std.Unsqueeze, std.DimAttrs{Dim: 1}, m)
	if b.parts == 2 {
		m = c.Do(std.Cat, std.DimAttrs{Dim: 1}, m, c.Do(std.Unsqueeze, std.DimAttrs{Dim: 1}, c.Do(std.Stack, std.DimAttrs{Dim: 2}, sin, cos)))
	}
	m = c.Do(std.Cast, std.CastAttrs{DType: d}, m)
	return transform(c, c.X(0), axis, Reshape(c, m, n.MulInt(b.parts), columns.MulInt(2)), columns, 2)
}

// stft transforms windows of [batch, length, real and imaginary part]: a convolution.
func stft(c *rule.Call) []op.Value {
	one := c.Flag("onesided", true)
	parts, known := c.Type(0).Dim(-1).Int()
	if c.Rank(0) == 2 {
		parts, known = 1, true
	}
	if c.Rank(0) < 2 || c.Rank(0) > 3 || !known || parts < 1 || parts > 2 || one && parts == 2 {
		panic(diag.New(spec.CodeModel, "STFT of "+c.Type(0).String()+": expected a batch of signals, with real and imaginary parts in the last axis"))
	}
	step, length := int(c.Number(1).Int64()), -1
	if c.Has(3) {
		length = int(c.Number(3).Int64())
	} else if c.Has(2) {
		length, _ = c.Type(2).Dim(0).Int()
	}
	if step < 1 || length < 1 || length > mostBasis {
		panic(diag.New(spec.CodeModel, "STFT needs a positive frame_step and frame_length or a window, has "+strconv.Itoa(step)+" and "+strconv.Itoa(length)))
	}
	b := basis{length: length, rows: length, parts: parts, columns: length, outs: 2}
	if one {
		b.columns = length/2 + 1
	}
	d := c.Type(0).DType()
	dims := c.Type(0).Dims()
	x := c.Do(std.Transpose, std.TransposeAttrs{Dim0: 1, Dim1: 2}, Reshape(c, c.X(0), dims.At(0), dims.At(1), shape.Const(parts)))
	w := Reshape(c, c.Tensor(b.array(d)), shape.Const(length), shape.Const(parts), shape.Const(2*b.columns))
	if c.Has(2) {
		if c.Rank(2) != 1 || !c.Type(2).Dim(0).Equal(shape.Const(length)) {
			panic(diag.New(spec.CodeModel, "the window is "+c.Type(2).String()+", expected "+strconv.Itoa(length)+" elements"))
		}
		w = c.Do(std.Mul, nil, w, Reshape(c, c.X(2), shape.Const(length), shape.Const(1), shape.Const(1)))
	}
	w = c.Do(std.Permute, std.PermuteAttrs{Dims: op.IntList(2, 1, 0)}, w)
	v := c.Do(std.Conv1d, std.ConvAttrs{Stride: op.IntList(step), Groups: 1}, x, w, nil)
	v = c.Do(std.Transpose, std.TransposeAttrs{Dim0: 1, Dim1: 2}, v)
	t := v.Type().Dims()
	return []op.Value{Reshape(c, v, t.At(0), t.At(1), shape.Const(b.columns), shape.Const(2))}
}
