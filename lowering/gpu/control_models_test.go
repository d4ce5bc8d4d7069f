package gpu_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/internal/testkit/cases"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/gpu"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/run"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/tensor"
)

// TestCasesWithControlFlow runs models of package cases whole on the device, next to their eager
// runs, except those that write state.
func TestCasesWithControlFlow(t *testing.T) {
	everyTime := map[string]bool{"swap in a loop": true}
	g, _ := onCUDA(t)
	for _, c := range cases.Everything() {
		if !c.Regions {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			if !everyTime[c.Name] {
				fxtest.Nightly(t)
			}
			m, err := c.Module(ctx)
			require.NoError(t, err)
			l := lowering.Query(g, m.Graph)
			require.Equal(t, c.Stateful, len(l) > 0, "%s", l)
			if len(l) > 0 {
				t.Skip(l)
			}
			e := compile(t, g, m)
			for _, in := range c.Inputs {
				args := make([]*array.Array, len(in))
				for i, x := range in {
					args[i] = x.Array()
				}
				got, err := e.Run(ctx, args)
				require.NoError(t, err)
				var want []*array.Array
				for _, x := range c.Eager(in) {
					want = append(want, x.Array())
				}
				fxtest.Close(t, c.Name, want, got)
			}
		})
	}
}

// decoder writes tokens one by one, each from those before it, until all sequences of the batch
// have ended with token 0 or there are most steps.
type decoder struct {
	Embedding, In, Hidden, Bias, Out *tensor.Tensor
	most                             int
}

func (d *decoder) Forward(h, c, noise *tensor.Tensor) (tokens, last, logits *tensor.Tensor) {
	batch := 2
	start := tensor.OnesWith(batch, tensor.SizeAttrs{DType: array.I64})
	out := tensor.While(func(in []*tensor.Tensor) *tensor.Tensor {
		return in[0].LtScalar(d.most).LogicalAnd(in[1].Amax().GtScalar(0))
	}, func(in []*tensor.Tensor) []*tensor.Tensor {
		t, token, h, c, all := in[0], in[1], in[2], in[3], in[4]
		x := tensor.Embedding(token, d.Embedding)
		gates := tensor.Linear(x, d.In, d.Bias).Add(tensor.Linear(h, d.Hidden, nil)).Chunk(4, 1)
		c = gates[1].Sigmoid().Mul(c).Add(gates[0].Sigmoid().Mul(gates[2].Tanh()))
		h = gates[3].Sigmoid().Mul(c.Tanh())
		y := tensor.Linear(h, d.Out, nil)
		next := y.Add(noise.IndexSelect(t.Unsqueeze(0), 0).Squeeze()).Argmax(1)
		all = all.Scatter(t.Expand([]int{1, batch}), next.Unsqueeze(0), 0)
		return []*tensor.Tensor{t.AddScalar(1), next, h, c, all, y}
	}, tensor.Scalar(int64(0)), start, h, c, tensor.ZerosWith([]int{d.most, batch}, tensor.SizeAttrs{DType: array.I64}), tensor.Zeros(batch, d.Out.Dim(0)))
	return out[4], out[2], out[5]
}

// TestDecoder runs a decoder that stops where its tokens say so.
func TestDecoder(t *testing.T) {
	g, l := onCUDA(t)
	const batch, width, words, most = 2, 6, 7, 9
	var r op.Gen
	d := &decoder{Embedding: tensor.New(r.Normal(words, width)), In: tensor.New(r.Normal(4*width, width)), Hidden: tensor.New(r.Normal(4*width, width)),
		Bias: tensor.New(r.Normal(4 * width)), Out: tensor.New(r.Normal(words, width)), most: most}
	m, err := fx.Trace(ctx, d, fx.Input("h", "f32[2,6]"), fx.Input("c", "f32[2,6]"), fx.Input("noise", "f32[9,7]"))
	require.NoError(t, err)
	require.Empty(t, lowering.Query(g, m.Graph), "%s", m.Graph)
	ends := r.Normal(most, words)
	for i := range most {
		array.SetFloat64At(ends, i*words, map[bool]float64{true: 100, false: -100}[i == 4]) // token 0
	}
	for _, g := range []gpu.Target{g, {Device: run.NewDevice(processor{l}), Cache: "-"}} {
		e := compile(t, g, m.Module)
		for _, noise := range []*array.Array{ends, r.Normal(most, words)} {
			in := []*array.Array{r.Normal(batch, width), r.Normal(batch, width), noise}
			got, err := e.Run(ctx, in)
			require.NoError(t, err)
			want := interpreted(t, m.Module, in...)
			require.Equal(t, array.Data[int64](want[0]), array.Data[int64](got[0]), "tokens")
			fxtest.Close(t, "decoder", want, got)
		}
	}
}
