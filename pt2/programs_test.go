package pt2_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/npy"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/pyenv"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/onnx"
	"github.com/gofx-dev/gofx/pt2"
)

// programs are what testdata/nets.py exported: archives with the inputs of a few calls, one after
// the other, and PyTorch's results.
const programs = "testdata"

// sample is a call of a program.
type sample struct{ in, out []*array.Array }

// samplesOf reads the calls of a program.
func samplesOf(path string) (list []sample, err error) {
	name := strings.TrimSuffix(strings.TrimSuffix(path, ".pt2"), ".core")
	for k := 0; ; k++ {
		z, err := npy.OpenArchive(fmt.Sprintf("%s.%d.npz", name, k))
		if errors.Is(err, os.ErrNotExist) && k > 0 {
			return list, nil
		}
		if err != nil {
			return nil, err
		}
		var s sample
		for what, to := range map[string]*[]*array.Array{"in": &s.in, "out": &s.out} {
			for i := 0; slices.Contains(z.Names(), fmt.Sprint(what, i)); i++ {
				a, err := z.Get(fmt.Sprint(what, i))
				if err != nil {
					return nil, err
				}
				*to = append(*to, a)
			}
		}
		list = append(list, s)
	}
}

// agrees compares results with PyTorch's: within 1e-4 of the expected element, and of the largest one.
func agrees(got, want []*array.Array) error {
	if len(got) != len(want) {
		return fmt.Errorf("%d results, expected %d", len(got), len(want))
	}
	for i, w := range want {
		largest := 0.0
		for e := range w.Len() {
			if v := math.Abs(array.Float64At(w, e)); v < math.Inf(1) {
				largest = max(largest, v)
			}
		}
		s := onnx.Sample{Outputs: want[i : i+1]}
		if _, err := s.Check(got[i:i+1], onnx.Tolerance{Rel: 1e-4, Abs: 1e-4 * min(largest, 1)}); err != nil {
			return fmt.Errorf("result %d: %w", i, err)
		}
	}
	return nil
}

// tryProgram imports an archive and compares the interpreter and the plan with PyTorch.
func tryProgram(path string) error {
	f, err := pt2.Read(path)
	if err != nil {
		return err
	}
	defer f.Close()
	samples, err := samplesOf(path)
	if err != nil {
		return err
	}
	m, err := f.Import(pt2.Options{})
	if err != nil {
		return err
	}
	gm := fx.NewGraphModule(graph.Clone(m))
	for k, s := range samples {
		got, err := gm.RunArrays(context.Background(), s.in)
		if err == nil {
			err = agrees(got, s.out)
		}
		if err != nil {
			return fmt.Errorf("interp, call %d: %w", k, err)
		}
	}
	exe, err := cpu.Compile(graph.Clone(m), lowering.Options{})
	if err != nil {
		return err
	}
	defer exe.Close()
	for k, s := range samples {
		got, err := exe.Run(context.Background(), s.in)
		if err == nil {
			err = agrees(got, s.out)
		}
		if err != nil {
			return fmt.Errorf("plan, call %d: %w", k, err)
		}
	}
	return nil
}

func TestPrograms(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(programs, "*.pt2"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, path := range files {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".pt2"), func(t *testing.T) {
			require.NoError(t, tryProgram(path))
		})
	}
}

// generated are networks whose generated code is built and compared, too.
var generated = []string{"llama", "bert", "whisper", "vit", "mobilenet_v3_small", "shufflenet_v2_x0_5"}

// TestExported exports networks and compares them with PyTorch, and with their export to ONNX by PyTorch:
// those of torchvision and transformers, too. GOFX_PT2 names some, with commas between.
func TestExported(t *testing.T) {
	names := strings.FieldsFunc(os.Getenv("GOFX_PT2"), func(r rune) bool { return r == ',' })
	if len(names) == 0 && os.Getenv("GOFX_NIGHTLY") == "" {
		t.Skip("exporting takes minutes; GOFX_NIGHTLY=1 does it")
	}
	python := pyenv.Need(t, "torch", "torchvision", "transformers", "onnxscript")
	run := func(args ...string) ([]byte, error) {
		return exec.Command(python, append([]string{"testdata/nets.py"}, args...)...).CombinedOutput()
	}
	list, err := run("--list")
	require.NoError(t, err, "%s", list)
	for line := range strings.Lines(string(list)) {
		group, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		if len(names) > 0 && !slices.Contains(names, name) && !slices.Contains(names, group) {
			continue
		}
		t.Run(group+"/"+name, func(t *testing.T) {
			dir := t.TempDir()
			out, err := run(dir, name)
			require.NoError(t, err, "%s", out)
			t.Logf("%s", out)
			path := filepath.Join(dir, name)
			require.NoError(t, tryProgram(path+".pt2"))
			if _, err := os.Stat(path + ".core.pt2"); err == nil {
				require.NoError(t, tryProgram(path+".core.pt2"))
			}
			if slices.Contains(generated, name) {
				out, err := run("--case", dir, name)
				require.NoError(t, err, "%s", out)
				out, err = exec.Command("go", "run", "../cmd/fxgen", "verify", "-engine", "gen", "-rtol", "1e-4", "-atol", "1e-4", path).CombinedOutput()
				require.NoError(t, err, "%s", out)
			}
			if group == "small" || name == "llama_cached" {
				return // whose state and lists ONNX does not have
			}
			out, err = run("--onnx", dir, name)
			require.NoError(t, err, "%s", out)
			require.NoError(t, tryONNX(path))
		})
	}
}

// tryONNX compares the results of the same network's model in ONNX's format with
// PyTorch's.
func tryONNX(path string) error {
	f, err := onnx.Read(path + ".onnx")
	if err != nil {
		return err
	}
	defer f.Close()
	samples, err := samplesOf(path)
	if err != nil {
		return err
	}
	m, err := f.Import(onnx.Options{})
	if err != nil {
		return err
	}
	gm := fx.NewGraphModule(m)
	for k, s := range samples {
		got, err := gm.RunArrays(context.Background(), s.in)
		if err == nil {
			err = agrees(got, s.out)
		}
		if err != nil {
			return fmt.Errorf("onnx, call %d: %w", k, err)
		}
	}
	return nil
}

// TestDetached holds the gradient of an imported program to PyTorch's: what it detaches, and computes
// where gradients are off, is constant. run_decompositions writes regions without gradients like all else,
// so that its program has another gradient: that of the module without them.
func TestDetached(t *testing.T) {
	for _, kind := range []string{".pt2", ".core.pt2"} {
		path := filepath.Join(programs, "detached"+kind)
		f, err := pt2.Read(path)
		require.NoError(t, err)
		defer f.Close()
		m, err := f.Import(pt2.Options{})
		require.NoError(t, err)
		g, err := fx.NewGraphModule(m).ValueAndGrad(context.Background(), fx.GradOptions{})
		require.NoError(t, err)
		samples, err := samplesOf(path)
		require.NoError(t, err)
		for k, s := range samples {
			z, err := npy.OpenArchive(filepath.Join(programs, fmt.Sprintf("detached.%d.npz", k)))
			require.NoError(t, err)
			want, err := z.Get("grad0")
			require.NoError(t, err)
			got, err := g.RunArrays(context.Background(), s.in)
			require.NoError(t, err)
			require.Len(t, got, 2)
			if kind == ".pt2" {
				require.NoError(t, agrees(got[1:], []*array.Array{want}), "call %d", k)
			} else {
				require.Error(t, agrees(got[1:], []*array.Array{want}))
			}
		}
	}
}
