package grad_test

import (
	"bytes"
	"encoding/json"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"reflect"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/internal/testkit/pyenv"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
)

// smallNetwork is a loss by formula; testdata/networks.py has the same one for JAX.
type smallNetwork struct {
	name string
	args [][]int // sizes of the arguments; ints come first where there are some
	ints int     // values of the arguments that are integers are less than that
	loss func(x []*tensor.Tensor) *tensor.Tensor
}

var smallNetworks = []smallNetwork{
	{name: "regression", args: [][]int{{5, 3}, {5, 2}, {2, 3}, {2}}, loss: func(x []*tensor.Tensor) *tensor.Tensor {
		return x[0].Linear(x[2], x[3]).Sub(x[1]).Square().Mean()
	}},
	{name: "classifier", args: [][]int{{4, 3}, {-4}, {6, 3}, {6}, {5, 6}, {5}}, ints: 5, loss: func(x []*tensor.Tensor) *tensor.Tensor {
		logits := x[0].Linear(x[2], x[3]).Tanh().Linear(x[4], x[5])
		return logits.LogSoftmax(-1).Gather(x[1].Unsqueeze(1), 1).Mean().Neg()
	}},
	{name: "normed", args: [][]int{{4, 3}, {6, 3}, {6}, {6}, {6}, {2, 6}}, loss: func(x []*tensor.Tensor) *tensor.Tensor {
		h := x[0].Linear(x[1], x[2]).Gelu().LayerNorm(x[3], x[4], []int{6}, 1e-5)
		return h.Linear(x[5], nil).Sin().Sum()
	}},
	{name: "convolved", args: [][]int{{2, 3, 6, 6}, {4, 3, 3, 3}, {4}, {5, 36}}, loss: func(x []*tensor.Tensor) *tensor.Tensor {
		h := x[0].Conv2d(x[1], x[2], tensor.ConvAttrs{Padding: tensor.Ints(1)}).Relu().MaxPool2d(2)
		return h.Reshape(2, -1).Linear(x[3], nil).Sin().Mean()
	}},
	{name: "attention", args: [][]int{{2, 5, 4}, {4, 4}, {4, 4}, {4, 4}}, loss: func(x []*tensor.Tensor) *tensor.Tensor {
		y := tensor.ScaledDotProductAttention(x[0].Linear(x[1], nil), x[0].Linear(x[2], nil), x[0].Linear(x[3], nil), nil, tensor.AttentionAttrs{IsCausal: true})
		return y.Sin().Sum()
	}},
	{name: "recurrent", args: [][]int{{5, 2, 3}, {4, 3}, {4, 4}, {4}}, loss: func(x []*tensor.Tensor) *tensor.Tensor {
		var h *tensor.Tensor
		for t := range 5 {
			next := x[0].Select(0, t).Linear(x[1], x[3])
			if h != nil {
				next = next.Add(h.Linear(x[2], nil))
			}
			h = next.Tanh()
		}
		return h.Sin().Mean()
	}},
	{name: "memory", args: [][]int{{4, 2, 3}, {16, 3}, {16, 4}, {16}, {16}}, loss: func(x []*tensor.Tensor) *tensor.Tensor {
		h := x[0].Select(0, 0).Matmul(x[1].Select(0, 0).Slice(0, 0, 3).Unsqueeze(1)).MulScalar(0).Expand(2, 4)
		c := h
		for t := range 4 {
			h, c = x[0].Select(0, t).LstmCell(h, c, x[1], x[2], x[3], x[4])
		}
		return h.Sin().Sum().Add(c.Square().Sum())
	}},
	{name: "batched", args: [][]int{{3, 2, 7, 7}, {4, 2, 3, 3}, {4}, {4}}, loss: func(x []*tensor.Tensor) *tensor.Tensor {
		h := x[0].Conv2d(x[1], nil, tensor.ConvAttrs{Stride: tensor.Ints(2)})
		h = h.BatchNorm(nil, nil, x[2], x[3], 1e-5, tensor.BatchNormAttrs{Training: true}).Silu()
		return h.Mean(2, 3).Sin().Sum()
	}},
	{name: "words", args: [][]int{{-3, -4}, {7, 5}, {6, 5}}, ints: 7, loss: func(x []*tensor.Tensor) *tensor.Tensor {
		h := x[0].Embedding(x[1]).Mean(1)
		return h.Linear(x[2], nil).Logsumexp(-1).Sum().Add(h.Softplus(1, 20).Mean())
	}},
	{name: "gated", args: [][]int{{3, 4}, {4}, {6, 4}, {6, 4}, {4, 6}}, loss: func(x []*tensor.Tensor) *tensor.Tensor {
		h := x[0].RmsNorm(x[1], []int{4}, 1e-6)
		h = h.Linear(x[2], nil).Silu().Mul(h.Linear(x[3], nil)).Linear(x[4], nil)
		return x[0].Add(h).Sin().Sum()
	}},
}

// values are the arguments; sizes of integers are negative.
func (n smallNetwork) values(r *rand.Rand) (in []*array.Array) {
	for _, dims := range n.args {
		if dims[0] > 0 {
			in = append(in, random(r, dims...))
			continue
		}
		size := make([]int, len(dims))
		for i, d := range dims {
			size[i] = -d
		}
		a := array.New(array.I64, size...)
		for k := range a.Len() {
			array.SetInt64At(a, k, int64(r.IntN(n.ints)))
		}
		in = append(in, a)
	}
	return in
}

// capture traces the network, whose arguments are called x0, x1 and so on.
func (n smallNetwork) capture(t *testing.T, in []*array.Array) *fx.GraphModule {
	handle := reflect.TypeFor[*tensor.Tensor]()
	types, opts := make([]reflect.Type, len(in)), make([]fx.Option, len(in))
	for i, a := range in {
		types[i], opts[i] = handle, fx.Input("x"+strconv.Itoa(i), shape.TypeOf(a).String())
	}
	f := reflect.MakeFunc(reflect.FuncOf(types, []reflect.Type{handle}, false), func(args []reflect.Value) []reflect.Value {
		x := make([]*tensor.Tensor, len(args))
		for i, a := range args {
			x[i] = a.Interface().(*tensor.Tensor)
		}
		return []reflect.Value{reflect.ValueOf(n.loss(x))}
	})
	gm, err := fx.Trace(ctx, f.Interface(), opts...)
	require.NoError(t, err)
	return gm
}

// networkArgument is an argument as testdata/networks.py and package internal/testkit/gomlx read it, and
// networkAnswer what they say.
type networkArgument struct {
	Dims   []int     `json:"dims"`
	Values []float64 `json:"values"`
	Ints   bool      `json:"ints"`
}

type networkAnswer struct {
	Loss  float64     `json:"loss"`
	Grads [][]float64 `json:"grads"`
}

// askNetworks returns the arguments of the small networks, and a line for each that asks for its gradients.
func askNetworks(t *testing.T) (inputs [][]*array.Array, ask *bytes.Buffer) {
	ask = &bytes.Buffer{}
	inputs = make([][]*array.Array, len(smallNetworks))
	for i, n := range smallNetworks {
		inputs[i] = n.values(rand.New(rand.NewPCG(17, uint64(i))))
		var args []networkArgument
		for _, a := range inputs[i] {
			arg := networkArgument{Dims: a.Shape(), Ints: !a.DType().IsFloat()}
			for k := range a.Len() {
				arg.Values = append(arg.Values, array.Float64At(a, k))
			}
			args = append(args, arg)
		}
		require.NoError(t, json.NewEncoder(ask).Encode(map[string]any{"name": n.name, "args": args}))
	}
	return inputs, ask
}

// TestNetworksAsJAX holds losses and gradients of ten small networks to jax.grad of the
// same formulas, in f64.
func TestNetworksAsJAX(t *testing.T) {
	python := pyenv.Need(t, "jax", "jaxlib", "numpy")
	cmd := exec.Command(python, "testdata/networks.py")
	cmd.Env = append(os.Environ(), "JAX_PLATFORMS=cpu")
	inputs, ask := askNetworks(t)
	cmd.Stdin = ask
	compareNetworks(t, inputs, bytes.NewReader(answersOf(t, cmd)))
}

// answersOf runs a command and returns what it writes.
func answersOf(t *testing.T, cmd *exec.Cmd) []byte {
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	said, err := cmd.Output()
	require.NoError(t, err, stderr.String())
	return said
}

// compareNetworks holds the small networks to an answer each.
func compareNetworks(t *testing.T, inputs [][]*array.Array, said io.Reader) {
	answers := json.NewDecoder(said)
	for i, n := range smallNetworks {
		var want networkAnswer
		require.NoError(t, answers.Decode(&want))
		t.Run(n.name, func(t *testing.T) { n.compare(t, inputs[i], want) })
	}
}

func (n smallNetwork) compare(t *testing.T, in []*array.Array, want networkAnswer) {
	var wrt []string
	for i, a := range in {
		if a.DType().IsFloat() {
			wrt = append(wrt, "x"+strconv.Itoa(i))
		}
	}
	g, err := n.capture(t, in).ValueAndGrad(ctx, fx.GradOptions{Wrt: wrt})
	require.NoError(t, err)
	out, err := g.RunArrays(ctx, in)
	require.NoError(t, err)
	require.InDelta(t, want.Loss, array.Float64At(out[0], 0), 1e-12)
	require.Len(t, out, 1+len(want.Grads))
	for i, w := range want.Grads {
		got := array.Contiguous(out[1+i])
		require.InDeltaSlice(t, w, array.Data[float64](got), 1e-10, wrt[i])
	}
}
