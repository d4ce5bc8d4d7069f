package gpu

import (
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/source"
)

// results returns new values for all results of the call.
func (c *call) results() []*value {
	out := make([]*value, len(members(c.n.Type())))
	for i := range out {
		out[i] = c.result(i)
	}
	return out
}

// pool returns the geometry of windows over the operand.
func (c *call) pool(win source.Window, out *value) (source.Pool, *value) {
	x := c.dense(0)
	if win.Stride == nil {
		win.Stride = win.Kernel
	}
	return source.Pool{Window: win.Filled(len(win.Kernel)), Out: out.view(), X: x.view()}, x
}

func maxPool(c *call) ([]*value, error) {
	k, err := stepOf[*kernel.MaxPool](c)
	if err != nil {
		return nil, err
	}
	out := c.results()
	p, x := c.pool(source.Window{Kernel: k.Kernel, Stride: k.Stride, Dilation: k.Dilation, Pad: k.PadLo}, out[0])
	c.emit(p.Max(len(out) > 1), out, []*value{x})
	return out, nil
}

func avgPool(c *call) ([]*value, error) {
	k, err := stepOf[*kernel.AvgPool](c)
	if err != nil {
		return nil, err
	}
	out := c.results()
	p, x := c.pool(source.Window{Kernel: k.Kernel, Stride: k.Stride, Pad: k.PadLo}, out[0])
	hi := k.PadHi
	if hi == nil {
		hi = make([]int, len(k.Kernel))
	}
	c.emit(p.Mean(k.CountIncludePad, hi, k.DivisorOverride), out, []*value{x})
	return out, nil
}

func adaptive(c *call) ([]*value, error) {
	step, err := attrsStep(c.n)
	if err != nil {
		return nil, err
	}
	kind, spatial := "", 0
	switch k := step.(type) {
	case *kernel.AdaptiveAvgPool:
		kind, spatial = "mean", k.Spatial
	case *kernel.AdaptiveMaxPool:
		kind, spatial = "max", k.Spatial
	default:
		return nil, c.refuse("its kernel is another one")
	}
	out := c.results()
	x := c.dense(0)
	lead := len(x.shape()) - spatial
	if count(out[0].shape()[lead:]) == 1 && kind == "mean" {
		red := axes(nil, len(x.shape()))[lead:]
		c.emit(source.Reduce("mean", out[0].dtype(), x.view(), red, c.group(reduced(x, red))), out, []*value{x})
		return out, nil
	}
	c.emit(source.Adaptive(kind, out[0].view(), x.view(), spatial, len(out) > 1), out, []*value{x})
	return out, nil
}
