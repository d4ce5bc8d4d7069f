package lower

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/source"
	"github.com/gofx-dev/gofx/op/expr"
)

// reduced counts the elements of x along axes.
func reduced(x *Operand, red []int) int {
	n := 1
	for _, a := range red {
		n *= x.Shape()[a]
	}
	return n
}

func reduce(c *call) ([]*Operand, error) {
	k, err := stepOf[*kernel.Reduce](c)
	if err != nil {
		return nil, err
	}
	x := c.placed(0)
	red := axes(k.Dims, len(x.Shape()))
	out := c.result(0)
	n := reduced(x, red)
	if n == 0 && out.Header.Len() > 0 && (k.Kind == "max" || k.Kind == "min") {
		return nil, c.refuse("there is no element to take the " + k.Kind + " of")
	}
	c.emit(source.Reduce(k.Kind, out.DType(), x.view(), red, c.group(n)), []*Operand{out}, []*Operand{x})
	return []*Operand{out}, nil
}

func variance(c *call) ([]*Operand, error) {
	k, err := stepOf[*kernel.Var](c)
	if err != nil {
		return nil, err
	}
	x := c.placed(0)
	red := axes(k.Dims, len(x.Shape()))
	return c.one(source.Var(x.DType(), x.view(), red, k.Correction, k.Root, c.group(reduced(x, red))), x)
}

func argReduce(c *call) ([]*Operand, error) {
	k, err := stepOf[*kernel.ArgReduce](c)
	if err != nil {
		return nil, err
	}
	x := c.placed(0)
	red := axes([]int{k.Dim}, len(x.Shape()))
	if k.Flat || len(x.Shape()) == 0 {
		red = axes(nil, len(x.Shape()))
	}
	if reduced(x, red) == 0 && c.result(0).Header.Len() > 0 {
		return nil, c.refuse("there is no element to choose")
	}
	return c.one(source.Arg(k.Kind[len("arg"):], false, true, x.view(), red), x)
}

func extremes(c *call) ([]*Operand, error) {
	k, err := stepOf[*kernel.MinMaxDim](c)
	if err != nil {
		return nil, err
	}
	x := c.placed(0)
	red := axes([]int{k.Dim}, len(x.Shape()))
	if len(x.Shape()) == 0 {
		red = nil
	}
	out := []*Operand{c.result(0), c.result(1)}
	if reduced(x, red) == 0 && out[0].Header.Len() > 0 {
		return nil, c.refuse("there is no element to choose")
	}
	c.emit(source.Arg(k.Kind, true, true, x.view(), red), out, []*Operand{x})
	return out, nil
}

func scan(c *call) ([]*Operand, error) {
	k, err := stepOf[*kernel.Scan](c)
	if err != nil {
		return nil, err
	}
	x := vector(c.placed(0))
	return c.one(source.Scan(k.Kind[len("cum"):], c.result(0).DType(), x.view(), axes([]int{k.Dim}, len(x.Shape()))[0]), x)
}

func softmax(c *call) ([]*Operand, error) {
	step, err := attrsStep(c.n)
	if err != nil {
		return nil, err
	}
	log, dim := false, 0
	switch k := step.(type) {
	case *kernel.Softmax:
		dim = k.Dim
	case *kernel.LogSoftmax:
		log, dim = true, k.Dim
	default:
		return nil, c.refuse("its kernel is another one")
	}
	x := vector(c.placed(0))
	return c.one(source.Softmax(x.view(), dim, log, c.group(x.Shape()[dim])), x)
}

// normalise makes the step of a norm over rows of n elements.
func (c *call) normalise(n source.Norm) ([]*Operand, error) {
	in := []*Operand{c.dense(0)}
	for i := 1; i < len(c.in); i++ {
		if v := c.dense(i); v != nil {
			in = append(in, v)
		}
	}
	n.Weight = len(c.in) > 1 && c.in[1] != nil
	n.Bias = len(c.in) > 2 && c.in[2] != nil
	if n.N == 0 || n.Rows == 0 {
		return []*Operand{c.result(0)}, nil
	}
	types := make([]array.DType, len(in))
	for i, v := range in {
		types[i] = v.DType()
	}
	return c.one(source.Normalise(n, types, c.group(n.N)), in...)
}

func layerNorm(c *call) ([]*Operand, error) {
	k, err := stepOf[*kernel.LayerNorm](c)
	if err != nil {
		return nil, err
	}
	dims := c.placed(0).Shape()
	at := len(dims) - k.Axes
	return c.normalise(source.Norm{Rows: count(dims[:at]), N: count(dims[at:]), Eps: k.Eps, PerChannel: 1})
}

func rmsNorm(c *call) ([]*Operand, error) {
	k, err := stepOf[*kernel.RMSNorm](c)
	if err != nil {
		return nil, err
	}
	dims := c.placed(0).Shape()
	at := len(dims) - k.Axes
	return c.normalise(source.Norm{Rows: count(dims[:at]), N: count(dims[at:]), Eps: k.Eps, Root: true, PerChannel: 1})
}

func groupNorm(c *call) ([]*Operand, error) {
	k, err := stepOf[*kernel.GroupNorm](c)
	if err != nil {
		return nil, err
	}
	dims := c.placed(0).Shape()
	groups := k.Groups
	if groups < 0 {
		groups = dims[1]
	}
	if count(dims) == 0 {
		return []*Operand{c.result(0)}, nil
	}
	return c.normalise(source.Norm{Rows: dims[0] * groups, N: count(dims[1:]) / groups, Eps: k.Eps, PerChannel: count(dims[2:]), Groups: groups})
}

func batchStats(c *call) ([]*Operand, error) {
	x := c.placed(0)
	out := []*Operand{c.result(0), c.result(1)}
	n := x.Header.Len() / max(x.Shape()[1], 1)
	c.emit(source.BatchStats(x.view(), out[0].DType(), c.group(n)), out, []*Operand{x})
	return out, nil
}

// batchNorm makes a factor for each channel, once where statistics are weights, and applies it
// as an expression, which is joined with what is around it. The mean is subtracted first: a term
// of mean times factor cancels with x times factor, and is infinity less infinity where the
// factor is infinite.
func batchNorm(c *call) ([]*Operand, error) {
	k, err := stepOf[*kernel.BatchNorm](c)
	if err != nil {
		return nil, err
	}
	x := c.in[0]
	w := array.F32
	if x.DType() == array.F64 {
		w = array.F64
	}
	const mean, variance, weight, bias = 1, 2, 3, 4
	channels := x.Shape()[1]
	b := expr.NewBuilder()
	in := []*Operand{c.placed(variance)}
	scale := b.Reciprocal(b.Sqrt(b.Add(b.Cast(b.Input(0, in[0].DType()), w), b.Const(w, k.Eps))))
	if v := c.placed(weight); v != nil {
		in = append(in, v)
		scale = b.Mul(b.Cast(b.Input(1, v.DType()), w), scale)
	}
	factor := c.b.temp(w, []int{channels})
	c.b.store(&pending{g: b.Graph(scale), in: in, node: c.n, acc: -1}, []int{channels}, []*Operand{factor})

	dims := make([]int, len(x.Shape())-1)
	dims[0] = channels
	for i := 1; i < len(dims); i++ {
		dims[i] = 1
	}
	b = expr.NewBuilder()
	args := []*Operand{x}
	read := func(v *Operand) expr.Value { // one of each channel
		args = append(args, reshaped(v, dims...))
		return b.Cast(b.Input(len(args)-1, v.DType()), w)
	}
	y := b.Mul(b.Sub(b.Cast(b.Input(0, x.DType()), w), read(c.dense(mean))), read(factor))
	if v := c.dense(bias); v != nil {
		y = b.Add(y, read(v))
	}
	alone := make([]bool, len(args))
	alone[0] = solitary(c.n)[0]
	return c.b.elementwise(c.n, b.Graph(b.Cast(y, x.DType())), args, alone)
}

// results returns new values for all results of the call.
func (c *call) results() []*Operand {
	out := make([]*Operand, len(c.n.Type().Members()))
	for i := range out {
		out[i] = c.result(i)
	}
	return out
}

// pool returns the geometry of windows over the operand.
func (c *call) pool(win source.Window, out *Operand) (source.Pool, *Operand) {
	x := c.dense(0)
	return poolOf(win, out, x), x
}

func poolOf(win source.Window, out, x *Operand) source.Pool {
	if win.Stride == nil {
		win.Stride = win.Kernel
	}
	return source.Pool{Window: win.Filled(len(win.Kernel)), Out: out.view(), X: x.view()}
}

// pooled is the operand of a pool with one result, and that, which lies as the operand does.
func (c *call) pooled() (x, out *Operand) {
	if x = c.placed(0); !c.b.channelsLast(x) {
		x = c.dense(0)
	}
	t := c.n.Type().Members()[0]
	_, dims, _ := t.Concrete()
	return x, c.b.tempOf(t.DType(), dims, c.b.channelsLast(x))
}

func maxPool(c *call) ([]*Operand, error) {
	k, err := stepOf[*kernel.MaxPool](c)
	if err != nil {
		return nil, err
	}
	win := source.Window{Kernel: k.Kernel, Stride: k.Stride, Dilation: k.Dilation, Pad: k.PadLo}
	if len(c.n.Type().Members()) > 1 { // places are those in a plane in order
		out := c.results()
		p, x := c.pool(win, out[0])
		c.emit(p.Max(true), out, []*Operand{x})
		return out, nil
	}
	x, out := c.pooled()
	c.emit(poolOf(win, out, x).Max(false), []*Operand{out}, []*Operand{x})
	return []*Operand{out}, nil
}

func avgPool(c *call) ([]*Operand, error) {
	k, err := stepOf[*kernel.AvgPool](c)
	if err != nil {
		return nil, err
	}
	x, out := c.pooled()
	p := poolOf(source.Window{Kernel: k.Kernel, Stride: k.Stride, Pad: k.PadLo}, out, x)
	hi := k.PadHi
	if hi == nil {
		hi = make([]int, len(k.Kernel))
	}
	c.emit(p.Mean(k.CountIncludePad, hi, k.DivisorOverride), []*Operand{out}, []*Operand{x})
	return []*Operand{out}, nil
}

func adaptive(c *call) ([]*Operand, error) {
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
	lead := len(c.in[0].Shape()) - spatial
	if count(out[0].Shape()[lead:]) == 1 && kind == "mean" {
		x := c.placed(0)
		red := axes(nil, len(x.Shape()))[lead:]
		c.emit(source.Reduce("mean", out[0].DType(), x.view(), red, c.group(reduced(x, red))), out, []*Operand{x})
		return out, nil
	}
	x := c.dense(0)
	c.emit(source.Adaptive(kind, out[0].view(), x.view(), spatial, len(out) > 1), out, []*Operand{x})
	return out, nil
}
