package onnx

import (
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// nodeOf is a value of the graph as a node.
func nodeOf(v op.Value) *graph.Node { n, _ := v.(*graph.Node); return n }

// nbits is a weight of few bits: rows of blocks, each with a scale and a zero point.
type nbits struct {
	c                   *call
	rows, columns       int
	bits, block         int
	weight, scale, zero int // operands
}

// blocks is how many blocks a row has.
func (w nbits) blocks() int { return (w.columns + w.block - 1) / w.block }

// matMulNBits is int4_linear where that has such weights; for other numbers of bits, and
// for blocks that are no multiple of 32, the weight is unpacked to floats at import.
func matMulNBits(c *call) []op.Value {
	w := nbits{c: c, rows: c.int("N", 0), columns: c.int("K", 0), bits: c.int("bits", 4), block: c.int("block_size", 0), weight: 1, scale: 2, zero: 3}
	c.ignore("accuracy_level", "weight_prepacked") // how it may be computed
	if c.has(4) {
		panic(diag.New(CodeAttribute, "g_idx is not supported"))
	}
	w.check()
	bias := c.opt(5)
	if w.bits == 4 && w.block%32 == 0 && w.packedZeros() {
		in := []op.Value{c.x(0), w.bytes(), w.scales(), w.zeros(), bias}
		return c.one(std.Int4Linear, std.Int4LinearAttrs{Group: w.block}, in...)
	}
	return c.one(std.Linear, nil, c.x(0), w.floats(c.typ(0).DType()), bias)
}

func (w nbits) check() {
	c := w.c
	if w.bits != 2 && w.bits != 4 && w.bits != 8 {
		panic(diag.New(CodeAttribute, "weights of "+strconv.Itoa(w.bits)+" bits are not supported"))
	}
	if w.rows < 1 || w.columns < 1 || w.block < 16 || w.block&(w.block-1) != 0 || w.rows > 1<<31 || w.columns > 1<<31 || w.block > 1<<20 {
		panic(diag.New(CodeModel, "a weight of "+strconv.Itoa(w.rows)+" rows and "+strconv.Itoa(w.columns)+" columns in blocks of "+strconv.Itoa(w.block)))
	}
	w.sized(w.weight, w.rows*w.blocks()*(w.block*w.bits/8))
	w.sized(w.scale, w.rows*w.blocks())
	if c.typ(w.weight).DType() != array.U8 {
		panic(diag.New(CodeType, "the weight is "+c.typ(w.weight).String()+", expected bytes"))
	}
	switch {
	case !c.has(w.zero):
	case c.typ(w.zero).DType() == array.U8:
		w.sized(w.zero, w.rows*w.zeroBytes())
	default:
		w.sized(w.zero, w.rows*w.blocks())
	}
}

// zeroBytes is how many bytes the zero points of a row take.
func (w nbits) zeroBytes() int { return (w.blocks()*w.bits + 7) / 8 }

// sized requires an operand of n elements.
func (w nbits) sized(i, n int) {
	t := w.c.typ(i)
	if have, ok := t.Dims().Prod().Int(); !ok || have != n || !t.Ranked() {
		panic(diag.New(CodeModel, "input "+strconv.Itoa(i)+" is "+t.String()+", expected "+strconv.Itoa(n)+" elements"))
	}
}

// packedZeros reports whether the zero points are integers.
func (w nbits) packedZeros() bool {
	return !w.c.has(w.zero) || w.c.typ(w.zero).DType() == array.U8
}

// bytes is the weight [rows, ceil(columns/2)].
func (w nbits) bytes() op.Value {
	return w.c.prepared(w.weight, func(x op.Value) op.Value {
		x = reshape(w.c, x, shape.Const(w.rows), shape.Const(w.blocks()*w.block/2))
		return w.c.do(std.Slice, std.SliceAttrs{Dim: 1, Stop: shape.Const((w.columns + 1) / 2)}, x)
	})
}

func (w nbits) scales() op.Value {
	return w.c.prepared(w.scale, func(x op.Value) op.Value {
		x = reshape(w.c, x, shape.Const(w.rows), shape.Const(w.blocks()))
		return w.c.do(std.Cast, std.CastAttrs{DType: array.F32}, x)
	})
}

// zeros are one byte each, nil where there are none.
func (w nbits) zeros() op.Value {
	if !w.c.has(w.zero) {
		return nil
	}
	return w.c.prepared(w.zero, func(x op.Value) op.Value {
		x = reshape(w.c, x, shape.Const(w.rows), shape.Const(w.zeroBytes()))
		return w.c.do(std.Slice, std.SliceAttrs{Dim: 1, Stop: shape.Const(w.blocks())}, w.unpacked(x))
	})
}

// unpacked are the numbers of rows of bytes, the lower bits first.
func (w nbits) unpacked(x op.Value) op.Value {
	if w.bits == 8 {
		return x
	}
	c := w.c
	number := func(n int) op.Value { return c.do(std.Full, std.FullAttrs{Value: op.Int(int64(n)), DType: array.U8}) }
	var parts []op.Value
	for at := 0; at < 8; at += w.bits {
		v := c.do(std.BitwiseAnd, nil, c.do(std.BitwiseRightShift, nil, x, number(at)), number(1<<w.bits-1))
		parts = append(parts, c.do(std.Unsqueeze, std.DimAttrs{Dim: -1}, v))
	}
	return c.do(std.Flatten, std.FlattenAttrs{StartDim: 1, EndDim: 2}, c.do(std.Cat, std.DimAttrs{Dim: -1}, parts...))
}

// floats is the weight [rows, columns], which takes as much memory as one that was never
// packed.
func (w nbits) floats(d array.DType) op.Value {
	c := w.c
	if c.in[w.scale].arr == nil || c.has(w.zero) && c.in[w.zero].arr == nil {
		return w.real(c.x(w.weight), d)
	}
	return c.prepared(w.weight, func(x op.Value) op.Value { return w.real(x, d) })
}

// real is (weight - zero)·scale.
func (w nbits) real(x op.Value, d array.DType) op.Value {
	c := w.c
	each := func(x op.Value) op.Value { return c.do(std.Unsqueeze, std.DimAttrs{Dim: 2}, x) }
	var less op.Value
	switch {
	case !c.has(w.zero):
		less = c.do(std.Full, std.FullAttrs{Value: op.Float(float64(int(1) << (w.bits - 1))), DType: array.F32})
	case w.packedZeros():
		less = each(c.do(std.Cast, std.CastAttrs{DType: array.F32}, w.zeros()))
	default:
		less = each(c.do(std.Cast, std.CastAttrs{DType: array.F32}, reshape(c, c.x(w.zero), shape.Const(w.rows), shape.Const(w.blocks()))))
	}
	scale := each(w.scales())
	q := reshape(c, x, shape.Const(w.rows), shape.Const(w.blocks()*w.block*w.bits/8))
	v := c.do(std.Cast, std.CastAttrs{DType: array.F32}, w.unpacked(q))
	v = reshape(c, v, shape.Const(w.rows), shape.Const(w.blocks()), shape.Const(w.block))
	v = c.do(std.Mul, nil, c.do(std.Sub, nil, v, less), scale)
	v = c.do(std.Flatten, std.FlattenAttrs{StartDim: 1, EndDim: 2}, v)
	v = c.do(std.Slice, std.SliceAttrs{Dim: 1, Stop: shape.Const(w.columns)}, v)
	return c.do(std.Cast, std.CastAttrs{DType: d}, v)
}

// gatherBlockQuantized takes rows of a weight of 4 bits, two to a byte.
func gatherBlockQuantized(c *call) []op.Value {
	w := nbits{c: c, bits: c.int("bits", 4), block: c.int("block_size", 128), weight: 0, scale: 2, zero: 3}
	gather, along := c.int("gather_axis", 0), c.int("quantize_axis", 1)
	n, ok := c.typ(0).Dims().Known()
	if !ok || len(n) != 2 || c.typ(0).DType() != array.U8 || w.bits != 4 || gather != 0 || c.axis(along, 2) != 1 || w.block%32 != 0 || w.block < 32 {
		panic(diag.New(CodeAttribute, "GatherBlockQuantized is supported for rows of bytes of two weights each, quantised along the rows in blocks of a multiple of 32"))
	}
	w.rows, w.columns = n[0], 2*n[1]
	w.sized(2, w.rows*w.blocks())
	if c.has(3) {
		w.sized(3, w.rows*w.zeroBytes())
	}
	v := c.do(std.Int4Embedding, std.Int4LinearAttrs{Group: w.block}, c.x(1), c.x(0), w.scales(), w.zeros())
	return c.one(std.Cast, std.CastAttrs{DType: c.typ(2).DType()}, v)
}
