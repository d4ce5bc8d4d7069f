package quant

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
)

// view lays a weight, as it is stored quantised, out so that the elements with one scale are those
// of the axes that shared names: a matrix of 4 bits by groups.
func (w *weight) view(x *tensor.Tensor) *tensor.Tensor {
	if w.bits == 4 {
		n, k := w.value.Dim(0), w.value.Dim(1)
		return x.Reshape(n, k/w.group, w.group)
	}
	return x
}

// shared are the axes of view whose elements have one scale.
func (w *weight) shared() op.Ints {
	var axes []int
	rank := w.value.Rank()
	if w.bits == 4 {
		return tensor.Ints(2)
	}
	for i := range rank {
		if w.kind != PerChannel || i != w.axis {
			axes = append(axes, i)
		}
	}
	return tensor.Ints(axes...)
}

// extremes finds the ranges of a weight, laid out by view.
func (w *weight) extremes(v *tensor.Tensor) (lo, hi *tensor.Tensor) {
	a := tensor.ReduceAttrs{KeepDim: true}
	return v.AminWith(w.shared(), a), v.AmaxWith(w.shared(), a)
}

// levels are the integers of a weight.
func (w *weight) levels() levels {
	if w.bits == 4 {
		return levels{most: 15, symmetric: w.sym == Symmetric, half: 7}
	}
	least, most := byteRange(w.dtype)
	return levels{least: least, most: most, symmetric: w.sym == Symmetric, half: 127}
}

// integers is the type that a weight is rounded to.
func (w *weight) integers() array.DType {
	if w.bits == 4 {
		return array.U4
	}
	return w.dtype
}

// learned computes scales and zero points from the extremes and, third, what was learned.
func (w *weight) learned(in []*tensor.Tensor, gain float64) (scale, zero *tensor.Tensor) {
	var delta *tensor.Tensor
	if len(in) > 2 {
		delta = in[2]
	}
	return w.levels().steps(in[0].Cast(array.F64), in[1].Cast(array.F64), delta, gain)
}

// weight lets a call read its weight fake-quantised.
func (t *trainee) weight(u *unit, w *weight) error {
	n, key := u.head, t.steps[w.form()]
	c := t.g.Before(n)
	v, err := t.one(c, func(in ...*tensor.Tensor) *tensor.Tensor {
		if w.right {
			return w.view(in[0].T())
		}
		return w.view(in[0])
	}, n.Arg(w.arg))
	if err != nil {
		return err
	}
	if t.settings != nil && key == keyOf(u, w) {
		seen, err := t.record(c, func(in ...*tensor.Tensor) []*tensor.Tensor {
			lo, hi := w.extremes(in[0].Detach())
			return []*tensor.Tensor{lo, hi}
		}, v)
		if err != nil {
			return err
		}
		t.observe(c, key+".least", seen[0])
		t.observe(c, key+".most", seen[1])
	}
	gain := t.gain([]shape.Dim{{}, shape.Const(w.value.Len())}, w.integers())
	args := []*graph.Node{t.now[key+".least"], t.now[key+".most"]}
	if d := t.deltaAt(c, key); d != nil {
		args = append(args, d)
	}
	by, err := t.record(c, func(in ...*tensor.Tensor) []*tensor.Tensor {
		scale, zero := w.learned(in, gain)
		return []*tensor.Tensor{scale, zero}
	}, args...)
	if err != nil {
		return err
	}
	y := c.Function(std.FakeQuantize, std.FakeQuantizeAttrs{DType: w.integers()}, v, by[0], by[1])
	y, err = t.one(c, func(in ...*tensor.Tensor) *tensor.Tensor {
		x := in[0]
		if w.bits == 4 {
			x = x.Reshape(w.value.Dim(0), w.value.Dim(1))
		}
		if w.right {
			x = x.T()
		}
		return x
	}, y)
	if err != nil {
		return err
	}
	n.SetArg(w.arg, y)
	return nil
}
