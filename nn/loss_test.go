package nn_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/internal/testkit/oracle"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

// lossCase is a loss of x, y and z, and PyTorch's. x is [2,3,4] where there are classes, else [6].
type lossCase struct {
	name  string
	loss  func(in ...*tensor.Tensor) *tensor.Tensor
	torch string
	in    []*array.Array
	wrt   int // by how many of the inputs it is differentiated
}

func f64s(shape []int, v ...float64) *array.Array { return array.FromSlice(v, shape...) }

// wave has numbers that are far from 0 and from each other.
func wave(n int, phase, scale float64) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = scale * math.Sin(float64(i)*1.7+phase)
	}
	return v
}

func probabilities(n int) []float64 {
	v := wave(n, 0.3, 0.45)
	for i := range v {
		v[i] += 0.5
	}
	return v
}

// lossCases are all losses with their options.
func lossCases() []lossCase {
	logits := f64s([]int{2, 3, 4}, wave(24, 1, 3)...)
	labels := array.FromSlice([]int64{0, 2, 1, -100, 1, 1, -100, 2}, 2, 4)
	weights := tensor.FromSlice([]float64{0.2, 1.5, 0.7}, 3)
	soft := f64s([]int{2, 3, 4}, probabilities(24)...)
	x, y, p := f64s([]int{6}, wave(6, 0, 2)...), f64s([]int{6}, wave(6, 4, 2)...), f64s([]int{6}, probabilities(6)...)
	bits := f64s([]int{6}, 0, 1, 1, 0, 1, 0.25)
	scale := tensor.FromSlice([]float64{1, 2, 0.5, 3, 1, 0.1}, 6)
	a, b, c := f64s([]int{2, 3}, wave(6, 0, 2)...), f64s([]int{2, 3}, wave(6, 0.4, 2)...), f64s([]int{2, 3}, wave(6, 0.9, 2)...)
	edge := f64s([]int{4}, 1, -1, 2, 0)
	zero := f64s([]int{4}, 0, 0, 0, 0)
	var list []lossCase
	for r, name := range map[nn.Reduction]string{nn.Mean: "mean", nn.Sum: "sum", nn.None: "none"} {
		add := func(torch string, wrt int, loss func(in ...*tensor.Tensor) *tensor.Tensor, in ...*array.Array) {
			list = append(list, lossCase{name: torch + " " + name, loss: loss, torch: "torch.nn." + torch + "reduction='" + name + "')", in: in, wrt: wrt})
		}
		entropy := func(w *tensor.Tensor, smoothing float64) func(in ...*tensor.Tensor) *tensor.Tensor {
			return func(in ...*tensor.Tensor) *tensor.Tensor {
				m := nn.NewCrossEntropyLoss()
				m.Weight, m.LabelSmoothing, m.Reduction = w, smoothing, r
				return m.Forward(in[0], in[1])
			}
		}
		w := "weight=torch.tensor([0.2,1.5,0.7],dtype=torch.float64),"
		add("CrossEntropyLoss(", 1, entropy(nil, 0), logits, labels)
		add("CrossEntropyLoss("+w, 1, entropy(weights, 0), logits, labels)
		add("CrossEntropyLoss(label_smoothing=0.1,", 1, entropy(nil, 0.1), logits, labels)
		add("CrossEntropyLoss(label_smoothing=0.1,"+w, 1, entropy(weights, 0.1), logits, labels)
		add("CrossEntropyLoss(label_smoothing=0.2,"+w, 2, entropy(weights, 0.2), logits, soft)
		add("CrossEntropyLoss(", 2, entropy(nil, 0), logits, soft)
		add("NLLLoss("+w, 1, func(in ...*tensor.Tensor) *tensor.Tensor {
			return (&nn.NLLLoss{Weight: weights, IgnoreIndex: 1, Reduction: r}).Forward(in[0], in[1])
		}, logits, array.FromSlice([]int64{0, 2, 1, 1, 1, 1, 0, 2}, 2, 4))
		list[len(list)-1].torch = "torch.nn.NLLLoss(" + w + "ignore_index=1,reduction='" + name + "')"
		elementwise := "weight=torch.tensor([1,2,0.5,3,1,0.1],dtype=torch.float64),"
		add("BCELoss("+elementwise, 1, func(in ...*tensor.Tensor) *tensor.Tensor {
			return (&nn.BCELoss{Weight: scale, Reduction: r}).Forward(in[0], in[1])
		}, p, bits)
		add("BCEWithLogitsLoss("+elementwise+"pos_weight=torch.tensor([1,2,0.5,3,1,0.1],dtype=torch.float64),", 2, func(in ...*tensor.Tensor) *tensor.Tensor {
			return (&nn.BCEWithLogitsLoss{Weight: scale, PosWeight: scale, Reduction: r}).Forward(in[0], in[1])
		}, x, bits)
		add("BCEWithLogitsLoss(", 2, func(in ...*tensor.Tensor) *tensor.Tensor {
			return (&nn.BCEWithLogitsLoss{Reduction: r}).Forward(in[0], in[1])
		}, f64s([]int{4}, 0, 1000, -1000, 30), f64s([]int{4}, 1, 0, 1, 0.5))
		add("MSELoss(", 2, func(in ...*tensor.Tensor) *tensor.Tensor { return (&nn.MSELoss{Reduction: r}).Forward(in[0], in[1]) }, x, y)
		add("L1Loss(", 2, func(in ...*tensor.Tensor) *tensor.Tensor { return (&nn.L1Loss{Reduction: r}).Forward(in[0], in[1]) }, edge, zero)
		add("HuberLoss(delta=1.0,", 2, func(in ...*tensor.Tensor) *tensor.Tensor {
			return (&nn.HuberLoss{Delta: 1, Reduction: r}).Forward(in[0], in[1])
		}, edge, zero)
		add("HuberLoss(delta=0.7,", 2, func(in ...*tensor.Tensor) *tensor.Tensor {
			return (&nn.HuberLoss{Delta: 0.7, Reduction: r}).Forward(in[0], in[1])
		}, x, y)
		add("SmoothL1Loss(beta=2.0,", 2, func(in ...*tensor.Tensor) *tensor.Tensor {
			return (&nn.SmoothL1Loss{Beta: 2, Reduction: r}).Forward(in[0], in[1])
		}, edge, zero)
		add("SmoothL1Loss(beta=0.0,", 2, func(in ...*tensor.Tensor) *tensor.Tensor {
			return (&nn.SmoothL1Loss{Reduction: r}).Forward(in[0], in[1])
		}, x, y)
		add("KLDivLoss(", 1, func(in ...*tensor.Tensor) *tensor.Tensor { return (&nn.KLDivLoss{Reduction: r}).Forward(in[0], in[1]) }, x, bits)
		add("KLDivLoss(log_target=True,", 2, func(in ...*tensor.Tensor) *tensor.Tensor {
			return (&nn.KLDivLoss{LogTarget: true, Reduction: r}).Forward(in[0], in[1])
		}, x, y)
		for _, swap := range []bool{false, true} {
			add("TripletMarginLoss(swap="+map[bool]string{false: "False", true: "True"}[swap]+",", 3, func(in ...*tensor.Tensor) *tensor.Tensor {
				m := nn.NewTripletMarginLoss()
				m.Swap, m.Reduction = swap, r
				return m.Forward(in[0], in[1], in[2])
			}, a, b, c)
		}
	}
	list = append(list, lossCase{name: "batchmean", torch: "torch.nn.KLDivLoss(reduction='batchmean')", in: []*array.Array{a, f64s([]int{2, 3}, probabilities(6)...)}, wrt: 1,
		loss: func(in ...*tensor.Tensor) *tensor.Tensor {
			return (&nn.KLDivLoss{Reduction: nn.BatchMean}).Forward(in[0], in[1])
		}})
	return append(list, ctcCases()...)
}

// ctcCases have labels that repeat, fill their steps, are few, and are none.
func ctcCases() (list []lossCase) {
	x := f64s([]int{6, 4, 5}, wave(120, 2, 2)...)
	labels := array.FromSlice([]int64{1, 1, 4, 2, 2, 0, 3, 4, 4, 4, 4, 4}, 4, 3)
	steps, counts := array.FromSlice([]int64{6, 4, 6, 5}, 4), array.FromSlice([]int64{3, 2, 0, 1}, 4)
	tight := array.FromSlice([]int64{6, 2, 6, 5}, 4) // too few for the second row, whose labels repeat
	for r, name := range map[nn.Reduction]string{nn.Mean: "mean", nn.Sum: "sum", nn.None: "none"} {
		for _, c := range []struct {
			blank int
			steps *array.Array
			zero  bool
		}{{0, steps, false}, {3, steps, false}, {0, tight, true}} {
			zero := map[bool]string{false: "False", true: "True"}[c.zero]
			list = append(list, lossCase{name: fmt.Sprint("CTCLoss ", name, " ", c.blank, " ", zero), in: []*array.Array{x, labels, c.steps, counts}, wrt: 1,
				torch: fmt.Sprintf("lambda x, y, z, w: torch.nn.CTCLoss(blank=%d,zero_infinity=%s,reduction='%s')(x.log_softmax(2), y, z, w)", c.blank, zero, name),
				loss: func(in ...*tensor.Tensor) *tensor.Tensor {
					return (&nn.CTCLoss{Blank: c.blank, ZeroInfinity: c.zero, Reduction: r}).Forward(in[0].LogSoftmax(2), in[1], in[2], in[3])
				}})
		}
	}
	return list
}

const lossScript = `
import json, sys, torch
out = []
for c in json.load(sys.stdin):
    ins = []
    for v in c["In"]:
        t = torch.tensor(v["Data"], dtype=getattr(torch, v["Type"])).reshape(v["Shape"])
        ins.append(t)
    for t in ins[:c["Wrt"]]:
        t.requires_grad_(True)
    y = eval(c["Torch"])(*ins)
    # Elements have other seeds where there are several.
    seed = torch.arange(1, y.numel() + 1, dtype=torch.float64).reshape(y.shape)
    (y * seed).sum().backward()
    out.append([y.detach().flatten().tolist()] + [t.grad.flatten().tolist() for t in ins[:c["Wrt"]]])
print(json.dumps(out))
`

type scriptArray struct {
	Data  []float64
	Type  string
	Shape []int
}

type scriptCase struct {
	Torch string
	In    []scriptArray
	Wrt   int
}

// TestLosses_asPyTorch compares values and gradients of all losses.
func TestLosses_asPyTorch(t *testing.T) {
	if err := oracle.Available(); err != nil {
		t.Skip(err)
	}
	cases := lossCases()
	var ask []scriptCase
	for _, c := range cases {
		s := scriptCase{Torch: c.torch, Wrt: c.wrt}
		for _, a := range c.in {
			v := scriptArray{Type: "float64", Shape: a.Shape()}
			if a.DType() == array.I64 {
				v.Type = "int64"
			}
			for i := range a.Len() {
				v.Data = append(v.Data, array.Float64At(a, i))
			}
			s.In = append(s.In, v)
		}
		ask = append(ask, s)
	}
	var want [][][]float64
	require.NoError(t, oracle.Script(context.Background(), lossScript, ask, &want))
	for i, c := range cases {
		t.Run(c.name, func(t *testing.T) { c.compare(t, want[i]) })
	}
}

// compare compares the loss, eager, and its gradients, of elements times 1, 2 and so on.
func (c lossCase) compare(t *testing.T, want [][]float64) {
	var in []*tensor.Tensor
	opts := []fx.Option{}
	names := []string{"x", "y", "z", "w"}
	for i, a := range c.in {
		in = append(in, tensor.New(a))
		opts = append(opts, fx.Input(names[i], array.Describe(a.DType(), a.Shape())))
	}
	y := c.loss(in...)
	require.InDeltaSlice(t, want[0], values(y), 1e-9)
	seeded := func(in ...*tensor.Tensor) *tensor.Tensor {
		y := c.loss(in...)
		return y.Reshape(-1).Mul(tensor.Arange(y.Reshape(-1).Size(0)).Cast(array.F64).AddScalar(1)).Sum()
	}
	var fn any = func(x, y *tensor.Tensor) *tensor.Tensor { return seeded(x, y) }
	if len(c.in) == 3 {
		fn = func(x, y, z *tensor.Tensor) *tensor.Tensor { return seeded(x, y, z) }
	}
	if len(c.in) == 4 {
		fn = func(x, y, z, w *tensor.Tensor) *tensor.Tensor { return seeded(x, y, z, w) }
	}
	gm, err := fx.Trace(context.Background(), fn, opts...)
	require.NoError(t, err)
	g, err := gm.Gradient(context.Background(), fx.GradOptions{Wrt: names[:c.wrt]})
	require.NoError(t, err)
	grads, err := g.RunArrays(context.Background(), c.in)
	require.NoError(t, err)
	for i, a := range grads {
		require.InDeltaSlice(t, want[1+i], values(tensor.New(a)), 1e-9, "gradient by %s", names[i])
	}
}

// Values of traps.md, and what PyTorch's definition leaves open.
func TestCrossEntropy_values(t *testing.T) {
	logits := tensor.FromSlice([]float32{2, 0, -1, 0, 1, 0, 1, 1, 1}, 3, 3)
	labels := tensor.FromSlice([]int64{0, -100, 2}, 3)
	m := nn.NewCrossEntropyLoss()
	require.InDelta(t, 0.6342292, m.Forward(logits, labels).Item(), 1e-6)
	m.LabelSmoothing = 0.1
	require.InDelta(t, 0.7175625, m.Forward(logits, labels).Item(), 1e-6)
	none := tensor.FromSlice([]int64{-100, -100, -100}, 3)
	require.True(t, math.IsNaN(m.Forward(logits, none).Item()))
	m.Reduction = nn.Sum
	require.Zero(t, m.Forward(logits, none).Item())
	for _, wrong := range []int64{3, -1, math.MaxInt64, math.MinInt64} {
		require.Contains(t, refused(t, func() { m.Forward(logits, tensor.FromSlice([]int64{0, wrong, 2}, 3)) }).Error(), "index")
	}
	one := tensor.FromSlice([]float32{2, 0, -1}, 3)
	require.InDelta(t, -math.Log(math.Exp(2)/(math.Exp(2)+1+math.Exp(-1))), nn.NewCrossEntropyLoss().Forward(one, tensor.Scalar[int64](0)).Item(), 1e-6)
}

// A loss of an infinite logit that is ignored is 0, and where PyTorch cuts logarithms it is 100.
func TestLosses_edges(t *testing.T) {
	inf := math.Inf(-1)
	m := nn.NewCrossEntropyLoss()
	require.InDelta(t, math.Log(2), m.Forward(tensor.FromSlice([]float64{0, 0, inf, 0, 0, inf}, 2, 3), tensor.FromSlice([]int64{1, -100}, 2)).Item(), 1e-12)
	bce := &nn.BCELoss{Reduction: nn.None}
	require.Equal(t, []float64{0, 100, 0, 100}, values(bce.Forward(tensor.FromSlice([]float64{0, 0, 1, 1}, 4), tensor.FromSlice([]float64{0, 1, 1, 0}, 4))))
	gm, err := fx.Trace(context.Background(), func(p *tensor.Tensor) *tensor.Tensor {
		return (&nn.BCELoss{}).Forward(p, tensor.FromSlice([]float64{0, 1, 1, 0}, 4))
	}, fx.Input("p", "f64[4]"))
	require.NoError(t, err)
	g, err := gm.Gradient(context.Background(), fx.GradOptions{Wrt: []string{"p"}})
	require.NoError(t, err)
	out, err := g.RunArrays(context.Background(), []*array.Array{f64s([]int{4}, 0, 0, 1, 1)})
	require.NoError(t, err)
	for i, v := range array.Data[float64](out[0]) {
		require.False(t, math.IsNaN(v) || math.IsInf(v, 0), "element %d is %v", i, v)
	}
	for _, wrong := range []func(){
		func() { (&nn.HuberLoss{}).Forward(tensor.Zeros(2), tensor.Zeros(2)) },
		func() { (&nn.SmoothL1Loss{Beta: -1}).Forward(tensor.Zeros(2), tensor.Zeros(2)) },
		func() { (&nn.MSELoss{Reduction: 9}).Forward(tensor.Zeros(2), tensor.Zeros(2)) },
	} {
		require.ErrorContains(t, refused(t, wrong), "PyTorch's default is 1|nn.Mean"[:0])
	}
}
