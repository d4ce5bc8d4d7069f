package main

import (
	"encoding/xml"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func docRows() []*Row {
	return []*Row{
		{Group: "gemm", Shape: "64x64x64", OursMS: 0.5, Peer: "ort", PeerMS: 1, Ratio: 0.5, RoofShare: 0.9, Peers: map[string]float64{"ort": 1, "torch": 2},
			GFlops: 150, Intensity: 10, Threads: 1, Pairs: 15, WindowMS: 6, PeakGFlops: 200, PeakGops8: 800, PeakGBs: 20},
		{Group: "chain", Shape: "8ops_n100", OursMS: 2, GFlops: 3, Intensity: 0.2, Threads: 1, Pairs: 15, PeakGFlops: 200, PeakGBs: 20},
		{Group: "gemm", Shape: "64x64x64", OursMS: 0.25, Threads: 2, CPU: "A chip, Go", Pairs: 15, PeakGFlops: 400, PeakGBs: 40,
			AloneMS: 0.5, PeakScaling: 2, ScalingShare: 1, HandoverNS: 120},
		{Group: "gemm", Shape: "128x128x128", OursMS: 2, Threads: 2, CPU: "A chip, Go", Pairs: 15, PeakGFlops: 400, PeakGBs: 40,
			AloneMS: 3, PeakScaling: 2, ScalingShare: 0.75, HandoverNS: 570},
	}
}

// written returns a page whose tables are made from rows.
func written(t *testing.T, rows []*Row, name string) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, writeDoc(dir, rows))
	b, err := os.ReadFile(filepath.Join(dir, name))
	require.NoError(t, err)
	return string(b)
}

func TestDocument(t *testing.T) {
	s := written(t, docRows(), "bench/kernels.md")
	require.Contains(t, s, "| shape | gofx ms | ort ms | torch ms | ratio | roof | beside | GFLOP/s | pairs |\n|---|---|---|---|---|---|---|---|---|\n"+
		"| 64x64x64 | 0.5000 | 1.00 | 2.00 | 0.50 | 0.90 | - | 150.0 | 15 |")
	require.Contains(t, s, "20.0 GB/s past the caches. Windows of 6 ms.\n")
	require.Contains(t, s, "## Matrix product, f32, threads: 2\n\n<!-- rows: gemm 2 -->\n\nA chip, Go. Peaks of this run: 400 GFLOP/s")
	require.Contains(t, s, "A cache line to the other processor and back: 120 to 570 ns, mostly 345.")
	require.Contains(t, s, "| shape | gofx ms | ratio | roof | beside | gain | GFLOP/s | pairs |\n|---|---|---|---|---|---|---|---|\n"+
		"| 64x64x64 | 0.2500 | - | - | - | 2.00 (1.00) | - | 15 |\n| 128x128x128 | 2.00 | - | - | - | 1.50 (0.75) | - | 15† |\n")
	require.Equal(t, 2, strings.Count(s, "## Matrix product, f32"))
	require.Equal(t, 1, strings.Count(s, "## Elementwise chains"))
	require.NotContains(t, s, "## Recurrent", "groups without rows have no section")
	require.Error(t, writeDoc(t.TempDir(), nil))
}

// TestTablesAreReplaced: the text around a page's tables stays, and so do tables without rows.
func TestTablesAreReplaced(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "bench", "kernels.md")
	require.NoError(t, os.Mkdir(filepath.Join(dir, "bench"), 0o755))
	page := "# Kernels\n\nBy hand.\n\n<!-- rows: gemm 1 -->\n\nold products\n\n<!-- end of rows -->\n\nMore.\n\n<!-- rows: conv 1 -->\n\nold convolutions\n\n<!-- end of rows -->\n\nThe end.\n"
	require.NoError(t, os.WriteFile(path, []byte(page), 0o644))
	rows := docRows()
	require.NoError(t, writeDoc(dir, rows))
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	for _, kept := range []string{"# Kernels\n\nBy hand.\n", "\nMore.\n", "old convolutions", "\nThe end.\n"} {
		require.Contains(t, string(b), kept)
	}
	require.NotContains(t, string(b), "old products")
	require.NoError(t, writeDoc(dir, rows))
	again, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(b), string(again), "a second time changes nothing")
	require.NoFileExists(t, filepath.Join(dir, "bench.md"), "there are no networks")
	require.NoFileExists(t, filepath.Join(dir, "bench", "networks.md"))
}

func TestDocumentOfGraphs(t *testing.T) {
	s := written(t, []*Row{{Group: "graph", Shape: "lint_1000", Nodes: 1000, Goal: 5, OursMS: 0.25, Peers: map[string]float64{"torch.fx": 2}, Allocs: 20, Threads: 1, Pairs: 15,
		Least: map[string]float64{"": 0.2, "torch.fx": 1.8}}, {Group: "graph", Shape: "parse_1000", Nodes: 1000, Most: 3, OursMS: 1, Threads: 1, Pairs: 15}}, "bench/graphs.md")
	require.Contains(t, s, "| lint | 1000 | 0.2500 | 0.250 | 2.00 | 8.00 (9.00) | 5 | 0.02 | 15 |\n| parse | 1000 | 1.00 | 1.000 | - | - | 3 µs | 0.00 | 15 |\n")
}

func TestRooflineIsWellFormed(t *testing.T) {
	s := roofline(docRows())
	requireSVG(t, s, 2) // a point for each row of one thread
	require.Contains(t, s, "200 GFLOP/s")
}

func TestDocumentOfNetworks(t *testing.T) {
	rows := []*Row{
		{Group: "precision", Shape: "f32", Threads: 1, CPU: "A chip", Errors: map[string]float64{"openvino": 6e-8}},
		{Group: "model", Shape: "net_b1", OursMS: 2, Threads: 1, Pairs: 15, BesideShare: 0.875, Foreign: 1, Engines: map[string]float64{"gen": 2.1, "interp": 4, "eager": 5},
			Peer: "ort", PeerMS: 4, Ratio: 0.5, Peers: map[string]float64{"ort": 4, "torch": 8, "torch-compile": 5, "jax": 50}, Once: map[string]float64{"jax": 50},
			Running: map[string]int{"ort": 1, "torch": 2}, LeftOut: []string{"onednn: is busy\nand more"}, Least: map[string]float64{"": 1, "ort": 4, "torch": 5}},
		{Group: "model", Shape: "net_b4", OursMS: 8, Threads: 1, Pairs: 5, Peer: "torch", PeerMS: 6, Ratio: 8.0 / 6, Peers: map[string]float64{"torch": 6},
			Kernels: []kernelShare{{Name: "ConvPacked 1x1", MS: 4, Share: 0.5, Roof: 0.75}},
			CPU:     "A chip", Date: "2026-11-26", Versions: map[string]string{"torch": "torch 2.15.0", "ort": "onnxruntime 1.32.0"}},
		{Group: "fold", Shape: "net_interp_b1", OursMS: 4, Threads: 1, Pairs: 15, Engines: map[string]float64{"not folded": 5}},
		{Group: "quant", Shape: "net_static_b1", OursMS: 2, Threads: 1, Pairs: 15, RoofShare: 0.75, Engines: map[string]float64{"float": 6}, Peer: "ort", PeerMS: 2.5, Ratio: 0.8,
			Peers: map[string]float64{"ort": 2.5, "torch-int8": 4}, Least: map[string]float64{"": 2, "ort": 2, "float": 5}, CPU: "A chip", Date: "2026-11-26",
			Versions: map[string]string{"torch": "torch 2.15.0", "ort": "onnxruntime 1.32.0"}},
		{Group: "quant", Shape: "gpt2_decode_int4_b1", OursMS: 4, Threads: 1, Pairs: 15, Engines: map[string]float64{"int8": 5, "bf16": 8, "float": 16, "reading": 12},
			Bytes: map[string]float64{"": 60e6, "int8": 90e6, "bf16": 180e6, "float": 360e6, "reading": 360e6}},
	}
	dir := t.TempDir()
	require.NoError(t, writeDoc(dir, rows))
	read := func(name string) string {
		b, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		return string(b)
	}
	s := read("bench/networks.md")
	require.Contains(t, s, "| network | plan ms | gen ms | interp ms | eager ms | jax ms | ort ms | torch ms | torch-compile ms | ratio | peer | roof | beside | gain | running | pairs |\n")
	require.Contains(t, s, "\n| net_b1 | 2.00 | 2.10 | 4.00 | 5.00 | 50.0° | 4.00 | 8.00 | 5.00 | 0.50 (0.25) | ort | - | 0.88 | - | 2 | 15* |\n")
	require.Contains(t, s, "\n| net_b4 | 8.00 | - | - | - | - | - | 6.00 | - | 1.33 | torch | - | - | - | - | 5 |\n")
	require.Contains(t, s, "\nLeft out:\n\n- net_b1: onednn: is busy\n")
	require.Contains(t, s, "| net_interp_b1 | 4.00 | 5.00 | 1.25 | 15 |\n")
	q := read("bench/quant.md")
	require.Contains(t, q, "\n| net_static_b1 | 2.00 | 6.00 | 3.00 (2.50) | 2.50 | 4.00 | 0.80 (1.00) | ort | 0.75 | - | - | - | 15 |\n")
	require.Contains(t, q, "\n| f32 | 16.0 | 1.00 | 360 | 22.5 | 0.75 |\n| bf16 | 8.00 | 2.00 | 180 | 22.5 | 0.75 |\n| int8 | 5.00 | 3.20 | 90 | 18.0 | 0.60 |\n"+
		"| int4, groups of 32 | 4.00 | 4.00 | 60 | 15.0 | 0.50 |\n")
	h := read("bench.md")
	require.Contains(t, h, "# Measurements\n\n### f32, threads: 1\n\n<!-- rows: f32 1 -->\n\nA chip, 2026-11-26. Compared with onnxruntime 1.32.0; torch 2.15.0.\n\n"+
		"gofx is at least as fast as the fastest peer in 1 of 2 rows; the geometric mean of the ratios is 0.82. At least 5 pairs a row.\n\n![gofx's time by that of the fastest peer](bench/f32_1.svg)\n")
	require.Contains(t, h, "| network | gofx ms | jax ms | ort ms | torch ms | torch-compile ms | fastest peer | ratio |\n|---|---|---|---|---|---|---|---|\n"+
		"| net_b1 | 2.00 | 50.0° | 4.00 | 8.00 | 5.00 | ort | 0.50 |\n| net_b4 | 8.00 | - | - | 6.00 | - | torch | **1.33** |\n")
	require.Contains(t, h, "| net_b4 | ConvPacked 1x1 | 4.00 | 0.50 | 0.75 |\n")
	require.Contains(t, h, "| openvino | 6.0e-08 |\n")
	require.Contains(t, h, "### int8, threads: 1\n\n<!-- rows: int8 1 -->\n\nA chip, ")
	floats := h[strings.Index(h, "### f32"):strings.Index(h, "### int8")]
	again := *rows[slices.IndexFunc(rows, func(r *Row) bool { return r.Group == "quant" })]
	again.CPU, again.OursMS = "Another chip", 1
	require.NoError(t, writeDoc(dir, []*Row{&again}))
	require.Contains(t, read("bench.md"), floats, "a table without rows stays as it is")
	require.Contains(t, read("bench.md"), "<!-- rows: int8 1 -->\n\nAnother chip, 2026-11-26")
	require.Equal(t, "No peer has turns.", summary([]*Row{{Ratio: 0.1, Peer: "jax", Once: map[string]float64{"jax": 5}}}))
	requireSVG(t, read("bench/f32_1.svg"), 4) // a bar a row, and two other peers
	requireSVG(t, read("bench/int8_1.svg"), 2)
}

// requireSVG requires a picture that parses, with so many titles of bars and dots.
func requireSVG(t *testing.T, s string, titles int) {
	t.Helper()
	require.NotContains(t, s, "NaN")
	require.NotContains(t, s, "Inf")
	d := xml.NewDecoder(strings.NewReader(s))
	found := 0
	for {
		tok, err := d.Token()
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		if e, ok := tok.(xml.StartElement); ok && e.Name.Local == "title" {
			found++
		}
	}
	require.Equal(t, titles, found)
}

// TestPrecisionStaysWithNetworks: rows of other groups, which are measured with a row of
// precision, too, do not change who is compared at the beginning of bench.md.
func TestPrecisionStaysWithNetworks(t *testing.T) {
	dir := t.TempDir()
	precise := func(cpu string, e float64) *Row {
		return &Row{Group: "precision", Shape: "f32", Threads: 1, CPU: cpu, Errors: map[string]float64{"torch": e}}
	}
	step := &Row{Group: "step", Shape: "net_step_b1", OursMS: 1, Threads: 1, CPU: "Another chip", Pairs: 3}
	require.NoError(t, writeDoc(dir, []*Row{precise("Another chip", 1e-7), step}))
	require.NoFileExists(t, filepath.Join(dir, "bench.md"))
	network := &Row{Group: "model", Shape: "net_b1", OursMS: 2, Threads: 1, Pairs: 15, Peer: "torch", PeerMS: 4, Ratio: 0.5, Peers: map[string]float64{"torch": 4}, CPU: "A chip"}
	require.NoError(t, writeDoc(dir, []*Row{precise("A chip", 6e-8), network}))
	b, err := os.ReadFile(filepath.Join(dir, "bench.md"))
	require.NoError(t, err)
	require.Contains(t, string(b), "A chip. The largest difference")
	require.Contains(t, string(b), "| torch | 6.0e-08 |")
	require.NoError(t, writeDoc(dir, []*Row{precise("Another chip", 1e-7), step}))
	again, err := os.ReadFile(filepath.Join(dir, "bench.md"))
	require.NoError(t, err)
	require.Equal(t, string(b), string(again))
}

// TestHeldRowsHaveTheirPage: rows that are held to AVX2 leave the tables of other processors alone.
func TestHeldRowsHaveTheirPage(t *testing.T) {
	dir := t.TempDir()
	held := &Row{Group: "model", Shape: "net_b1", OursMS: 2, Threads: 1, Pairs: 15, Peer: "torch", PeerMS: 4, Ratio: 0.5, Peers: map[string]float64{"torch": 4}, CPU: "A chip, AVX2, GOFX_CPU=avx2"}
	require.NoError(t, writeDoc(dir, []*Row{held}))
	require.NoFileExists(t, filepath.Join(dir, "bench.md"))
	require.NoFileExists(t, filepath.Join(dir, "bench", "networks.md"))
	b, err := os.ReadFile(filepath.Join(dir, "bench", "avx2.md"))
	require.NoError(t, err)
	require.Contains(t, string(b), "# Networks with AVX2\n\n## Whole networks, threads: 1\n\n<!-- rows: model 1 -->\n\nA chip, AVX2, GOFX_CPU=avx2. ")
	require.Contains(t, string(b), "\n| net_b1 | 2.00 | 4.00 | 0.50 | torch |")
}

// TestStepsHaveTheirKernels: the page of training steps lists the kernels of each.
func TestStepsHaveTheirKernels(t *testing.T) {
	rows := []*Row{{Group: "step", Shape: "resnet18_step_b8", OursMS: 900, Peers: map[string]float64{"torch": 1000, "torch-compile": 950}, Peer: "torch-compile", PeerMS: 950, Ratio: 0.95,
		Threads: 1, Pairs: 15, Kernels: []kernelShare{{Name: "Conv 3x3", MS: 300, Share: 0.33, Roof: 0.8}}}}
	s := written(t, rows, "bench/steps.md")
	require.Contains(t, s, "| network | gofx ms | torch ms | torch-compile ms | ratio | peer |")
	require.Contains(t, s, "| resnet18_step_b8 | 900 | 1000 | 950 | 0.95 | torch-compile |")
	require.Contains(t, s, "Kernels that take more than 5 % of a step:\n\n| step | kernel | ms | of the time | of the roof |\n|---|---|---|---|---|\n| resnet18_step_b8 | Conv 3x3 | 300 | 0.33 | 0.80 |\n")
}
