package quant

import (
	"math"
	"slices"

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
	q, scale, zero := w.quantised(k.learned[w])
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

// steps are the scales and zero points of a weight: one, one for each channel, or one for
// each group of a row.
type steps struct {
	scales []float32
	zeros  []int
}

// quantised returns a weight in its quantised form, by steps that were learned, or, without
// them, those that its observer finds; zero is nil where all are 0.
func (w *weight) quantised(learned *steps) (q, scale, zero *array.Array) {
	find, write := w.channelSteps, w.eightBit
	if w.bits == 4 {
		find, write = w.groupSteps, w.fourBit
	}
	if learned == nil {
		learned = find()
	}
	return write(learned)
}

// channelSteps finds the steps of a weight of 8 bits.
func (w *weight) channelSteps() *steps {
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
	out := &steps{make([]float32, channels), make([]int, channels)}
	for c, s := range spreads {
		lo, hi := s.interval(w.observe, w.sym)
		out.scales[c], out.zeros[c] = parameters(lo, hi, w.dtype, w.sym)
	}
	return out
}

// eightBit quantises a weight by the operator quantize itself.
func (w *weight) eightBit(by *steps) (q, scale, zero *array.Array) {
	scale, zero = array.FromSlice(by.scales), zeroVector(by.zeros, w.dtype)
	if w.kind != PerChannel {
		scale, zero = array.Reshape(scale), array.Reshape(zero)
	}
	value := array.Contiguous(w.value)
	q = tensor.CallOp(std.Quantize, tensor.QuantizeAttrs{Axis: w.axis, DType: w.dtype}, tensor.New(value), tensor.New(scale), tensor.New(zero)).Array()
	if !slices.ContainsFunc(by.zeros, func(z int) bool { return z != 0 }) {
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

// groupSteps finds the steps of a matrix [n, k] of 4 bits in groups along its rows.
func (w *weight) groupSteps() *steps {
	data := array.Data[float32](array.Contiguous(w.value))
	groups := len(data) / w.group
	out := &steps{make([]float32, groups), make([]int, groups)}
	for g := range groups {
		lo, hi := 0.0, 0.0
		for _, v := range data[g*w.group : (g+1)*w.group] {
			lo, hi = min(lo, float64(v)), max(hi, float64(v))
		}
		if w.sym == Symmetric {
			out.scales[g], out.zeros[g] = step(max(-lo, hi)/7), 8
		} else {
			out.scales[g], out.zeros[g] = affine(lo, hi, 0, 15)
		}
	}
	return out
}

// fourBit quantises a matrix [n, k] in groups along its rows: bytes [n, k/2], the
// even one of two weights in the lower half, scales and zero points [n, k/group].
func (w *weight) fourBit(by *steps) (q, scale, zero *array.Array) {
	value := array.Contiguous(w.value)
	data, n, k := array.Data[float32](value), value.Dim(0), value.Dim(1)
	bytes, zeros := make([]uint8, n*k/2), make([]uint8, len(by.zeros))
	for i, v := range data {
		g := i / w.group
		b := math.RoundToEven(float64(v/by.scales[g])) + float64(by.zeros[g])
		bytes[i/2] |= uint8(min(max(b, 0), 15)) << (4 * (i % 2))
	}
	for g, z := range by.zeros {
		zeros[g] = uint8(z)
	}
	return array.FromSlice(bytes, n, k/2), array.FromSlice(by.scales, n, k/w.group), array.FromSlice(zeros, n, k/w.group)
}
