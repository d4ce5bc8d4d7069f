package train_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/optim"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/train"
)

// someImages are a batch for convNet.
func someImages() (x, y *array.Array) {
	x, y = array.New(array.F32, 5, 1, 6, 6), array.FromSlice([]int64{0, 1, 2, 1, 0}, 5)
	for i := range array.Data[float32](x) {
		array.Data[float32](x)[i] = float32(i%7) / 7
	}
	return x, y
}

// contractions counts the products of a step by the type that they compute in.
func contractions(step *train.Step) map[array.DType]int {
	count := map[array.DType]int{}
	for n := range step.Graph().Module.All() {
		if n.Opcode().IsCall() && n.Op() != nil && n.Op().Class == op.Contraction {
			count[n.Type().DType()]++
		}
	}
	return count
}

// TestStep_mixed: all products, those of the gradient too, compute in 16 bits, the state stays in f32, and
// training goes the way that it goes in f32.
func TestStep_mixed(t *testing.T) {
	x, y := someImages()
	last := map[array.DType]float64{}
	for _, dtype := range []array.DType{array.Invalid, array.BF16, array.F16} {
		m := newConvNet()
		step, err := train.NewStepWith(ctx, m, m.loss, optim.Rule{Optimiser: optim.SGD{LR: 0.1, Momentum: 0.9}}, train.StepOptions{Mixed: dtype},
			fx.Input("x", "f32[N,1,6,6]"), fx.Input("y", "i64[N]"))
		require.NoError(t, err)
		require.Equal(t, []string{"loss", "accuracy"}, step.Names())
		count := contractions(step)
		if dtype == array.Invalid {
			require.Positive(t, count[array.F32])
		} else {
			require.Zero(t, count[array.F32])
			require.Equal(t, 5, count[dtype], "two of the model, and the gradients by two weights and by an input")
			half, full := step.Mixed()
			require.NotEmpty(t, half)
			require.Empty(t, full)
		}
		for _, p := range step.Params() {
			require.Equal(t, array.F32, step.Graph().Param(p).Value.DType())
		}
		for range 30 {
			out, err := step.Run(ctx, x, y)
			require.NoError(t, err)
			last[dtype] = array.Float64At(out[0], 0)
		}
		require.Equal(t, 30, step.Updates())
	}
	require.Less(t, last[array.Invalid], 1.06)
	require.InDelta(t, last[array.Invalid], last[array.BF16], 0.05)
	require.InDelta(t, last[array.Invalid], last[array.F16], 0.01)
	require.NotEqual(t, last[array.Invalid], last[array.F16], "nothing was rounded")
}

// steep is a linear layer whose loss has gradients beyond f16 at first.
type steep struct{ Fc *nn.Linear }

func (m *steep) Forward(x *tensor.Tensor) *tensor.Tensor { return m.Fc.Forward(x).Square().Mean() }

// TestStep_lossScale: updates with gradients that are not finite are left out, the scale is halved then and doubled after
// 2,000 updates; interpreter and plan agree.
func TestStep_lossScale(t *testing.T) {
	make := func(accumulate int) (*steep, *train.Step) {
		m := &steep{nn.NewLinear(4, 2, nn.Seed(1))}
		step, err := train.NewStepWith(ctx, m, m, optim.Rule{Optimiser: optim.SGD{LR: 1e-6}, Accumulate: accumulate}, train.StepOptions{Mixed: array.F16}, fx.Input("x", "f32[3,4]"))
		require.NoError(t, err)
		return m, step
	}
	x := array.New(array.F32, 3, 4)
	for i := range array.Data[float32](x) {
		array.Data[float32](x)[i] = float32(i - 5)
	}
	m, step := make(1)
	before := array.Clone(m.Fc.Weight.Array())
	require.EqualValues(t, 0x1p16, step.LossScale())
	skipped := 0
	for step.Updates() == 0 {
		_, err := step.Run(ctx, x)
		require.NoError(t, err)
		step.Sync()
		if step.Updates() == 0 {
			skipped++
			require.Equal(t, array.Data[float32](before), array.Data[float32](m.Fc.Weight.Array()), "an update that is left out changes nothing")
		}
		require.Less(t, skipped, 20)
	}
	require.Positive(t, skipped)
	require.Equal(t, 0x1p16*math.Pow(0.5, float64(skipped)), step.LossScale())
	require.NotEqual(t, array.Data[float32](before), array.Data[float32](m.Fc.Weight.Array()))
	scale := step.LossScale()
	for range 1999 {
		_, err := step.Run(ctx, x)
		require.NoError(t, err)
	}
	require.Equal(t, 2000, step.Updates())
	require.Equal(t, 2*scale, step.LossScale())

	other, interpreted := make(1)
	for range skipped + 1 {
		_, err := interpreted.Graph().RunArrays(ctx, []*array.Array{x})
		require.NoError(t, err)
	}
	require.Equal(t, 1, interpreted.Updates())
	require.Equal(t, scale, interpreted.LossScale())
	require.NotEqual(t, array.Data[float32](before), array.Data[float32](other.Fc.Weight.Array()))

	_, both := make(2) // the scale changes with updates only, the sum of a skipped update is dropped
	for range 2 * (skipped + 1) {
		_, err := both.Run(ctx, x)
		require.NoError(t, err)
	}
	require.Equal(t, 1, both.Updates())
	require.Equal(t, scale, both.LossScale())
}

func TestStep_mixedMistakes(t *testing.T) {
	m := newProduct()
	_, err := train.NewStepWith(ctx, m, m, optim.Rule{Optimiser: optim.SGD{LR: 0.1}}, train.StepOptions{Mixed: array.I8}, fx.Input("x", "f32[]"))
	var d *diag.Error
	require.ErrorAs(t, err, &d)
	require.Equal(t, "the step is mixed with i8", d.Msg)
	require.NotEmpty(t, d.Hint)
}

// TestStep_optionsTogether: recomputation changes no bit of a step of mixed precision that accumulates, clips and averages,
// in the plan with any number of threads and in the interpreter.
func TestStep_optionsTogether(t *testing.T) {
	x, y := someImages()
	for _, dtype := range []array.DType{array.Invalid, array.BF16, array.F16} {
		var first []float32
		for _, again := range []bool{false, true} {
			for _, threads := range []int{0, 1, 2} { // 0: the interpreter
				m := newConvNet()
				o := train.StepOptions{Mixed: dtype}
				if again {
					o.Recompute = &fx.RecomputePolicy{}
				}
				rule := optim.Rule{Optimiser: optim.AdamW{LR: 1e-2}, Accumulate: 2, ClipNorm: 1, Average: 0.9}
				step, err := train.NewStepWith(ctx, m, m.loss, rule, o, fx.Input("x", "f32[N,1,6,6]"), fx.Input("y", "i64[N]"))
				require.NoError(t, err)
				if threads > 0 {
					require.NoError(t, step.Compile(ctx, lowering.Options{Threads: threads, Exact: true}))
				}
				var losses []float32
				for range 7 {
					var out []*array.Array
					if threads > 0 {
						out, err = step.Run(ctx, x, y)
					} else {
						out, err = step.Graph().RunArrays(ctx, []*array.Array{x, y})
					}
					require.NoError(t, err)
					losses = append(losses, array.Data[float32](out[0])[0])
				}
				if first == nil {
					first = losses
				}
				require.Equal(t, first, losses, "%s, again %t, %d threads", dtype, again, threads)
			}
		}
	}
}
