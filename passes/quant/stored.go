package quant

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/quant/internal/form"
	"github.com/gofx-dev/gofx/tensor"
)

// read returns the bytes of a weight's quantised form, its scale and its zero point,
// nil where all are 0.
func (k *converter) read(c *graph.Cursor, w *weight) (bytes, scale, zero *graph.Node) {
	key := w.form()
	paths, done := k.stored[key]
	if !done {
		paths = k.store(w)
		k.stored[key] = paths
	}
	if paths.zero != "" {
		zero = c.GetAttr(paths.zero)
	}
	return c.GetAttr(paths.weight), c.GetAttr(paths.scale), zero
}

// weight lets a call read a weight from its quantised form.
func (k *converter) weight(n *graph.Node, w *weight) {
	c := k.g.Before(n)
	bytes, scale, zero := k.read(c, w)
	var floats *graph.Node
	if w.bits == 4 {
		floats = form.WriteFourBits(c, w.value.Dim(0), w.value.Dim(1), w.group, bytes, scale, zero)
	} else {
		floats = c.Function(std.Dequantize, tensor.DequantizeAttrs{Axis: w.axis}, bytes, scale, zero)
	}
	if w.right {
		floats = c.Function(std.T, nil, floats)
	}
	old := n.Arg(w.arg)
	n.SetArg(w.arg, floats)
	passes.SweepUnused([]*graph.Node{old})
}

// recurrent makes a recurrent network the operator that quantises its states.
func (k *converter) recurrent(u *unit, to *op.Op) {
	n := u.head
	c := k.g.Before(n)
	old, at := n.Args(), 0
	var in []*graph.Node
	for i, a := range old {
		if at < len(u.weights) && u.weights[at].arg == i {
			bytes, scale, _ := k.read(c, u.weights[at])
			in = append(in, bytes, scale)
			at++
			continue
		}
		in = append(in, a)
	}
	by := c.From(n).Function(to, n.Attrs(), in...)
	if err := k.ctx.Replace(n, by, "quantised: dynamic"); err != nil {
		return
	}
	passes.SweepUnused(old)
}

// store quantises a weight and enters the result into the module.
func (k *converter) store(w *weight) stored {
	var q, scale, zero *array.Array
	if w.bits == 4 {
		q, scale, zero = w.fourBit()
	} else {
		q, scale, zero = w.eightBit()
	}
	enter := func(suffix string, a *array.Array) string {
		path := k.module.FreshPath(w.path + suffix)
		k.module.SetParam(graph.Param{Path: path, Value: a, Buffer: true})
		return path
	}
	s := stored{weight: enter("_quantised", q), scale: enter("_scale", scale)}
	if zero != nil {
		s.zero = enter("_zero", zero)
	}
	return s
}

// eightBit quantises a weight by the operator quantize itself.
func (w *weight) eightBit() (q, scale, zero *array.Array) {
	value := array.Contiguous(w.value)
	data := array.Data[float32](value)
	channels, inner := 1, 1
	if w.kind == PerChannel {
		channels = value.Dim(w.axis)
		for i := w.axis + 1; i < value.Rank(); i++ {
			inner *= value.Dim(i)
		}
	}
	spreads := make([]*spread, channels)
	if w.kind == PerChannel {
		for c := range spreads {
			spreads[c] = nothing()
		}
		for i, v := range data {
			s := spreads[i/inner%channels]
			s.lo, s.hi = min(s.lo, float64(v)), max(s.hi, float64(v))
		}
	} else {
		spreads[0] = spreadOf(data, w.observe.Kind)
	}
	scales, zeros, any := make([]float32, channels), make([]int, channels), false
	for c, s := range spreads {
		lo, hi := s.interval(w.observe, w.sym)
		scales[c], zeros[c] = parameters(lo, hi, w.dtype, w.sym)
		any = any || zeros[c] != 0
	}
	scale = array.FromSlice(scales)
	zero = zeroVector(zeros, w.dtype)
	if w.kind != PerChannel {
		scale, zero = array.Reshape(scale), array.Reshape(zero)
	}
	q = tensor.CallOp(std.Quantize, tensor.QuantizeAttrs{Axis: w.axis, DType: w.dtype}, tensor.New(value), tensor.New(scale), tensor.New(zero)).Array()
	if !any {
		zero = nil
	}
	return q, scale, zero
}

func zeroVector(zeros []int, d array.DType) *array.Array {
	if d == array.I8 {
		v := make([]int8, len(zeros))
		for i, z := range zeros {
			v[i] = int8(z)
		}
		return array.FromSlice(v)
	}
	v := make([]uint8, len(zeros))
	for i, z := range zeros {
		v[i] = uint8(z)
	}
	return array.FromSlice(v)
}

// fourBit quantises a matrix [n, k] in groups along its rows: bytes [n, k/2], the
// even one of two weights in the lower half, scales and zero points [n, k/group].
func (w *weight) fourBit() (q, scale, zero *array.Array) {
	value := array.Contiguous(w.value)
	data, n, k := array.Data[float32](value), value.Dim(0), value.Dim(1)
	groups := k / w.group
	bytes, scales, zeros := make([]uint8, n*k/2), make([]float32, n*groups), make([]uint8, n*groups)
	for g := range scales {
		part := data[g*w.group : (g+1)*w.group]
		lo, hi := 0.0, 0.0
		for _, v := range part {
			lo, hi = min(lo, float64(v)), max(hi, float64(v))
		}
		at := 8
		if w.sym == Symmetric {
			scales[g] = step(max(-lo, hi) / 7)
		} else {
			scales[g], at = affine(lo, hi, 0, 15)
		}
		zeros[g] = uint8(at)
		for i, v := range part {
			b := math.RoundToEven(float64(v/scales[g])) + float64(at)
			p := g*w.group + i
			bytes[p/2] |= uint8(min(max(b, 0), 15)) << (4 * (p % 2))
		}
	}
	return array.FromSlice(bytes, n, k/2), array.FromSlice(scales, n, groups), array.FromSlice(zeros, n, groups)
}
