package train_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/optim"
	"github.com/gofx-dev/gofx/passes/quant"
	"github.com/gofx-dev/gofx/passes/quant/integer"
	"github.com/gofx-dev/gofx/passes/simplify"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/train"
)

// residual has what the plan treats in different ways: norms after convolutions, a sum with an
// activation, a pool, a layer of floats at the end.
type residual struct {
	First, Second *nn.Conv2d
	Norm1, Norm2  *nn.BatchNorm2d
	Out           *nn.Linear
}

func newResidual() *residual {
	m := &residual{
		First: nn.NewConv2d(1, 8, 3, nn.Padding(1)), Norm1: nn.NewBatchNorm2d(8),
		Second: nn.NewConv2d(8, 8, 3, nn.Padding(1)), Norm2: nn.NewBatchNorm2d(8),
		Out: nn.NewLinear(8, 4),
	}
	nn.ResetParameters(m, 3)
	return m
}

func (m *residual) Forward(x *tensor.Tensor) *tensor.Tensor {
	x = m.Norm1.Forward(m.First.Forward(x)).Relu()
	y := m.Norm2.Forward(m.Second.Forward(x)).Add(x).Relu()
	return m.Out.Forward(y.MeanWith(tensor.Ints(2, 3), tensor.ReduceAttrs{}))
}

func normal(r *rand.Rand, shape ...int) *array.Array {
	a := array.New(array.F32, shape...)
	for i := range array.Data[float32](a) {
		array.Data[float32](a)[i] = float32(r.NormFloat64())
	}
	return a
}

// perceptron ends in a layer that is taken with its sum and activation.
type perceptron struct{ First, Second, Out *nn.Linear }

func (m *perceptron) Forward(x *tensor.Tensor) *tensor.Tensor {
	y := m.First.Forward(x).Relu()
	y = m.Second.Forward(y).Add(y).Relu()
	return m.Out.Forward(y)
}

func newPerceptron() *perceptron {
	m := &perceptron{nn.NewLinear(36, 64), nn.NewLinear(64, 64), nn.NewLinear(64, 4)}
	nn.ResetParameters(m, 5)
	return m
}

// branches has a group of values with one scale, a norm on its own and a dropout.
type branches struct {
	Own         *nn.BatchNorm2d
	Left, Right *nn.Conv2d
	Drop        *nn.Dropout
	Norm        *nn.BatchNorm2d
	Last        *nn.Conv2d
	Out         *nn.Linear
}

func (m *branches) Forward(x *tensor.Tensor) *tensor.Tensor {
	x = m.Own.Forward(x)
	y := tensor.Cat([]*tensor.Tensor{m.Left.Forward(x).Relu(), m.Right.Forward(x).Relu()}, 1)
	y = m.Drop.Forward(y.MaxPool2d(2))
	y = m.Norm.Forward(m.Last.Forward(y)).Relu()
	return m.Out.Forward(y.Reshape(y.Size(0), 72))
}

func newBranches() *branches {
	m := &branches{
		Own: nn.NewBatchNorm2d(1), Left: nn.NewConv2d(1, 4, 3, nn.Padding(1)), Right: nn.NewConv2d(1, 4, 1), Drop: nn.NewDropout(0.2, nn.DropoutSeed(9)),
		Norm: nn.NewBatchNorm2d(8), Last: nn.NewConv2d(8, 8, 3, nn.Padding(1), nn.NoBias()), Out: nn.NewLinear(72, 4),
	}
	nn.ResetParameters(m, 7)
	return m
}

var static = &quant.Config{Global: quant.Setting{Mode: quant.Static}}

// trained trains a model for its quantisation for some steps.
func trained(t *testing.T, model any, typ string, c *quant.Config, o quant.Training, steps int) (*train.Quantised, func() *array.Array) {
	t.Helper()
	ctx := context.Background()
	r := rand.New(rand.NewPCG(1, 2))
	q, err := train.Quantise(ctx, model, c, cpu.QuantBackend(), o, fx.Input("x", "f32[N,"+typ+"]"))
	require.NoError(t, err)
	loss := func(x, y *tensor.Tensor) *tensor.Tensor { return nn.NewCrossEntropyLoss().Forward(q.Forward(x), y) }
	step, err := train.NewStep(ctx, q, loss, optim.Rule{Optimiser: optim.AdamW{LR: 0.01}}, fx.Input("x", "f32[N,"+typ+"]"), fx.Input("y", "i64[N]"))
	require.NoError(t, err)
	shape := []int{8, 1, 6, 6}
	if typ == "36" {
		shape = []int{8, 36}
	}
	draw := func() *array.Array { return normal(r, shape...) }
	for range steps {
		y := array.New(array.I64, 8)
		for i := range 8 {
			array.Data[int64](y)[i] = int64(r.IntN(4))
		}
		out, err := step.Run(ctx, draw(), y)
		require.NoError(t, err)
		require.False(t, math.IsNaN(array.Float64At(out[0], 0)))
	}
	step.Sync()
	return q, draw
}

// byPlan runs the plan of a graph.
func byPlan(t *testing.T, gm *fx.GraphModule, x *array.Array) *array.Array {
	t.Helper()
	exe, err := cpu.Compile(gm.Module, lowering.Options{})
	require.NoError(t, err)
	out, err := exe.Run(context.Background(), []*array.Array{x})
	require.NoError(t, err)
	return array.Clone(out[0])
}

// TestQuantise_agreesWithItsConversion holds the graph that is evaluated to the reference form of
// its conversion, bit for bit, and the integer operators to both.
func TestQuantise_agreesWithItsConversion(t *testing.T) {
	ctx := context.Background()
	scheme := func(activation, weight quant.Scheme) *quant.Config {
		return &quant.Config{Global: quant.Setting{Mode: quant.Static, Activation: activation, Weight: weight}}
	}
	mode := func(m quant.Mode, bits int) *quant.Config {
		return &quant.Config{Global: quant.Setting{Mode: m, Weight: quant.Scheme{Bits: bits}}}
	}
	const image, row = "1,6,6", "36"
	for _, c := range []struct {
		name   string
		model  any
		input  string
		config *quant.Config
		o      quant.Training
	}{
		{"residual", newResidual(), image, static, quant.Training{Observe: 4, Freeze: 6}},
		{"residual, always observed", newResidual(), image, static, quant.Training{}},
		{"residual, i8 symmetric, one scale for a weight", newResidual(), image,
			scheme(quant.Scheme{DType: array.I8, Symmetry: quant.Symmetric, Observer: quant.Observer{Kind: quant.MinMax}}, quant.Scheme{Granularity: quant.PerTensor, Symmetry: quant.Affine, DType: array.U8}), quant.Training{Observe: 4}},
		{"branches", newBranches(), image, static, quant.Training{Observe: 4, Freeze: 8}},
		{"perceptron", newPerceptron(), row, static, quant.Training{Observe: 4}},
		{"perceptron, dynamic", newPerceptron(), row, mode(quant.Dynamic, 8), quant.Training{Observe: 4}},
		{"perceptron, weights alone", newPerceptron(), row, mode(quant.WeightOnly, 8), quant.Training{Observe: 4}},
		{"perceptron, 4 bits", newPerceptron(), row, mode(quant.WeightOnly, 4), quant.Training{Observe: 4}},
		{"perceptron, 4 bits symmetric", newPerceptron(), row, &quant.Config{Global: quant.Setting{Mode: quant.WeightOnly, Weight: quant.Scheme{Bits: 4, Symmetry: quant.Symmetric}}}, quant.Training{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			q, draw := trained(t, c.model, c.input, c.config, c.o, 10)
			require.EqualValues(t, 10, array.Int64At(q.Trained().Param("quant.steps").Value, 0))
			x := draw()
			want, err := q.Evaluated().RunArrays(ctx, []*array.Array{x})
			require.NoError(t, err)
			gm, err := q.Convert(ctx)
			require.NoError(t, err)
			got, err := gm.RunArrays(ctx, []*array.Array{x})
			require.NoError(t, err)
			require.Equal(t, array.Bytes(want[0]), array.Bytes(got[0]))
			require.Equal(t, array.Bytes(byPlan(t, q.Evaluated(), x)), array.Bytes(byPlan(t, gm, x)), "of plans")
			_, err = gm.Apply(ctx, []fx.Pass{integer.Lower}, fx.PassOptions{})
			require.NoError(t, err)
			whole := byPlan(t, gm, x)
			off := 0.0
			for i := range whole.Len() {
				off = max(off, math.Abs(array.Float64At(whole, i)-array.Float64At(want[0], i)))
			}
			t.Log("integers are off by", off)
			require.Less(t, off, 0.02)
		})
	}
}

// TestQuantise_foldsNormsAndDoesNotWriteThemBack: folding at each step does not compound, statistics freeze,
// and the model's own tensors are those that are trained.
func TestQuantise_foldsNormsAndDoesNotWriteThemBack(t *testing.T) {
	m := newResidual()
	weight := m.First.Weight.Array()
	before := array.Clone(weight)
	q, _ := trained(t, m, "1,6,6", static, quant.Training{Freeze: 3}, 3)
	off := 0.0
	for i := range weight.Len() {
		off = max(off, math.Abs(array.Float64At(weight, i)-array.Float64At(before, i)))
	}
	require.Greater(t, off, 0.0)
	require.Less(t, off, 3*0.011, "three steps of AdamW, and no factor of a norm")
	require.NotEqual(t, array.Bytes(array.New(array.F32, 8)), array.Bytes(m.Norm1.RunningMean.Array()))
	require.Nil(t, q.Trained().Param("quant.x.delta"), "nothing is learned where all steps observe")

	a, b := newResidual(), newResidual()
	trained(t, a, "1,6,6", static, quant.Training{Freeze: 3}, 3)
	trained(t, b, "1,6,6", static, quant.Training{Freeze: 3}, 7)
	require.Equal(t, array.Bytes(a.Norm2.RunningVar.Array()), array.Bytes(b.Norm2.RunningVar.Array()))
}

// TestQuantise_learnsScales: while ranges are observed nothing is learned, afterwards nothing observed.
func TestQuantise_learnsScales(t *testing.T) {
	o := quant.Training{Observe: 3}
	early, _ := trained(t, newPerceptron(), "36", static, o, 3)
	late, _ := trained(t, newPerceptron(), "36", static, o, 8)
	value := func(q *train.Quantised, path string) []byte { return array.Bytes(q.Trained().Param(path).Value) }
	for _, at := range []string{"quant.x.seen", "quant.first.weight.least", "quant.first.weight.most"} {
		require.Equal(t, value(early, at), value(late, at), at)
	}
	for _, at := range []string{"quant.x.delta", "quant.first.weight.delta"} {
		zero := make([]byte, len(value(early, at)))
		require.Equal(t, zero, value(early, at), at)
		require.NotEqual(t, zero, value(late, at), at)
	}
}

func TestQuantise_refuses(t *testing.T) {
	ctx := context.Background()
	b := cpu.QuantBackend()
	q, err := train.Quantise(ctx, newPerceptron(), static, b, quant.Training{}, fx.Input("x", "f32[N,36]"))
	require.NoError(t, err)
	_, err = q.Convert(ctx)
	require.ErrorIs(t, err, quant.Uncalibrated)

	gm, err := fx.Trace(ctx, newPerceptron(), fx.Input("x", "f32[N,36]"))
	require.NoError(t, err)
	for _, p := range []fx.Pass{quant.Evaluate(static, b), quant.ConvertTrained(static, b)} {
		_, err = gm.Apply(ctx, []fx.Pass{simplify.FunctionalizeAll, p}, fx.PassOptions{})
		require.ErrorIs(t, err, quant.NotPrepared)
	}
	between := &between{nn.NewConv2d(1, 2, 1), nn.NewDropout(0.5, nn.DropoutSeed(1)), nn.NewBatchNorm2d(2)}
	_, err = train.Quantise(ctx, between, static, b, quant.Training{}, fx.Input("x", "f32[N,1,6,6]"))
	require.ErrorIs(t, err, quant.NotPrepared)
	require.ErrorContains(t, err, "dropout has no form that is trained")
}

// between drops where a norm would be folded.
type between struct {
	Conv *nn.Conv2d
	Drop *nn.Dropout
	Norm *nn.BatchNorm2d
}

func (m *between) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.Norm.Forward(m.Drop.Forward(m.Conv.Forward(x)))
}
