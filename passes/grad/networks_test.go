package grad_test

import (
	"math"
	"os"
	"reflect"
	"strings"
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
	"github.com/gofx-dev/gofx/tensor"
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

// bertOf and gptOf are the transformers with fewer layers, at their own width or a small one.
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

// seededMobileNet drops by a key that PyTorch's side takes, too.
func seededMobileNet() any {
	m := models.NewMobileNetV3Large()
	m.Classifier.Modules[2] = nn.NewDropout(0.2, nn.DropoutSeed(5))
	return m
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
	{name: "mobilenet_v3_large", dims: map[string]int{"N": 4}, new: seededMobileNet, inputs: image("96"), nightly: true},
	{name: "bert_base", dims: map[string]int{"N": 2, "S": 12}, new: bertOf(2, 0), nightly: true},
	{name: "gpt2", dims: map[string]int{"N": 2, "S": 12}, new: gptOf(2, 0), nightly: true},
	{name: "lstm_10x256", dims: map[string]int{"N": 2}, inputs: sequence("16"), nightly: true},
}

// TestNetworksAsTorch holds the gradients of networks in training by all their parameters to
// those of PyTorch's autograd, which computes the captured calls: of code that runs at once, in
// the interpreter and in a plan. The large ones are for GOFX_NIGHTLY=1.
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
			said := torchGradients(t, m, in, entry.Dims, paths)
			said.compare(t, "eager", atOnce(t, entry, in, paths))
			interpreted, err := fx.NewGraphModule(graph.Clone(g)).RunArrays(ctx, in)
			require.NoError(t, err)
			said.compare(t, "interpreter", interpreted)
			exe, err := cpu.Compile(graph.Clone(g), lowering.Options{})
			require.NoError(t, err)
			planned, err := exe.Run(ctx, in)
			require.NoError(t, err)
			said.compare(t, "plan", planned)
		})
	}
}

// inTraining returns a network with its weights, in training mode.
func inTraining(entry *models.Model) any {
	net := entry.New()
	models.Synthetic(entry, net, "gofx-1")
	nn.Train(net)
	return net
}

// atOnce runs the Go code of a network, and returns the loss of trainingGraph and its gradients.
func atOnce(t *testing.T, entry *models.Model, in []*array.Array, paths []string) []*array.Array {
	net := inTraining(entry)
	forward := reflect.ValueOf(net).MethodByName("Forward")
	var args []reflect.Value
	for _, a := range in {
		args = append(args, reflect.ValueOf(tensor.New(a)))
	}
	at := map[string]*tensor.Tensor{}
	tensor.Walk(net, func(it tensor.Item) bool {
		if it.Tensor != nil {
			at[strings.TrimPrefix(it.Path, ".")] = it.Tensor
		}
		return it.Module != nil
	})
	var by []*tensor.Tensor
	for _, path := range paths {
		require.Contains(t, at, path)
		by = append(by, at[path])
	}
	loss, grads, err := fx.ValueAndGradWith(ctx, func() *tensor.Tensor {
		var loss *tensor.Tensor
		for _, y := range forward.Call(args) {
			term := y.Interface().(*tensor.Tensor).Sin().Mean()
			if loss != nil {
				term = loss.Add(term)
			}
			loss = term
		}
		return loss
	}, by, tensor.GradOptions{AllowUnused: true})
	require.NoError(t, err)
	out := []*array.Array{loss.Array()}
	for _, g := range grads {
		out = append(out, g.Array())
	}
	return out
}

// trainingGraph captures a network in training; its result is a number, the mean of the
// sines of its results, which no symmetry makes zero.
func trainingGraph(t *testing.T, entry *models.Model) (*graph.Module, []*array.Array) {
	net := inTraining(entry)
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

// networkGradients are PyTorch's loss and gradients, these in f64, too.
type networkGradients struct {
	paths        []string
	loss         *array.Array
	grads, exact []*array.Array
}

// torchGradients asks PyTorch.
func torchGradients(t *testing.T, m *graph.Module, in []*array.Array, dims map[string]int, paths []string) networkGradients {
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
	out, some, exact, err := oracle.AskNetworkGradient(ctx, t.TempDir(), ready, in, asked)
	require.NoError(t, err)
	require.Len(t, some, len(asked))
	said := networkGradients{paths: paths, loss: out[0]}
	for _, p := range paths {
		if !read[p] {
			zeros := array.New(array.F32, m.Param(p).Value.Shape()...)
			said.grads, said.exact = append(said.grads, zeros), append(said.exact, zeros)
			continue
		}
		said.grads, said.exact = append(said.grads, some[0]), append(said.exact, exact[0])
		some, exact = some[1:], exact[1:]
	}
	return said
}

// compare compares each gradient by its norm. What is zero except for rounding, such as the
// gradient of a bias before a normalisation, is held to the norm of all. Where PyTorch's own
// rounding is more than that, ours may be twice as far from what it has in f64.
func (s networkGradients) compare(t *testing.T, engine string, got []*array.Array) {
	require.InDelta(t, array.Float64At(s.loss, 0), array.Float64At(got[0], 0), 1e-5)
	got = got[1:]
	require.Len(t, got, len(s.grads))
	total := 0.0
	for i := range s.grads {
		n := norm(s.grads[i], nil)
		total += n * n
	}
	worst, rounding, which, elements := 0.0, 0.0, "", 0
	for i, want := range s.grads {
		require.Equal(t, want.Shape(), got[i].Shape(), s.paths[i])
		size := max(norm(want, nil), 1e-3*math.Sqrt(total/float64(len(s.grads))))
		far, own := norm(want, got[i])/size, norm(want, s.exact[i])/size
		if !(far <= worst) {
			worst, which = far, s.paths[i]
		}
		rounding = max(rounding, own)
		elements += want.Len()
		if !(far <= 1e-4) {
			require.LessOrEqual(t, norm(s.exact[i], got[i])/size, max(1e-4, 2*own), "%s: %s", engine, s.paths[i])
		}
	}
	t.Logf("%s: %d parameters of %d elements; of its norm the gradient of %s is farthest, by %.1e; PyTorch's are up to %.1e from those in f64", engine, len(s.grads), elements, which, worst, rounding)
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
