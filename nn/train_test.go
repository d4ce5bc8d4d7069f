package nn_test

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer"
)

// filled returns an f32 tensor of repeatable numbers.
func filled(shape ...int) *tensor.Tensor {
	x := tensor.New(array.New(array.F32, shape...))
	nn.NewSource(5).Uniform(x, -1, 1)
	return x
}

func values(x *tensor.Tensor) []float64 {
	a := x.Array()
	out := make([]float64, a.Len())
	for i := range out {
		out[i] = array.Float64At(a, i)
	}
	return out
}

// moments returns mean and unbiased variance of each channel of x [N, C, ...].
func moments(x *tensor.Tensor) (mean, variance []float64) {
	v, sh := values(x), x.Shape()
	inner := len(v) / (sh[0] * sh[1])
	n := float64(len(v) / sh[1])
	mean, variance = make([]float64, sh[1]), make([]float64, sh[1])
	each := func(f func(c int, v float64)) {
		for i, e := range v {
			f(i/inner%sh[1], e)
		}
	}
	each(func(c int, e float64) { mean[c] += e / n })
	each(func(c int, e float64) { variance[c] += (e - mean[c]) * (e - mean[c]) / (n - 1) })
	return mean, variance
}

func TestBatchNormTraining(t *testing.T) {
	for _, shape := range [][]int{{6, 3}, {4, 3, 5}} {
		m := nn.NewBatchNorm1d(3, nn.Momentum(0.25))
		nn.Train(m)
		x := filled(shape...)
		y := m.Forward(x)
		mean, variance := moments(x)
		gotMean, gotVar := moments(y)
		n := float64(x.Array().Len() / 3)
		for c := range 3 {
			require.InDelta(t, 0, gotMean[c], 1e-5)
			require.InDelta(t, 1, gotVar[c]*(n-1)/n, 1e-3)
			require.InDelta(t, 0.25*mean[c], values(m.RunningMean)[c], 1e-6)
			require.InDelta(t, 0.75+0.25*variance[c], values(m.RunningVar)[c], 1e-6)
		}
		require.Equal(t, 1.0, m.NumBatchesTracked.Item())
		m.Forward(x)
		require.Equal(t, 2.0, m.NumBatchesTracked.Item())
		nn.Eval(m)
		before := values(m.RunningMean)
		m.Forward(x)
		require.Equal(t, before, values(m.RunningMean), "evaluation writes nothing")
	}
}

func TestCumulativeAverageCountsAllBatchesTheSame(t *testing.T) {
	m := nn.NewBatchNorm2d(2, nn.CumulativeAverage())
	nn.Train(m)
	a, b := filled(2, 2, 3, 3), filled(2, 2, 3, 3).MulScalar(3.0)
	m.Forward(a)
	m.Forward(b)
	ma, va := moments(a)
	mb, vb := moments(b)
	for c := range 2 {
		require.InDelta(t, (ma[c]+mb[c])/2, values(m.RunningMean)[c], 1e-6)
		require.InDelta(t, (va[c]+vb[c])/2, values(m.RunningVar)[c], 1e-5)
	}
}

func TestInstanceNormTraining(t *testing.T) {
	m := nn.NewInstanceNorm2d(2, nn.TrackRunningStats(true))
	nn.Train(m)
	x := filled(1, 2, 3, 4)
	m.Forward(x)
	mean, variance := moments(x)
	for c := range 2 {
		require.InDelta(t, 0.1*mean[c], values(m.RunningMean)[c], 1e-6)
		require.InDelta(t, 0.9+0.1*variance[c], values(m.RunningVar)[c], 1e-6)
	}
}

// step is a training step: batch normalisation and dropout.
type step struct {
	Bn   *nn.BatchNorm1d
	Drop *nn.Dropout
}

func newStep() *step {
	m := &step{nn.NewBatchNorm1d(3), nn.NewDropout(0.5, nn.DropoutSeed(7))}
	nn.Train(m)
	return m
}

func (m *step) Forward(x *tensor.Tensor) *tensor.Tensor { return m.Drop.Forward(m.Bn.Forward(x)) }

// TestTrainingIsTheSameTraced runs a captured training step and an eager one side
// by side: results, statistics and random numbers agree at every step.
func TestTrainingIsTheSameTraced(t *testing.T) {
	eager, m := newStep(), newStep()
	mod, err := (&tracer.Tracer{Inputs: []tracer.Input{{Name: "x", Type: shape.TensorType(array.F32, shape.ConstDims(40, 3))}}}).Trace(context.Background(), m)
	require.NoError(t, err)
	p := &interp.Interpreter{State: interp.NewState(mod)}
	var last []float64
	for i := range 3 {
		x := filled(40, 3).MulScalar(float64(i + 1))
		want := eager.Forward(x)
		got, err := p.Run(context.Background(), x)
		require.NoError(t, err)
		require.True(t, want.Equal(got[0]), "step %d", i)
		require.NotEqual(t, last, values(got[0]))
		last = values(got[0])
		require.Equal(t, values(eager.Bn.RunningVar), values(m.Bn.RunningVar))
		require.Equal(t, float64(i+1), m.Bn.NumBatchesTracked.Item())
	}
}

func TestDropout(t *testing.T) {
	x := tensor.Ones(1000)
	require.Equal(t, values(x), values(nn.NewDropout(0.3).Forward(x)), "evaluation is the identity")
	a, b, c := nn.NewDropout(0.25, nn.DropoutSeed(1)), nn.NewDropout(0.25, nn.DropoutSeed(1)), nn.NewDropout(0.25, nn.DropoutSeed(2))
	for _, m := range []any{a, b, c} {
		nn.Train(m)
	}
	first := values(a.Forward(x))
	require.Equal(t, first, values(b.Forward(x)), "a seed repeats")
	require.NotEqual(t, first, values(c.Forward(x)))
	require.NotEqual(t, first, values(a.Forward(x)), "every call draws anew")
	zero := 0
	for _, v := range first {
		if v == 0 {
			zero++
		} else {
			require.InDelta(t, 4.0/3, v, 1e-6)
		}
	}
	require.InDelta(t, 250, zero, 60)

	bare := nn.NewDropout(0.5)
	nn.Train(bare)
	require.ErrorContains(t, refused(t, func() { bare.Forward(x) }), "the module has no seed")
	none := nn.NewDropout(0)
	nn.Train(none)
	require.Equal(t, values(x), values(none.Forward(x)))
}

func TestDropoutOfChannels(t *testing.T) {
	m := nn.NewDropout2d(0.5, nn.DropoutSeed(3))
	nn.Train(m)
	y := values(m.Forward(tensor.Ones(4, 8, 3, 3)))
	kinds := map[float64]int{}
	for c := range 32 {
		for _, v := range y[c*9 : c*9+9] {
			require.Equal(t, y[c*9], v, "a channel is dropped as a whole")
		}
		kinds[y[c*9]]++
	}
	require.Len(t, kinds, 2)
	require.Positive(t, kinds[0])
	require.Positive(t, kinds[2])
}

func TestDropoutBetweenLayers(t *testing.T) {
	m := nn.NewLSTM(3, 4, nn.NumLayers(2), nn.Bidirectional(), nn.DropoutBetween(0.5, 9))
	x, h, c := filled(5, 2, 3), filled(4, 2, 4), filled(4, 2, 4)
	y, hn, cn := m.Forward(x, h, c)
	nn.Train(m)
	m.Between.P = 0 // layer by layer, with nothing dropped
	y2, hn2, cn2 := m.Forward(x, h, c)
	require.InDeltaSlice(t, values(y), values(y2), 1e-6)
	require.InDeltaSlice(t, values(hn), values(hn2), 1e-6)
	require.InDeltaSlice(t, values(cn), values(cn2), 1e-6)
	m.Between.P = 0.5
	y3, _, _ := m.Forward(x, nil, nil)
	require.Equal(t, y.Shape(), y3.Shape())
	require.NotEqual(t, values(y), values(y3))
}

func TestInitialWeights(t *testing.T) {
	m := nn.NewLinear(400, 300, nn.Seed(4))
	v := values(m.Weight)
	var sum, sum2, top float64
	for _, e := range v {
		sum, sum2, top = sum+e, sum2+e*e, max(top, math.Abs(e))
	}
	n := float64(len(v))
	require.InDelta(t, 0, sum/n, 1e-3)
	require.InDelta(t, 1.0/400/3, sum2/n, 1e-5)
	require.InDelta(t, 0.05, top, 1e-4)
	require.LessOrEqual(t, top, 0.05)
	require.Equal(t, v, values(nn.NewLinear(400, 300, nn.Seed(4)).Weight))
	require.NotEqual(t, v, values(nn.NewLinear(400, 300).Weight))
	require.Equal(t, make([]float64, 6), values(nn.NewLinear(3, 2, nn.NoInit()).Weight))

	e := values(nn.NewEmbedding(300, 100, nn.PaddingIdx(-1)).Weight)
	sum, sum2 = 0, 0
	for _, x := range e {
		sum, sum2 = sum+x, sum2+x*x
	}
	require.InDelta(t, 0, sum/30000, 0.02)
	require.InDelta(t, 299.0/300, sum2/30000, 0.02)
	require.Equal(t, make([]float64, 100), e[29900:])

	deep := nn.NewSequential(nn.NewLinear(4, 4), nn.NewBatchNorm1d(4), nn.NewLinear(4, 4))
	nn.ResetParameters(deep, 1)
	first, last := deep.Modules[0].(*nn.Linear), deep.Modules[2].(*nn.Linear)
	require.NotEqual(t, values(first.Weight), values(last.Weight), "equal layers start different")
	again := values(first.Weight)
	nn.ResetParameters(deep, 1)
	require.Equal(t, again, values(first.Weight))

	for _, m := range []any{nn.NewLayerNorm([]int{2}), nn.NewRMSNorm([]int{2}), nn.NewGroupNorm(1, 2), nn.NewBatchNorm2d(2), nn.NewPReLU(2)} {
		want := state(m)
		for _, e := range nn.StateDict(m) {
			nn.Constant(e.Tensor, 3)
		}
		nn.ResetParameters(m, 1)
		requireSame(t, want, state(m))
		require.NotEqual(t, 3.0, values(nn.StateDict(m)[0].Tensor)[0])
	}

	x := nn.NewMultiheadAttention(8, 2)
	require.LessOrEqual(t, max(values(x.InProjWeight)[0], 0), math.Sqrt(6.0/32))
	require.Equal(t, make([]float64, 24), values(x.InProjBias))
	nn.ResetParameters(x, 3)
	require.Equal(t, make([]float64, 8), values(x.OutProj.Bias), "attention clears the bias that its projection draws")
	require.NotEqual(t, make([]float64, 64), values(x.OutProj.Weight))
}
