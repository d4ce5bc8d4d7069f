package train_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/codegen"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/repo"
	"github.com/gofx-dev/gofx/internal/testkit/workdir"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/optim"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/train"
)

// loop trains with a generated step; the state is the caller's.
const loop = `package main

import (
	"context"
	"encoding/json"
	"os"

	"github.com/gofx-dev/gofx/array"

	"example.com/trained/step"
)

func main() {
	var batches []struct {
		X []float32
		Y []int64
		S int
	}
	if err := json.NewDecoder(os.Stdin).Decode(&batches); err != nil {
		panic(err)
	}
	m, err := step.New()
	if err != nil {
		panic(err)
	}
	state, err := m.NewState()
	if err != nil {
		panic(err)
	}
	var losses []float32
	for _, b := range batches {
		n := len(b.Y)
		r, err := m.Forward(context.Background(), state, array.DenseOf(b.X, n, 1, b.S, b.S), array.DenseOf(b.Y, n))
		if err != nil {
			panic(err)
		}
		losses = append(losses, r.Value0.Data()[0])
	}
	if err := json.NewEncoder(os.Stdout).Encode(losses); err != nil {
		panic(err)
	}
}
`

type batchJSON struct {
	X []float32
	Y []int64
	S int
}

// TestStep_generated prints a step of mixed precision that computes values again as a package of Go, which
// trains with the same losses, bit for bit.
func TestStep_generated(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: the go command builds a program")
	}
	m := newConvNet()
	step, err := train.NewStepWith(ctx, m, m.loss, rule, train.StepOptions{Mixed: array.BF16, Recompute: &fx.RecomputePolicy{}}, specs...)
	require.NoError(t, err)
	var given [][]*array.Array
	b := batches(t)
	for i := range 12 {
		batch, err := b.Batch(i/4, i%4)
		require.NoError(t, err)
		given = append(given, batch)
	}
	requireGeneratedTrains(t, step, given)
}

// wideNet has a convolution that goes by Winograd's algorithm and steps with epilogues.
type wideNet struct {
	In, Mid, Out *nn.Conv2d
	Up, Down     *nn.Linear
	Fc           *nn.Linear
}

func newWideNet() *wideNet {
	return &wideNet{nn.NewConv2d(1, 32, 3, nn.Padding(1), nn.Seed(1)), nn.NewConv2d(32, 32, 3, nn.Padding(1), nn.Seed(2)),
		nn.NewConv2d(32, 32, 3, nn.Padding(1), nn.NoBias(), nn.Seed(3)), nn.NewLinear(32, 64, nn.Seed(4)), nn.NewLinear(64, 32, nn.Seed(5)), nn.NewLinear(32, 3, nn.Seed(6))}
}

func (m *wideNet) loss(x, y *tensor.Tensor) (*tensor.Tensor, train.Metrics) {
	x = m.In.Forward(x).Relu()
	x = m.Out.Forward(m.Mid.Forward(x).Relu()).Add(x).Mean(2, 3)
	x = m.Down.Forward(m.Up.Forward(x).Gelu()).Add(x)
	logits := m.Fc.Forward(x)
	return nn.NewCrossEntropyLoss().Forward(logits, y), train.Metrics{"accuracy": logits.Argmax(1).Eq(y).Cast(array.F32).Mean()}
}

// wideStep is a step of a wideNet, and batches for it.
func wideStep(t *testing.T) (*train.Step, [][]*array.Array) {
	t.Helper()
	m := newWideNet()
	step, err := train.NewStep(ctx, m, m.loss, optim.Rule{Optimiser: optim.AdamW{LR: 1e-3}}, fx.Input("x", "f32[N,1,14,14]"), fx.Input("y", "i64[N]"))
	require.NoError(t, err)
	var given [][]*array.Array
	for i := range 4 {
		x, y := array.New(array.F32, 3+i, 1, 14, 14), array.New(array.I64, 3+i)
		spread(x)
		for j := range array.Data[int64](y) {
			array.Data[int64](y)[j] = int64(i+j) % 3
		}
		given = append(given, []*array.Array{x, y})
	}
	return step, given
}

// TestStep_fused: parameters that a step writes have what follows them in their steps, and filters are
// transformed in the run. Losses are those of an exact plan within Winograd's
// rounding, and a generated package has the plan's to the bit.
func TestStep_fused(t *testing.T) {
	step, given := wideStep(t)
	exe := planned(t, step)
	convs, residuals := 0, 0
	for i := range exe.Plan().Steps {
		st := &exe.Plan().Steps[i]
		switch st.Kernel.(type) {
		case *kernel.ConvFused:
			convs++
			residuals += len(st.In) / 5
		case *kernel.LinearFused:
			residuals += len(st.In) / 5
		}
	}
	require.GreaterOrEqual(t, convs, 2)
	require.GreaterOrEqual(t, residuals, 2, "both sums with what a layer began with")
	exact, err := cpu.Compile(graph.Clone(step.Graph().Module), lowering.Options{Exact: true})
	require.NoError(t, err)
	for _, batch := range given {
		want, err := exact.Run(ctx, batch)
		require.NoError(t, err)
		got, err := exe.Run(ctx, batch)
		require.NoError(t, err)
		require.InDelta(t, array.Float64At(want[0], 0), array.Float64At(got[0], 0), 1e-5)
	}
	if testing.Short() {
		t.Skip("-short: the go command builds a program")
	}
	step, given = wideStep(t)
	requireGeneratedTrains(t, step, given)
}

// requireGeneratedTrains prints a step as a package of Go, runs it on batches, and requires the losses
// of the plan.
func requireGeneratedTrains(t *testing.T, step *train.Step, batches [][]*array.Array) {
	t.Helper()
	own := fx.NewGraphModule(step.Graph().WithGraph(step.Graph().Graph.Clone()))
	_, err := own.Apply(ctx, fx.Optimise(), fx.PassOptions{})
	require.NoError(t, err)
	exe, err := cpu.Compile(own.Module, lowering.Options{})
	require.NoError(t, err)
	files, err := codegen.Kernel(exe.Plan(), own.Values(), codegen.KernelOptions{Package: "step"})
	require.NoError(t, err)

	top, err := repo.Root()
	require.NoError(t, err)
	sums, err := os.ReadFile(filepath.Join(top, "go.sum"))
	require.NoError(t, err)
	dir := workdir.Of(t)
	write := func(name string, text []byte) {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, text, 0o644))
	}
	write("go.mod", []byte("module example.com/trained\n\ngo 1.26.0\n\nrequire github.com/gofx-dev/gofx v0.0.0\n\nreplace github.com/gofx-dev/gofx => "+top+"\n"))
	write("go.sum", sums)
	write("main.go", []byte(loop))
	for _, f := range files.List {
		write(filepath.Join("step", f.Name), f.Data)
	}

	var want []float32
	var given []batchJSON
	for _, batch := range batches {
		given = append(given, batchJSON{array.Data[float32](batch[0]), array.Data[int64](batch[1]), batch[0].Dim(-1)})
		out, err := step.Run(ctx, batch...)
		require.NoError(t, err)
		want = append(want, array.Data[float32](out[0])[0])
	}
	text, err := json.Marshal(given)
	require.NoError(t, err)
	cmd := exec.CommandContext(ctx, "go", "run", ".")
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(string(text))
	var stderr strings.Builder
	cmd.Stderr = &stderr
	printed, err := cmd.Output()
	require.NoError(t, err, stderr.String())
	var got []float32
	require.NoError(t, json.Unmarshal(printed, &got))
	require.Equal(t, want, got)
}
