package conform

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/codegen"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/onnx"
)

const (
	networksFile = "testdata/torch.tsv"
	// debianPython is the interpreter that Debian's python3-torchvision is made for.
	debianPython = "/usr/bin/python3"
)

// kinds are the kinds of networks that PyTorch exports.
var kinds = map[string]networkKind{
	"classification": {script: "vision.py", open: []string{"N"}, interpreted: 1, tolerance: 1e-3},
	"segmentation":   {script: "vision.py", open: []string{"N"}, interpreted: 1, tolerance: 1e-3},
	"detection":      {script: "detection.py", interpreted: 2, tolerance: 1e-2, moved: 0.02},
	"transformer":    {script: "text.py", open: []string{"M", "N", "S", "T"}, interpreted: 3, tolerance: 1e-3},
}

// atElement is the part of a comparison's message that depends on the machine.
var atElement = regexp.MustCompile(`differs: element .*`)

type networkKind struct {
	script string
	open   []string // sizes of inputs that the export may leave open
	// interpreted is how many batches the interpreter computes, too.
	interpreted int
	// tolerance is how far results may be from PyTorch's, of the largest element: both add
	// in f32, in other orders, through up to 200 layers. Values that a detector samples at
	// computed places are further apart.
	tolerance float64
	// moved is the share of the elements of masks, key points and their scores, which have a
	// hundred elements and more, that may be others: places are rounded to pixels, and random
	// weights leave several nearly best.
	moved float64
}

// network is a network that PyTorch has exported.
type network struct{ kind, name, opset, level, why string }

// readNetworks reads the list of networks with the levels that they reach.
func readNetworks(t testing.TB) (list []network) {
	t.Helper()
	text, err := os.ReadFile(networksFile)
	require.NoError(t, err)
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n")[1:] {
		cols := append(strings.Split(line, "\t"), "", "")
		require.Contains(t, kinds, cols[0], line)
		list = append(list, network{cols[0], cols[1], cols[2], cols[3], cols[4]})
	}
	return list
}

const networksIntro = `
Networks that PyTorch exports, with random weights. Those of torchvision for classification and segmentation have a batch that
is left open, is exported as 2 and run as 1 and 3, too; the detectors have one image of a fixed size, and as many results as
they find (two in a hundred elements of masks and key points may be others, because places are rounded to pixels; Keypoint R-CNN with random weights finds more of them elsewhere than that, in ONNX Runtime too, which is no match). The transformers are those of the fixtures with fewer layers; the batch and the length of their texts are left open. What exporters of today write is on [a page of its own](models.md).

| kind | network | operator set | level | why not further |
|---|---|---|---|---|
`

func networkTable(b *strings.Builder, nets []network) {
	b.WriteString(networksIntro)
	for _, n := range nets {
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s |\n", n.kind, n.name, n.opset, n.level, cell(n.why))
	}
}

// reached counts the networks, by name, that reach a level or one beyond it.
func reached(nets []network, level string, kinds ...string) int {
	order := []string{"refused", "imports", "runs", "matches", "generates"}
	names := map[string]bool{}
	for _, n := range nets {
		if slices.Contains(kinds, n.kind) && slices.Index(order, n.level) >= slices.Index(order, level) {
			names[n.name] = true
		}
	}
	return len(names)
}

// smallNetworks are tried where all would take too long; the nightly tests have all.
var smallNetworks = []string{"mobilenet_v3_small_11", "mobilenet_v3_small_17", "squeezenet1_1_17", "lraspp_mobilenet_v3_large_14",
	"ssdlite320_mobilenet_v3_large_11", "ssdlite320_mobilenet_v3_large_17", "bert_12", "deberta_11", "gpt2_17", "seq2seq_14"}

// TestTorchNetworks exports networks with PyTorch, where that is installed, and compares
// the interpreter and plans with PyTorch's results: at each operator set from 11 to 17,
// with sizes that the export leaves open. testdata/torch.tsv has the expected outcomes.
func TestTorchNetworks(t *testing.T) {
	needTorch(t)
	all := os.Getenv("GOFX_NIGHTLY") != "" || *update
	nets := readNetworks(t)
	for i, want := range nets {
		name := want.name + "_" + want.opset
		if !all && !slices.Contains(smallNetworks, name) {
			continue
		}
		t.Run(want.kind+"/"+name, func(t *testing.T) {
			got := network{kind: want.kind, name: want.name, opset: want.opset}
			var err error
			if got.level, err = tryNetwork(t, want); err != nil {
				got.why, _, _ = strings.Cut(strings.ReplaceAll(err.Error(), "\t", " "), "\n")
				got.why = atElement.ReplaceAllString(atNode.ReplaceAllString(got.why, ""), "differs")
			}
			if nets[i] = got; !*update {
				require.Equal(t, want, got)
			}
		})
	}
	if *update {
		var list strings.Builder
		list.WriteString("kind\tnetwork\toperator set\tlevel\twhy not further\n")
		for _, n := range nets {
			fmt.Fprintf(&list, "%s\t%s\t%s\t%s\t%s\n", n.kind, n.name, n.opset, n.level, n.why)
		}
		require.NoError(t, os.WriteFile(networksFile, []byte(list.String()), 0o644))
	}
}

// tryNetwork exports a network and takes it as far as it comes; the error says why not
// further.
func tryNetwork(t *testing.T, n network) (level string, err error) {
	dir := t.TempDir()
	c, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	kind := kinds[n.kind]
	out, err := exec.CommandContext(c, debianPython, filepath.Join("testdata/torch", kind.script), n.name, n.opset, dir).CombinedOutput()
	require.NoError(t, err, "%s", out)
	f, err := onnx.Read(filepath.Join(dir, "model.onnx"))
	if err != nil {
		return "refused", err
	}
	samples, err := f.Samples(dir)
	require.NoError(t, err)
	m, err := f.Import(onnx.Options{})
	if err == nil {
		err = graph.Lint(m.Graph).Err()
	}
	if err != nil {
		return "refused", err
	}
	var open []string
	for _, s := range m.Graph.Symbols() {
		if s.Node.Opcode() == graph.Placeholder {
			require.Contains(t, kind.open, s.Name)
			open = append(open, s.Name)
		}
	}
	require.True(t, len(kind.open) == 0 || slices.Contains(open, "N"), "the batch is open: %v", open)
	interp := func(in []*array.Array) ([]*array.Array, error) { return fx.NewGraphModule(m).RunArrays(ctx, in) }
	if err := kind.check(f, samples[:kind.interpreted], interp); err != nil {
		return "imports", err
	}
	exe, err := cpu.Compile(m, lowering.Options{})
	if err != nil {
		return "runs", err
	}
	defer exe.Close()
	err = kind.check(f, samples, func(in []*array.Array) ([]*array.Array, error) { return exe.Run(ctx, in) })
	if err != nil {
		return "runs", err
	}
	if _, err := codegen.Kernel(exe.Plan(), m.Values(), codegen.KernelOptions{Package: "net", Weights: codegen.WeightsExternal}); err != nil {
		return "matches", err
	}
	return "generates", nil
}

// check compares an engine's results with PyTorch's.
func (k networkKind) check(f *onnx.File, samples []onnx.Sample, run func([]*array.Array) ([]*array.Array, error)) error {
	if len(samples) == 0 {
		return errors.New("there is nothing to compare with")
	}
	for i, s := range samples {
		got, err := run(f.Args(s, nil))
		if err != nil {
			return err
		}
		if err := k.closeToLargest(got, s.Outputs); err != nil {
			return fmt.Errorf("batch %d: %w", i, err)
		}
	}
	return nil
}

// closeToLargest compares each output by its largest element: sums that cancel are near
// zero, and their roundings are those of the terms.
func (k networkKind) closeToLargest(got, want []*array.Array) error {
	if len(got) != len(want) {
		return fmt.Errorf("%d outputs, expected %d", len(got), len(want))
	}
	for i, w := range want {
		largest := 0.0
		for e := range w.Len() {
			largest = max(largest, math.Abs(array.Float64At(w, e)))
		}
		if largest == 0 {
			return fmt.Errorf("output %d is zero everywhere, which shows nothing", i)
		}
		allowed := k.tolerance * largest
		if k.moved > 0 && w.Len() > 100 && slices.Equal(got[i].Shape(), w.Shape()) {
			far := 0
			for e := range w.Len() {
				if d := math.Abs(array.Float64At(got[i], e) - array.Float64At(w, e)); !(d <= allowed) {
					far++
				}
			}
			if far <= int(k.moved*float64(w.Len())) {
				continue
			}
		}
		s := onnx.Sample{Outputs: want[i : i+1]}
		if _, err := s.Check(got[i:i+1], onnx.Tolerance{Abs: allowed}); err != nil {
			return fmt.Errorf("counted from %d: %w", i, err)
		}
	}
	return nil
}
