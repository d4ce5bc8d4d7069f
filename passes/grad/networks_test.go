package grad_test

import (
	"fmt"
	"math"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/oracle"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes/grad"
)

// judgedNetwork is a network whose gradients are held to PyTorch's.
type judgedNetwork struct {
	name    string
	dims    map[string]int
	new     func() any
	inputs  []models.InputSpec // nil: those of the name
	nightly bool
}

func (n judgedNetwork) model() *models.Model {
	m := models.Lookup(n.name)
	out := *m
	if n.new != nil {
		out.New = n.new
	}
	if n.inputs != nil {
		out.Inputs = n.inputs
	}
	out.Dims = n.dims
	return &out
}

// layers are the big transformers with less layers and their own sizes, or with small ones.
func bertOf(layers, width int) func() any {
	c := models.BertBase
	c.NumLayers = layers
	if width > 0 {
		c.HiddenSize, c.IntermediateSize, c.NumHeads, c.VocabSize, c.MaxPositions = width, 3*width, 4, 97, 32
	}
	return func() any { return models.NewBert(c) }
}

func gptOf(layers, width int) func() any {
	c := models.GPT2Small
	c.NumLayers = layers
	if width > 0 {
		c.Width, c.NumHeads, c.VocabSize, c.MaxPositions = width, 4, 97, 32
	}
	return func() any { return models.NewGPT2(c) }
}

func tokens(high int, mask bool) []models.InputSpec {
	list := []models.InputSpec{{Name: "input_ids", Type: "i64[N,S]", Rule: models.Integers{High: high}}}
	if mask {
		list = append(list, models.InputSpec{Name: "attention_mask", Type: "i64[N,S]", Rule: models.Below{P: 0.8}})
	}
	return list
}

func image(size string) []models.InputSpec {
	return []models.InputSpec{{Name: "x", Type: "f32[N,3," + size + "," + size + "]", Rule: models.Uniform{}}}
}

// sequence has a known length: the steps are written out.
func sequence(steps string) []models.InputSpec {
	return []models.InputSpec{{Name: "x", Type: "f32[" + steps + ",N,256]", Rule: models.Uniform{}}}
}

var judgedNetworks = []judgedNetwork{
	{name: "mlp", dims: map[string]int{"N": 3}},
	{name: "resnet18", dims: map[string]int{"N": 3}, inputs: image("64")},
	{name: "bert_base", dims: map[string]int{"N": 2, "S": 7}, new: bertOf(1, 32), inputs: tokens(97, true)},
	{name: "gpt2", dims: map[string]int{"N": 2, "S": 7}, new: gptOf(1, 32), inputs: tokens(97, false)},
	{name: "lstm_10x256", dims: map[string]int{"N": 2}, new: func() any { return models.NewLSTM(256, 2) }, inputs: sequence("5")},
	{name: "unet", dims: map[string]int{"N": 1, "H": 32, "W": 32}},
	{name: "mobilenet_v3_large", dims: map[string]int{"N": 4}, inputs: image("96"), nightly: true},
	{name: "bert_base", dims: map[string]int{"N": 2, "S": 12}, new: bertOf(2, 0), nightly: true},
	{name: "gpt2", dims: map[string]int{"N": 2, "S": 12}, new: gptOf(2, 0), nightly: true},
	{name: "lstm_10x256", dims: map[string]int{"N": 2}, inputs: sequence("16"), nightly: true},
}

// TestNetworksAsTorch holds the gradients of networks in training by all their parameters to
// those of PyTorch's autograd, which computes the captured calls: in the interpreter and in
// a plan. The large ones are for GOFX_NIGHTLY=1.
func TestNetworksAsTorch(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: networks take seconds")
	}
	if err := oracle.Available(); err != nil {
		t.Skip(err)
	}
	for _, n := range judgedNetworks {
		name := n.name
		if n.nightly {
			name += " at its size"
		}
		t.Run(name, func(t *testing.T) {
			if n.nightly && os.Getenv("GOFX_NIGHTLY") == "" {
				t.Skip("it takes many seconds: GOFX_NIGHTLY=1")
			}
			entry := n.model()
			m, in := trainingGraph(t, entry)
			g, err := grad.ValueAndGrad(ctx, m, grad.Options{AllowUnused: true})
			require.NoError(t, err)
			paths := trained(m)
			want, grads := torchGradients(t, m, in, entry.Dims, paths)
			interpreted, err := fx.NewGraphModule(graph.Clone(g)).RunArrays(ctx, in)
			require.NoError(t, err)
			compareGradients(t, "interpreter", paths, interpreted, want, grads)
			exe, err := cpu.Compile(graph.Clone(g), lowering.Options{})
			require.NoError(t, err)
			planned, err := exe.Run(ctx, in)
			require.NoError(t, err)
			compareGradients(t, "plan", paths, planned, want, grads)
		})
	}
}

// trainingGraph captures a network in training; its result is a number, the mean of the
// sines of its results, which no symmetry makes zero.
func trainingGraph(t *testing.T, entry *models.Model) (*graph.Module, []*array.Array) {
	net := entry.New()
	models.Synthetic(entry, net, "gofx-1")
	nn.Train(net)
	var opts []fx.Option
	for _, in := range entry.Inputs {
		opts = append(opts, fx.Input(in.Name, in.Type))
	}
	gm, err := fx.Trace(ctx, net, opts...)
	require.NoError(t, err)
	x, err := entry.SyntheticInputs("gofx-1")
	require.NoError(t, err)
	in := make([]*array.Array, len(x))
	for i := range x {
		in[i] = x[i].Array()
	}
	g := gm.Module.Graph
	out := g.Output()
	c := g.Before(out)
	var loss *graph.Node
	for _, y := range out.Args() {
		term := c.Function(std.Mean, std.ReduceAttrs{}, c.Function(std.Sin, op.None{}, y))
		if loss != nil {
			term = c.Function(std.Add, std.AddAttrs{}, loss, term)
		}
		loss = term
	}
	require.NoError(t, g.Erase(out))
	g.At().Output(nil, loss)
	return gm.Module, in
}

// trained are the paths of the parameters, in the order of the gradients.
func trained(m *graph.Module) (paths []string) {
	for _, p := range m.Params() {
		if !p.Buffer && p.TypeOf().DType().IsFloat() {
			paths = append(paths, p.Path)
		}
	}
	return paths
}

// torchGradients are the loss and the gradients of PyTorch.
func torchGradients(t *testing.T, m *graph.Module, in []*array.Array, dims map[string]int, paths []string) (loss *array.Array, grads []*array.Array) {
	ready, err := lowering.Prepare(graph.Clone(m), lowering.Options{Shapes: dims})
	require.NoError(t, err)
	read := map[string]bool{}
	for n := range ready.Graph.All() {
		if n.Opcode() == graph.GetAttr {
			read[n.Target()] = true
		}
	}
	var asked []string
	for _, p := range paths {
		if read[p] {
			asked = append(asked, p)
		}
	}
	out, some, err := oracle.AskNetworkGradient(ctx, t.TempDir(), ready, in, asked)
	require.NoError(t, err)
	require.Len(t, some, len(asked))
	for _, p := range paths {
		if !read[p] {
			grads = append(grads, array.New(array.F32, m.Param(p).Value.Shape()...))
			continue
		}
		grads, some = append(grads, some[0]), some[1:]
	}
	return out[0], grads
}

// compareGradients compares each gradient by its norm. What is zero but for rounding, such
// as the gradient of a bias before a normalisation, is held to the norm of all.
func compareGradients(t *testing.T, engine string, paths []string, got []*array.Array, loss *array.Array, want []*array.Array) {
	require.InDelta(t, array.Float64At(loss, 0), array.Float64At(got[0], 0), 1e-5)
	got = got[1:]
	require.Len(t, got, len(want))
	total := 0.0
	for i := range want {
		n := norm(want[i], nil)
		total += n * n
	}
	worst, which, elements := 0.0, "", 0
	for i := range want {
		require.Equal(t, want[i].Shape(), got[i].Shape(), paths[i])
		size := max(norm(want[i], nil), 1e-3*math.Sqrt(total/float64(len(want))))
		if far := norm(want[i], got[i]) / size; !(far <= worst) {
			worst, which = far, paths[i]
		}
		elements += want[i].Len()
	}
	t.Logf("%s: %d parameters of %d elements; of its norm the gradient of %s is farthest, by %.1e", engine, len(want), elements, which, worst)
	require.LessOrEqual(t, worst, 1e-4, fmt.Sprintf("%s: %s", engine, which))
}

// norm is the root of the sum of squares of a, less b where that is given.
func norm(a, b *array.Array) float64 {
	sum := 0.0
	for k := range a.Len() {
		v := array.Float64At(a, k)
		if b != nil {
			v -= array.Float64At(b, k)
		}
		sum += v * v
	}
	return math.Sqrt(sum)
}
