package nn_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

type (
	two      struct{ _ byte }
	three    struct{ _ byte }
	four     struct{ _ byte }
	five     struct{ _ byte }
	variadic struct{ _ byte }
	withCtx  struct{ _ byte }
	many     struct{ _ byte }
	pair     struct{ Sum, Product *tensor.Tensor }
	named    struct{ _ byte }
	failing  struct{ err error }
	wrong    struct{ _ byte }
	number   struct{ _ byte }
)

func (*two) Forward(a, b *tensor.Tensor) *tensor.Tensor           { return a.Sub(b) }
func (*three) Forward(a, b, c *tensor.Tensor) *tensor.Tensor      { return a.Sub(b).Sub(c) }
func (*four) Forward(a, b, c, d *tensor.Tensor) *tensor.Tensor    { return a.Sub(b).Sub(c).Sub(d) }
func (*five) Forward(a, b, c, d, e *tensor.Tensor) *tensor.Tensor { return a.Sub(e) }
func (*variadic) Forward(x ...*tensor.Tensor) *tensor.Tensor      { return tensor.Stack(x, 0) }
func (*many) Forward(x *tensor.Tensor) ([]*tensor.Tensor, *tensor.Tensor) {
	return []*tensor.Tensor{x, x.Neg()}, x.Square()
}
func (*withCtx) Forward(ctx context.Context, x *tensor.Tensor, rest ...*tensor.Tensor) (*tensor.Tensor, error) {
	return x, ctx.Err()
}
func (*named) Forward(a, b *tensor.Tensor) *pair                    { return &pair{a.Add(b), a.Mul(b)} }
func (f *failing) Forward(x *tensor.Tensor) (*tensor.Tensor, error) { return x, f.err }
func (*wrong) Forward(n int) *tensor.Tensor                         { return nil }
func (*number) Forward(x *tensor.Tensor) int                        { return 1 }

func scalars(v ...float64) []*tensor.Tensor {
	out := make([]*tensor.Tensor, len(v))
	for i := range v {
		out[i] = tensor.Scalar(v[i])
	}
	return out
}

func TestRunTakesAnyForward(t *testing.T) {
	for _, c := range []struct {
		m    any
		in   []float64
		want []float64
	}{
		{nn.NewReLU(), []float64{-1}, []float64{0}},
		{&two{}, []float64{9, 1}, []float64{8}},
		{&three{}, []float64{9, 1, 2}, []float64{6}},
		{&four{}, []float64{9, 1, 2, 3}, []float64{3}},
		{&five{}, []float64{9, 1, 2, 3, 4}, []float64{5}},
		{&many{}, []float64{3}, []float64{3, -3, 9}},
		{&withCtx{}, []float64{3}, []float64{3}},
		{&withCtx{}, []float64{3, 4, 5}, []float64{3}},
		{&named{}, []float64{3, 4}, []float64{7, 12}},
		{&failing{}, []float64{3}, []float64{3}},
	} {
		out := nn.RunAll(c.m, scalars(c.in...)...)
		var got []float64
		for _, x := range out {
			got = append(got, x.Item())
		}
		require.Equal(t, c.want, got, "%T", c.m)
	}
	require.Equal(t, []int{3}, nn.Run(&variadic{}, scalars(1, 2, 3)...).Shape())
}

// refused returns the diagnostic that f panics with.
func refused(t *testing.T, f func()) *diag.Error {
	t.Helper()
	var e *diag.Error
	func() {
		defer func() { e, _ = recover().(*diag.Error) }()
		f()
	}()
	require.NotNil(t, e, "no diagnostic")
	return e
}

func TestRunRefuses(t *testing.T) {
	for _, c := range []struct {
		m    any
		in   []float64
		want string
	}{
		{nil, nil, "nil: the type has no method Forward"},
		{3, nil, "int: the type has no method Forward"},
		{nn.NewReLU(), nil, "*nn.ReLU: 0 inputs are given, Forward takes 1"},
		{nn.NewReLU(), []float64{1, 2}, "*nn.ReLU: 2 inputs are given, Forward takes 1"},
		{&two{}, []float64{1}, "*nn_test.two: 1 inputs are given, Forward takes 2"},
		{&wrong{}, []float64{1}, "*nn_test.wrong: parameter 0 of Forward is a int, expected *tensor.Tensor"},
		{&number{}, []float64{1}, "*nn_test.number: Forward returns a int, expected tensors"},
		{&many{}, []float64{1}, "*nn_test.many: Forward has 3 results, expected one"},
		{&failing{errors.New("no luck")}, []float64{1}, "Forward returned an error: no luck"},
	} {
		e := refused(t, func() { nn.Run(c.m, scalars(c.in...)...) })
		require.ErrorIs(t, e, nn.NotRunnable)
		require.ErrorContains(t, e, c.want)
		require.Contains(t, e.Pos.File, "run_test.go")
	}
	e := refused(t, func() { nn.NewModuleDict().Forward("a", scalars(1)...) })
	require.ErrorContains(t, e, "there is no module a")
	require.ErrorIs(t, refused(t, func() { nn.NewNamedSequential(nn.Named("a", &two{})) }), nn.NotRunnable)
}

func TestContainersRunTheirModules(t *testing.T) {
	double := nn.NewSequential(nn.NewThreshold(0, 5), nn.NewIdentity())
	require.Equal(t, 5.0, nn.Run(double, tensor.Scalar(-2.0)).Item())
	chain := nn.NewNamedSequential(nn.Named("a", nn.NewThreshold(0, 5)), nn.Named("b", nn.NewHardtanh(0, 4)))
	require.Equal(t, 4.0, nn.Run(chain, tensor.Scalar(-2.0)).Item())
	d := nn.NewModuleDict(nn.Named("relu", nn.NewReLU()), nn.Named("two", &two{}))
	require.Equal(t, 0.0, d.Forward("relu", scalars(-1)...).Item())
	require.Equal(t, -3.0, d.Forward("two", scalars(-1, 2)...).Item())
	require.Nil(t, d.Get("none"))
}

// odd has one count too few for a padding.
var odd = []int{1, 1, 1}

func TestConstructorsRefuse(t *testing.T) {
	for name, f := range map[string]func(){
		"groups":         func() { nn.NewConv2d(3, 4, 3, nn.Groups(2)) },
		"kernel":         func() { nn.NewConv2d(3, 4, 0) },
		"kernel sizes":   func() { nn.NewConv2d(3, 4, 3, nn.Kernel(1, 2, 3)) },
		"transposed":     func() { nn.NewConvTranspose2d(3, 4, 3, nn.PaddingMode("reflect")) },
		"features":       func() { nn.NewBatchNorm2d(0) },
		"sizes":          func() { nn.NewLayerNorm(nil) },
		"group multiple": func() { nn.NewGroupNorm(2, 3) },
		"slopes":         func() { nn.NewPReLU(0) },
		"output size":    func() { nn.NewAdaptiveAvgPool2d(1, 2, 3) },
		"norm":           func() { nn.NewLPPool1d(0, 2) },
		"pad":            func() { nn.NewZeroPad(odd...) },
		"probability":    func() { nn.NewDropout(1.5) },
		"table":          func() { nn.NewEmbedding(-1, 2) },
		"padding index":  func() { nn.NewEmbedding(3, 2, nn.PaddingIdx(3)) },
		"padded bags":    func() { nn.NewEmbeddingBag(3, 2, nn.PaddingIdx(0)) },
		"layers":         func() { nn.NewLSTM(2, 3, nn.NumLayers(0)) },
		"hidden":         func() { nn.NewGRUCell(2, 0) },
		"heads":          func() { nn.NewMultiheadAttention(5, 2) },
	} {
		e := refused(t, f)
		require.Equal(t, diag.Code("FX2005"), e.Code, name)
		require.Contains(t, e.Msg, "expected", name)
	}
}
