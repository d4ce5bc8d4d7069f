package tensor_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
)

// recorder is an engine that records calls and gives every result the type that
// the operator's rule says.
type recorder struct {
	calls   []*tensor.Call
	assigns []string
	leaf    bool // Leaf records the module
	inScope []any
}

func (r *recorder) proxy(t shape.Type) *tensor.Tensor { return tensor.NewProxy(r, t) }

func (r *recorder) Call(c *tensor.Call) []*tensor.Tensor {
	r.calls = append(r.calls, c)
	in := make([]shape.Type, len(c.Args))
	for i, a := range c.Args {
		if a != nil {
			in[i] = a.Type()
		}
	}
	t, err := c.Op.Type(nil, c.Attrs, in)
	if err != nil {
		panic(err)
	}
	if n, tuple := c.Op.NumResults(c.Attrs); tuple {
		out := make([]*tensor.Tensor, n)
		for i := range out {
			out[i] = r.proxy(t.Member(i))
		}
		return out
	}
	return []*tensor.Tensor{r.proxy(t)}
}

func (r *recorder) Type(x *tensor.Tensor) shape.Type { return x.Value().(shape.Type) }

func (r *recorder) Observe(*tensor.Tensor, string) *array.Array { return array.FromSlice(f32{1}, 1) }

func (r *recorder) Assign(dst, src *tensor.Tensor, what string) {
	r.assigns = append(r.assigns, what)
	dst.SetValue(src.Value())
}

func (r *recorder) Gradient(*tensor.Tensor, []*tensor.Tensor, tensor.GradOptions) []*tensor.Tensor {
	panic("this engine keeps no calls")
}

func (r *recorder) Size(x *tensor.Tensor, axis int) shape.Dim { return x.Type().Dim(axis) }

func (r *recorder) KnownSize(*tensor.Tensor, int) int { return 7 }

func (r *recorder) EqualDims(a, b shape.Dim) bool { return a.Equal(b) }

func (r *recorder) KnownDim(shape.Dim, string) int { return 9 }

func (r *recorder) Leaf(any, *tensor.Bound, []*tensor.Tensor) ([]*tensor.Tensor, bool) {
	return []*tensor.Tensor{r.proxy(shape.TensorType(array.F32, shape.ConstDims(1)))}, r.leaf
}

func (r *recorder) Enter(m any, in []*tensor.Tensor) ([]*tensor.Tensor, func(), bool) {
	r.inScope = append(r.inScope, m)
	return in, func() { r.inScope = append(r.inScope, nil) }, false
}

func (r *recorder) Guard(*tensor.Tensor, shape.Relation) {}

func (r *recorder) Lift(t *tensor.Tensor) *tensor.Tensor { return r.proxy(t.Type()) }

func (r *recorder) Mistake(*tensor.Call, *diag.Error) ([]*tensor.Tensor, bool) { return nil, false }

func (r *recorder) Cond(_ *tensor.Tensor, then, _ func(ts) ts, in []*tensor.Tensor) []*tensor.Tensor {
	return then(in)
}

func (r *recorder) While(_ int, _ func(ts) *tensor.Tensor, _ func(ts) ts, in []*tensor.Tensor) []*tensor.Tensor {
	return in
}

func (r *recorder) Scan(body func(carry, slices []*tensor.Tensor) (next, out []*tensor.Tensor), carry, seqs []*tensor.Tensor) (last, stacked []*tensor.Tensor) {
	return body(carry, seqs)
}

var n = shape.Sym("N")

func input(r *recorder) *tensor.Tensor {
	return r.proxy(shape.TensorType(array.F32, shape.Of(n, shape.Const(4))))
}

func TestCallsReachTheEngine(t *testing.T) {
	r := &recorder{}
	x := input(r)
	w := mat(2, 4, 1, 2, 3, 4, 5, 6, 7, 8)
	y := tensor.Linear(x, w, nil).Relu()
	require.Equal(t, "f32[N,2]", y.Type().String())
	require.Len(t, r.calls, 2)
	require.Equal(t, []*tensor.Tensor{x, w}, r.calls[0].Args, "absent trailing operands are left out")
	require.False(t, r.calls[0].Method)
	require.True(t, r.calls[1].Method)
	require.Nil(t, w.Engine())
	require.Equal(t, tensor.Engine(r), y.Engine())

	_, indices := x.MaxDim(1)
	require.Equal(t, "i64[N]", indices.Type().String())
	require.Len(t, x.Split([]int{1, 3}, 1), 2)
}

func TestInPlaceReachesTheEngine(t *testing.T) {
	r := &recorder{}
	x := input(r)
	require.Same(t, x, x.AddScalarInPlace(1))
	require.Equal(t, []string{"add_"}, r.assigns)
	vec(0, 0, 0, 0).AssignInPlace(r.proxy(shape.TensorType(array.F32, shape.ConstDims(4))))
	require.Equal(t, []string{"add_", "assign"}, r.assigns)
}

func TestSymbolicSizes(t *testing.T) {
	r := &recorder{}
	x := input(r)
	s := x.Size(0)
	require.Equal(t, "N", s.Dim().String())
	require.Equal(t, "2*N+1", s.Mul(2).Add(1).Dim().String())
	require.Equal(t, 4, x.Size(1).Int(), "a known size needs no engine")
	require.Equal(t, 9, s.Int())
	require.Equal(t, 7, x.Dim(0))
	require.Equal(t, []int{7, 4}, x.Shape())
	require.Equal(t, 0, s.Sub(s).Int(), "the expression became a number")

	require.Equal(t, "f32[4,N]", x.Reshape(4, s).Type().String())
	require.Equal(t, "f32[N,2,2]", x.Unflatten(1, 2, -1).Type().String())
	z := tensor.Zeros(s, 3)
	require.Equal(t, "f32[N,3]", z.Type().String())
	require.Equal(t, tensor.Engine(r), z.Engine(), "a size brings its engine")
	require.Equal(t, "i64[N]", tensor.Arange(s).Type().String())
	require.Equal(t, "f32[N,2]", x.Narrow(1, 0, 2).Type().String())
}

// Calls without operands belong to the engine that they are told: two engines may make tensors
// at the same time, in any goroutine.
func TestIn_factories(t *testing.T) {
	for name, f := range map[string]func(m tensor.Maker) *tensor.Tensor{
		"arange":   func(m tensor.Maker) *tensor.Tensor { return m.Arange(3) },
		"eye":      func(m tensor.Maker) *tensor.Tensor { return m.Eye(3) },
		"full":     func(m tensor.Maker) *tensor.Tensor { return m.Full([]int{3}, 2) },
		"linspace": func(m tensor.Maker) *tensor.Tensor { return m.Linspace(0, 1, 3) },
		"ones":     func(m tensor.Maker) *tensor.Tensor { return m.Ones(3) },
		"zeros":    func(m tensor.Maker) *tensor.Tensor { return m.Zeros(3) },
	} {
		a, b := &recorder{}, &recorder{}
		done := make(chan *tensor.Tensor)
		go func() { done <- f(tensor.In(a)) }()
		y := f(tensor.In(b))
		x := <-done
		require.Same(t, tensor.Engine(a), x.Engine(), name)
		require.Same(t, tensor.Engine(b), y.Engine(), name)
		require.Len(t, a.calls, 1, name)
		require.Equal(t, name, a.calls[0].Op.Name)
		require.Nil(t, f(tensor.In(nil)).Engine(), "without an engine it is made at once")
		require.Equal(t, f(tensor.In(nil)).Type(), x.Type())
	}
	a, b := &recorder{}, &recorder{}
	require.Same(t, tensor.Engine(a), tensor.In(a).Apply(std.Relu, nil, vec(1))[0].Engine(), "eager operands join")
	require.Equal(t, tensor.MixedEngines, failure(t, func() { tensor.In(a).Zeros(input(b).Size(0)) }).Code)
	require.Equal(t, tensor.MixedEngines, failure(t, func() { tensor.In(a).Apply(std.Relu, nil, input(b)) }).Code)
}

func TestEnginesDoNotMix(t *testing.T) {
	a, b := &recorder{}, &recorder{}
	x, y := input(a), input(b)
	for name, f := range map[string]func(){
		"operands":            func() { x.Add(y) },
		"operand and size":    func() { x.Reshape(y.Size(0), 4) },
		"sizes":               func() { tensor.Zeros(x.Size(0), y.Size(0)) },
		"sizes of two params": func() { vec(1).Narrow(0, x.Size(0), y.Size(0)) },
		"size arithmetic":     func() { x.Size(0).Add(y.Size(0)) },
		"control flow":        func() { tensor.Cond(x, nil, nil, y) },
	} {
		require.Equal(t, tensor.MixedEngines, failure(t, f).Code, name)
	}
}

func TestLeaf(t *testing.T) {
	w := mat(1, 2, 1, 2)
	b := &tensor.Bound{Op: std.Linear, Attrs: op.None{}, Names: []string{"weight", "bias"}, Params: []*tensor.Tensor{w, nil}, Inputs: 1}
	requireClose(t, []int{1}, f32{5}, tensor.Leaf(nil, b, vec(1, 2))[0])
	r := &recorder{leaf: true}
	require.Equal(t, "f32[1]", tensor.Leaf(nil, b, input(r))[0].Type().String())
	require.Empty(t, r.calls)
	r = &recorder{}
	w = mat(1, 4, 1, 2, 3, 4)
	b.Params[0] = w
	require.Equal(t, "f32[N,1]", tensor.Leaf(nil, b, input(r))[0].Type().String())
	require.Len(t, r.calls, 1)

	pool := &tensor.Bound{Op: std.BatchNorm, Attrs: tensor.BatchNormAttrs{Eps: 1e-5}, Inputs: 3, Params: []*tensor.Tensor{vec(1, 1), vec(0, 0)}}
	requireClose(t, []int{1, 2}, f32{0, 0}, tensor.Leaf(nil, pool, mat(1, 2, 3, 4))[0])
}

func TestRunScope(t *testing.T) {
	r := &recorder{}
	x, m := input(r), &leaf{}
	out := tensor.RunScope(m, ts{x}, func() ts { return ts{x.Relu()} })
	require.Len(t, out, 1)
	require.Equal(t, []any{m, nil}, r.inScope, "entered and left")
	out = tensor.RunScope(m, ts{vec(-1)}, func() ts { return ts{vec(-1).Relu()} })
	requireClose(t, []int{1}, f32{0}, out[0])
}

func TestStringAndEqual(t *testing.T) {
	var none *tensor.Tensor
	require.Equal(t, "nil", none.String())
	require.True(t, vec(1, 2).Equal(vec(1, 2)))
	require.False(t, vec(1, 2).Equal(mat(1, 2, 1, 2)))
	require.False(t, vec(1, 2).Equal(ints(1, 2)))
	require.Equal(t, []float32{2, 5}, tensor.Data[float32](mat(2, 3, 0, 1, 2, 3, 4, 5).At().Select(1, 2)), "a view is copied")
}
