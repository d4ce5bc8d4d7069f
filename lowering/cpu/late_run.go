package cpu

import (
	"math"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// find gives the results of step i, which finds their sizes, memory that the instance
// keeps.
func (x *instance) find(i int) error {
	c, s := &x.steps[i], &x.e.plan.Steps[i]
	c.sizer.Sizes(c.shapes, c.in)
	for r, dims := range c.shapes {
		d := x.e.plan.Buffers[s.Out[r]].Type.DType()
		if err := holds(d, dims, x.e.most()); err != nil {
			return err
		}
		x.own(s.Out[r], d, dims)
	}
	if k, ok := c.kernel.(kernel.Scratcher); ok {
		scratch := k.ScratchBytes(c.out, c.in)
		if err := array.TooLargeFor("the scratch memory", int64(scratch), x.e.most()); err != nil {
			return err
		}
		x.ws.Reserve(scratch)
	}
	return nil
}

// holds refuses sizes that are beyond most bytes.
func holds(d array.DType, dims []int, most int64) error {
	n, ok := array.NumElems(dims)
	switch {
	case !ok || n > math.MaxInt/d.Size():
		return diag.New(op.TooLarge, "the result "+array.Describe(d, dims)+" takes more bytes than there are addresses")
	case int64(n)*int64(d.Size()) > most:
		return array.TooLargeFor("the result "+array.Describe(d, dims), int64(n)*int64(d.Size()), most)
	}
	return nil
}

// enlarge makes an array one of a type and of sizes: in the memory that it has, if that is
// large enough and in order.
func enlarge(a *array.Array, d array.DType, dims []int, most int64) error {
	if err := holds(d, dims, most); err != nil {
		return err
	}
	s, at := a.Storage(), a.Offset()
	had := 0
	if s != nil && a.DType() == d && a.IsContiguous() {
		had = a.Len()
	}
	if n := a.Reset(d, dims); s != nil && n <= had {
		a.SetStorage(s, at)
	} else {
		a.SetStorage(array.NewStorage(n*d.Size()), 0)
	}
	return nil
}

// newOutputs makes arrays for the results and points the output buffers at them; those
// of late ones get their memory when their sizes are known, and those that are made in inputs have these.
func (x *instance) newOutputs(in []*array.Array) []*array.Array {
	out := make([]*array.Array, len(x.e.outputs))
	for _, p := range x.e.into {
		out[p.Result] = in[p.Input]
	}
	for i, k := range x.e.outputs {
		b := &x.e.plan.Buffers[k]
		if b.Updated {
			continue
		} else if b.Late {
			out[i] = &array.Array{}
			out[i].Reset(b.Type.DType(), x.sizes.Shapes[k])
		} else {
			out[i] = array.NewUncleared(b.Type.DType(), x.sizes.Shapes[k]...) // a run writes all of it, as of a caller's arrays
		}
	}
	x.setOutputs(out)
	return out
}

// giveLate gives the caller the results that are late for this plan: their headers, or
// where the caller knew the sizes what they hold.
func (x *instance) giveLate(out []*array.Array, late []bool) error {
	for i, k := range x.e.outputs {
		h := &x.hdr[k]
		switch {
		case !x.e.plan.Buffers[k].Late:
		case late == nil || late[i]:
			out[i].SetLayout(h, h.Shape(), h.Strides(), h.Offset())
		case !equal(out[i].Shape(), h.Shape()):
			return diag.New(lowering.BadOutput, "result "+strconv.Itoa(i)+" is "+describe(h)+", expected "+shape.TypeOf(out[i]).String())
		default:
			array.Copy(out[i], h)
		}
	}
	return nil
}
