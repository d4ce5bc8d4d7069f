package conform

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/onnx"
	"github.com/gofx-dev/gofx/passes"
)

// twin is a network that is written in Go and that PyTorch exports.
type twin struct {
	name   string
	script string
	module func() any // nil for that of the entry
	dims   map[string]int
	// more are the steps that only the imported network has: none of them computes as
	// much as a layer does.
	more    map[string]int
	nightly bool
}

// smallBert has the sizes of bert_export.py's small.
func smallBert() any {
	return models.NewBert(models.BertConfig{VocabSize: 100, MaxPositions: 64, TypeVocabSize: 2, HiddenSize: 48, NumLayers: 2, NumHeads: 4, IntermediateSize: 96, LayerNormEps: 1e-12})
}

// indices are exporters' forms of BERT's embeddings: they look numbers of kinds and
// positions up in tables, where the network in Go counts, and ONNX's tables may be
// indexed from their end.
var indices = map[string]int{"index.IndexSelect index_select": 3, "index.Embedding embedding": -3, "move.Reshape reshape": 1,
	"program.Elementwise lt+add+where": 1, "program.Elementwise arange": -1, "program.Elementwise zeros_like": -1, "program.Elementwise sub+mul": 1, "program.Elementwise cast+sub+mul": -1}

var twins = []twin{
	{name: "mobilenet_v3_large", script: "torch/vision.py", dims: map[string]int{"N": 1}},
	{name: "resnet50", script: "torch/vision.py", dims: map[string]int{"N": 1}, nightly: true},
	{name: "bert_base", script: "bert_export.py", module: smallBert, dims: map[string]int{"N": 1, "S": 128}, more: indices},
}

// open returns the plans of both forms of the network, after the default pipeline.
func (w twin) open(t *testing.T, opset string) (captured, imported *cpu.Executable) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "model.onnx")
	args := []string{"testdata/" + w.script, w.name, opset, dir}
	if w.script == "bert_export.py" {
		args = []string{"testdata/" + w.script, map[bool]string{true: "small", false: "base"}[w.module != nil], opset, path}
	}
	out, err := exec.Command(debianPython, args...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	f, err := onnx.Read(path)
	require.NoError(t, err)
	m, err := f.Import(onnx.Options{})
	require.NoError(t, err)
	return optimised(t, w.capture(t)), optimised(t, m)
}

// capture traces the network in Go.
func (w twin) capture(t *testing.T) *graph.Module {
	entry := models.Lookup(w.name)
	var opts []fx.Option
	for _, in := range entry.Inputs {
		opts = append(opts, fx.Input(in.Name, in.Type))
	}
	make := entry.New
	if w.module != nil {
		make = w.module
	}
	net := make()
	models.Synthetic(entry, net, "twin")
	gm, err := fx.Trace(ctx, net, opts...)
	require.NoError(t, err)
	return gm.Module
}

func optimised(t *testing.T, m *graph.Module) *cpu.Executable {
	_, err := passes.Run(ctx, m, fx.Optimise(), passes.Options{})
	require.NoError(t, err)
	exe, err := cpu.Compile(m, lowering.Options{Threads: 1})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, exe.Close()) })
	return exe
}

// spellings are operators of which one kernel computes several.
var spellings = strings.NewReplacer("linear", "product", "matmul+add", "product")

// steps counts the steps of a plan, by kernel and operators; layouts of a value cost
// nothing and are left out.
func steps(exe *cpu.Executable) map[string]int {
	count := map[string]int{}
	for _, s := range exe.Plan().Steps {
		if !s.View {
			count[strings.TrimPrefix(fmt.Sprintf("%T", s.Kernel), "*")+" "+spellings.Replace(s.Op)]++
		}
	}
	return count
}

// TestImportedPlans: a network's plan has the same steps whether it was written in Go or
// imported, step by step.
func TestImportedPlans(t *testing.T) {
	needTorch(t)
	for _, w := range twins {
		if w.nightly && os.Getenv("GOFX_NIGHTLY") == "" {
			continue
		}
		for _, opset := range []string{"13", "17"} {
			t.Run(w.name+"_"+opset, func(t *testing.T) {
				captured, imported := w.open(t, opset)
				want := steps(captured)
				for what, n := range w.more {
					if want[what] += n; want[what] == 0 {
						delete(want, what)
					}
				}
				require.Equal(t, want, steps(imported))
			})
		}
	}
}

func needTorch(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: exporting networks takes seconds each")
	}
	if err := exec.Command(debianPython, "-c", "import torch, torchvision, torch.onnx").Run(); err != nil {
		t.Skip("python3-torch and python3-torchvision are not installed: " + err.Error())
	}
}

// TestImportedSpeed times the two in turns, where GOFX_SPEED is set: on a machine that
// does nothing else. An imported network takes at most 1.03 of the other's time.
func TestImportedSpeed(t *testing.T) {
	if os.Getenv("GOFX_SPEED") == "" {
		t.Skip("times are taken where GOFX_SPEED is set")
	}
	needTorch(t)
	for _, w := range twins {
		w.module = nil
		t.Run(w.name, func(t *testing.T) {
			captured, imported := w.open(t, "13")
			entry := models.Lookup(w.name)
			var in []*array.Array
			for _, spec := range entry.Inputs {
				x, err := models.SyntheticInput(spec, "twin", w.dims)
				require.NoError(t, err)
				in = append(in, x.Array())
			}
			pair := [2]*cpu.Executable{captured, imported}
			var times [2][]time.Duration
			for round := range 41 {
				for k := range pair {
					k = (k + round) % 2
					start := time.Now()
					_, err := pair[k].Run(ctx, in)
					require.NoError(t, err)
					times[k] = append(times[k], time.Since(start))
				}
			}
			var ms [2]float64
			for k := range times {
				slices.Sort(times[k])
				ms[k] = times[k][len(times[k])/4].Seconds() * 1e3 // the quiet quarter
			}
			t.Logf("%s: captured %.2f ms, imported %.2f ms, ratio %.3f", w.name, ms[0], ms[1], ms[1]/ms[0])
			require.LessOrEqual(t, ms[1]/ms[0], 1.03)
		})
	}
}
