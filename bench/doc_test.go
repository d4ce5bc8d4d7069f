package main

import (
	"encoding/xml"
	"io"
	"os"
	"path/filepath"
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

func TestDocument(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, writeDoc(dir, docRows()))
	b, err := os.ReadFile(filepath.Join(dir, "bench.md"))
	require.NoError(t, err)
	s := string(b)
	require.Contains(t, s, "| shape | gofx ms | ort ms | torch ms | ratio | roof | beside | GFLOP/s | pairs |\n|---|---|---|---|---|---|---|---|---|\n"+
		"| 64x64x64 | 0.5000 | 1.00 | 2.00 | 0.50 | 0.90 | - | 150.0 | 15 |")
	require.Contains(t, s, "20.0 GB/s past the caches. Windows of 6 ms.\n")
	require.Contains(t, s, "## Threads: 2\n\nA chip, Go. Peaks of this run: 400 GFLOP/s")
	require.Contains(t, s, "A cache line to the other processor and back: 120 to 570 ns, mostly 345.")
	require.Contains(t, s, "| shape | gofx ms | ratio | roof | beside | gain | GFLOP/s | pairs |\n|---|---|---|---|---|---|---|---|\n"+
		"| 64x64x64 | 0.2500 | - | - | - | 2.00 (1.00) | - | 15 |\n| 128x128x128 | 2.00 | - | - | - | 1.50 (0.75) | - | 15† |\n")
	require.Equal(t, 2, strings.Count(s, "### Matrix product, f32"))
	require.Equal(t, 1, strings.Count(s, "### Elementwise chains"))
	require.NotContains(t, s, "### Recurrent", "groups without rows have no section")
	require.Error(t, writeDoc(dir, nil))
}

func TestDocumentOfGraphs(t *testing.T) {
	s := document([]*Row{{Group: "graph", Shape: "lint_1000", Nodes: 1000, Goal: 5, OursMS: 0.25, Peers: map[string]float64{"torch.fx": 2}, Allocs: 20, Threads: 1, Pairs: 15,
		Least: map[string]float64{"": 0.2, "torch.fx": 1.8}}, {Group: "graph", Shape: "parse_1000", Nodes: 1000, Most: 3, OursMS: 1, Threads: 1, Pairs: 15}})
	require.Contains(t, s, "| lint | 1000 | 0.2500 | 0.250 | 2.00 | 8.00 (9.00) | 5 | 0.02 | 15 |\n| parse | 1000 | 1.00 | 1.000 | - | - | 3 µs | 0.00 | 15 |\n")
}

func TestRooflineIsWellFormed(t *testing.T) {
	s := roofline(docRows())
	d := xml.NewDecoder(strings.NewReader(s))
	titles := 0
	for {
		tok, err := d.Token()
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		if e, ok := tok.(xml.StartElement); ok && e.Name.Local == "title" {
			titles++
		}
	}
	require.Equal(t, 2, titles, "a point for each row of one thread")
	require.Contains(t, s, "200 GFLOP/s")
	require.NotContains(t, s, "NaN")
	require.NotContains(t, s, "Inf")
}

func TestPlotKeepsToTheAxes(t *testing.T) {
	p := plot{top: 3, bottom: -1}
	require.Equal(t, float64(plotLeft), p.x(1e-9))
	require.Equal(t, float64(plotW-plotRight), p.x(1e9))
	require.Equal(t, float64(plotTop), p.y(1e9))
	require.Equal(t, float64(plotH-plotBottom), p.y(1e-9))
	require.Less(t, p.y(100), p.y(10), "more is higher")
}

func TestDocumentOfNetworks(t *testing.T) {
	rows := []*Row{
		{Group: "model", Shape: "net_b1", OursMS: 2, Threads: 1, Pairs: 15, BesideShare: 0.875, Foreign: 1, Engines: map[string]float64{"gen": 2.1, "interp": 4, "eager": 5},
			Peers: map[string]float64{"ort": 4, "torch": 8, "torch-jit": 5}, LeftOut: []string{"onednn: is busy\nand more"},
			Least: map[string]float64{"": 1, "ort": 4, "torch": 5, "torch-jit": 2, "gen": 1}},
		{Group: "model", Shape: "net_b4", OursMS: 8, Threads: 1, Pairs: 5, Peers: map[string]float64{"torch": 10}},
		{Group: "fold", Shape: "net_interp_b1", OursMS: 4, Threads: 1, Pairs: 15, Engines: map[string]float64{"not folded": 5}},
		{Group: "quant", Shape: "net_static_b1", OursMS: 2, Threads: 1, Pairs: 15, RoofShare: 0.75, Engines: map[string]float64{"float": 6},
			Peers: map[string]float64{"ort": 2.5, "torch-int8": 4}, Least: map[string]float64{"": 2, "ort": 2, "float": 5}},
		{Group: "quant", Shape: "gpt2_decode_b1", OursMS: 4, Threads: 1, Pairs: 15, Engines: map[string]float64{"int8": 5, "bf16": 8, "float": 16, "reading": 12},
			Bytes: map[string]float64{"": 60e6, "int8": 90e6, "bf16": 180e6, "float": 360e6, "reading": 360e6}},
	}
	s := document(rows)
	require.Contains(t, s, "\n| net_b1 | 2.00 | 2.10 | 4.00 | 5.00 | 4.00 | 8.00 | 5.00 | 0.50 (0.25) | 0.40 (0.50) | 1.05 (1.00) | - | 0.88 | - | 15* |\n")
	require.Contains(t, s, "\n| net_static_b1 | 2.00 | 6.00 | 3.00 (2.50) | 2.50 | 4.00 | 0.80 (1.00) | 0.50 | 0.75 | - | - | 15 |\n")
	require.Contains(t, s, "\n| f32 | 16.0 | 1.00 | 360 | 22.5 | 0.75 |\n| bf16 | 8.00 | 2.00 | 180 | 22.5 | 0.75 |\n| int8 | 5.00 | 3.20 | 90 | 18.0 | 0.60 |\n"+
		"| int4, groups of 32 | 4.00 | 4.00 | 60 | 15.0 | 0.50 |\n")
	require.NotContains(t, s, "| gpt2_decode_b1 |", "decoding has a table of its own")
	require.Contains(t, s, "\n| net_b4 | 8.00 | - | - | - | - | 10.0 | - | - | 0.80 | - | - | - | - | 5 |\n")
	require.Contains(t, s, "\nLeft out:\n\n- net_b1: onednn: is busy\n\n###")
	require.Contains(t, s, "\n| net_interp_b1 | 4.00 | 5.00 | 1.25 | 15 |\n")
}
