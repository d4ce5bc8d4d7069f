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
	"github.com/gofx-dev/gofx/internal/testkit/repo"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
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
		r, err := m.Forward(context.Background(), state, array.DenseOf(b.X, n, 1, 6, 6), array.DenseOf(b.Y, n))
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
	own := fx.NewGraphModule(step.Graph().WithGraph(step.Graph().Graph.Clone()))
	_, err = own.Apply(ctx, fx.Optimise(), fx.PassOptions{})
	require.NoError(t, err)
	exe, err := cpu.Compile(own.Module, lowering.Options{})
	require.NoError(t, err)
	files, err := codegen.Kernel(exe.Plan(), own.Values(), codegen.KernelOptions{Package: "step"})
	require.NoError(t, err)

	top, err := repo.Root()
	require.NoError(t, err)
	sums, err := os.ReadFile(filepath.Join(top, "go.sum"))
	require.NoError(t, err)
	dir := t.TempDir()
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
	b := batches(t)
	for i := range 12 {
		batch, err := b.Batch(i/4, i%4)
		require.NoError(t, err)
		given = append(given, batchJSON{array.Data[float32](batch[0]), array.Data[int64](batch[1])})
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
