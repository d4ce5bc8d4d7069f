package contrib

import (
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/onnx/internal/rule"
	"github.com/gofx-dev/gofx/onnx/internal/spec"
	"github.com/gofx-dev/gofx/onnx/internal/standard"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// nodeOf is a value of the graph as a node.
func nodeOf(v op.Value) *graph.Node { n, _ := v.(*graph.Node); return n }

// nbits is a weight of few bits: rows of blocks, each with a scale and a zero point.
type nbits struct {
	c                   *rule.Call
	rows, columns       int
	bits, block         int
	weight, scale, zero int // operands
}

// blocks is how many blocks a row has.
func (w nbits) blocks() int { return (w.columns + w.block - 1) / w.block }

// matMulNBits is int4_linear where that has such weights; for other numbers of bits, and
// for blocks that are no multiple of 32, the weight is unpacked to floats at import.
func matMulNBits(c *rule.Call) []op.Value {
	w := nbits{c: c, rows: c.Int("N", 0), columns: c.Int("K", 0), bits: c.Int("bits", 4), block: c.Int("block_size", 0), weight: 1, scale: 2, zero: 3}
	c.Ignore("accuracy_level", "weight_prepacked") // how it may be computed
	if c.Has(4) {
		panic(diag.New(spec.CodeAttribute, "g_idx is not supported"))
	}
	w.check()
	bias := c.Opt(5)
	if w.bits == 4 && w.block%32 == 0 && w.packedZeros() {
		in := []op.Value{c.X(0), w.bytes(), w.scales(), w.zeros(), bias}
		return c.One(std.Int4Linear, std.Int4LinearAttrs{Group: w.block}, in...)
	}
	return c.One(std.Linear, nil, c.X(0), w.floats(c.Type(0).DType()), bias)
}

func (w nbits) check() {
	c := w.c
	if w.bits != 2 && w.bits != 4 && w.bits != 8 {
		panic(diag.New(spec.CodeAttribute, "weights of "+strconv.Itoa(w.bits)+" bits are not supported"))
	}
	if w.rows < 1 || w.columns < 1 || w.block < 16 || w.block&(w.block-1) != 0 || w.rows > 1<<31 || w.columns > 1<<31 || w.block > 1<<20 {
		panic(diag.New(spec.CodeModel, "a weight of "+strconv.Itoa(w.rows)+" rows and "+strconv.Itoa(w.columns)+" columns in blocks of "+strconv.Itoa(w.block)))
	}
	w.sized(w.weight, w.rows*w.blocks()*(w.block*w.bits/8))
	w.sized(w.scale, w.rows*w.blocks())
	if c.Type(w.weight).DType() != array.U8 {
		panic(diag.New(spec.CodeType, "the weight is "+c.Type(w.weight).String()+", expected bytes"))
	}
	switch {
	case !c.Has(w.zero):
	case c.Type(w.zero).DType() == array.U8:
		w.sized(w.zero, w.rows*w.zeroBytes())
	default:
		w.sized(w.zero, w.rows*w.blocks())
	}
}

// zeroBytes is how many bytes the zero points of a row take.
func (w nbits) zeroBytes() int { return (w.blocks()*w.bits + 7) / 8 }

// sized requires an operand of n elements.
func (w nbits) sized(i, n int) {
	t := w.c.Type(i)
	if have, ok := t.Dims().Prod().Int(); !ok || have != n || !t.Ranked() {
		panic(diag.New(spec.CodeModel, "input "+strconv.Itoa(i)+" is "+t.String()+", expected "+strconv.Itoa(n)+" elements"))
	}
}

// packedZeros reports whether the zero points are integers.
func (w nbits) packedZeros() bool {
	return !w.c.Has(w.zero) || w.c.Type(w.zero).DType() == array.U8
}

// bytes is the weight [rows, ceil(columns/2)].
func (w nbits) bytes() op.Value {
	return w.c.Prepared(w.weight, func(x op.Value) op.Value {
		x = standard.Reshape(w.c, x, shape.Const(w.rows), shape.Const(w.blocks()*w.block/2))
		return w.c.Do(std.Slice, std.SliceAttrs{Dim: 1, Stop: shape.Const((w.columns + 1) / 2)}, x)
	})
}

func (w nbits) scales() op.Value {
	return w.c.Prepared(w.scale, func(x op.Value) op.Value {
		x = standard.Reshape(w.c, x, shape.Const(w.rows), shape.Const(w.blocks()))
		return w.c.Do(std.Cast, std.CastAttrs{DType: array.F32}, x)
	})
}

// zeros are one byte each, nil where there are none.
func (w nbits) zeros() op.Value {
	if !w.c.Has(w.zero) {
		return nil
	}
	return w.c.Prepared(w.zero, func(x op.Value) op.Value {
		x = standard.Reshape(w.c, x, shape.Const(w.rows), shape.Const(w.zeroBytes()))
		return w.c.Do(std.Slice, std.SliceAttrs{Dim: 1, Stop: shape.Const(w.blocks())}, w.unpacked(x))
	})
}

// unpacked are the numbers of rows of bytes, the lower bits first.
func (w nbits) unpacked(x op.Value) op.Value {
	if w.bits == 8 {
		return x
	}
	c := w.c
	number := func(n int) op.Value { return c.Do(std.Full, std.FullAttrs{Value: op.Int(int64(n)), DType: array.U8}) }
	var parts []op.Value
	for at := 0; at < 8; at += w.bits {
		v := c.Do(std.BitwiseAnd, nil, c.Do(std.BitwiseRightShift, nil, x, number(at)), number(1<<w.bits-1))
		parts = append(parts, c.Do(std.Unsqueeze, std.DimAttrs{Dim: -1}, v))
	}
	return c.Do(std.Flatten, std.FlattenAttrs{StartDim: 1, EndDim: 2}, c.Do(std.Cat, std.DimAttrs{Dim: -1}, parts...))
}

// floats is the weight [rows, columns], which takes as much memory as one that was never
// packed.
func (w nbits) floats(d array.DType) op.Value {
	c := w.c
	if c.In[w.scale].Arr == nil || c.Has(w.zero) && c.In[w.zero].Arr == nil {
		return w.real(c.X(w.weight), d)
	}
	return c.Prepared(w.weight, func(x op.Value) op.Value { return w.real(x, d) })
}

// real is (weight - zero)·scale.
func (w nbits) real(x op.Value, d array.DType) op.Value {
	c := w.c
	each := func(x op.Value) op.Value { return c.Do(std.Unsqueeze, std.DimAttrs{Dim: 2}, x) }
	var less op.Value
	switch {
	case !c.Has(w.zero):
		less = c.Do(std.Full, std.FullAttrs{Value: op.Float(float64(int(1) << (w.bits - 1))), DType: array.F32})
	case w.packedZeros():
		less = each(c.Do(std.Cast, std.CastAttrs{DType: array.F32}, w.zeros()))
	default:
		less = each(c.Do(std.Cast, std.CastAttrs{DType: array.F32}, standard.Reshape(c, c.X(w.zero), shape.Const(w.rows), shape.Const(w.blocks()))))
	}
	scale := each(w.scales())
	q := standard.Reshape(c, x, shape.Const(w.rows), shape.Const(w.blocks()*w.block*w.bits/8))
	v := c.Do(std.Cast, std.CastAttrs{DType: array.F32}, w.unpacked(q))
	v = standard.Reshape(c, v, shape.Const(w.rows), shape.Const(w.blocks()), shape.Const(w.block))
	v = c.Do(std.Mul, nil, c.Do(std.Sub, nil, v, less), scale)
	v = c.Do(std.Flatten, std.FlattenAttrs{StartDim: 1, EndDim: 2}, v)
	v = c.Do(std.Slice, std.SliceAttrs{Dim: 1, Stop: shape.Const(w.columns)}, v)
	return c.Do(std.Cast, std.CastAttrs{DType: d}, v)
}

// gatherBlockQuantized takes rows of a weight of 4 bits, two to a byte.
func gatherBlockQuantized(c *rule.Call) []op.Value {
	w := nbits{c: c, bits: c.Int("bits", 4), block: c.Int("block_size", 128), weight: 0, scale: 2, zero: 3}
	gather, along := c.Int("gather_axis", 0), c.Int("quantize_axis", 1)
	n, ok := c.Type(0).Dims().Known()
	if !ok || len(n) != 2 || c.Type(0).DType() != array.U8 || w.bits != 4 || gather != 0 || c.Axis(along, 2) != 1 || w.block%32 != 0 || w.block < 32 {
		panic(diag.New(spec.CodeAttribute, "GatherBlockQuantized is supported for rows of bytes of two weights each, quantised along the rows in blocks of a multiple of 32"))
	}
	w.rows, w.columns = n[0], 2*n[1]
	w.sized(2, w.rows*w.blocks())
	if c.Has(3) {
		w.sized(3, w.rows*w.zeroBytes())
	}
	v := c.Do(std.Int4Embedding, std.Int4LinearAttrs{Group: w.block}, c.X(1), c.X(0), w.scales(), w.zeros())
	return c.One(std.Cast, std.CastAttrs{DType: c.Type(2).DType()}, v)
}
