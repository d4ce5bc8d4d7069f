package main

import (
	"math"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/bench/onednn"
	"github.com/gofx-dev/gofx/bench/peak"
	"github.com/gofx-dev/gofx/bench/peers"
)

// TestMain serves as the process for oneDNN when it is started as such.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == peers.OneDNNArgument {
		if err := onednn.Serve(os.Stdin, os.Stdout); err != nil {
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func TestCasesAreNamedOnce(t *testing.T) {
	seen, count := map[string]bool{}, map[string]int{}
	for _, c := range groups() {
		name := c.Group + "/" + c.Shape
		require.False(t, seen[name], name)
		require.NotContains(t, c.Shape, " ", name)
		seen[name] = true
		count[c.Group]++
		if c.Train != nil {
			require.NotNil(t, c.Network, name)
			require.Len(t, c.Network.Inputs, 1, name)
			require.NotEmpty(t, c.Train.peer["network"], name)
			continue
		}
		if c.Network != nil {
			require.NotEmpty(t, c.Engines, name)
			continue
		}
		if c.Scale != nil {
			continue
		}
		if c.Group == resultGroup { // programs make their inputs, and some workloads are counted alone
			require.NotEqual(t, c.Ours == nil, c.Counts == nil, name)
			continue
		}
		require.NotEmpty(t, c.Inputs, name)
		require.NotNil(t, c.Ours, name)
		require.True(t, c.Op != "" || len(c.Graphs) > 0, name)
		require.Positive(t, c.Work.Flops+c.Work.Ops8+c.Work.Bytes, name)
	}
	for _, g := range []string{"gemm", "conv", "qgemm", "qconv", "qvector", "chain", "vector", "memory", "rnn", "attention", "model", "fold", "quant", "bf16", "step", "lazy", resultGroup, "graph"} {
		require.Positive(t, count[g], g)
	}
	require.Len(t, count, 18)
	require.Greater(t, count["conv"], 150)
}

func TestSelection(t *testing.T) {
	names := func(expression string) (n []string) {
		list, err := selected(expression)
		require.NoError(t, err)
		for _, c := range list {
			n = append(n, c.Group+"/"+c.Shape)
		}
		return n
	}
	require.Equal(t, []string{"gemm/1024x1024x1024", "gemm/packed_1024x1024x1024"}, names(`^gemm/(packed_)?1024x`))
	require.Len(t, names(`^conv/vgg16/`), 9)
	require.Len(t, names(`^qconv/resnet50/`), 23)
	require.Len(t, names(`^chain/(8|16|32)ops_n(1000|4000)$`), 6)
	_, err := selected("nothing like it")
	require.ErrorContains(t, err, "finds nothing")
	_, err = selected("(")
	require.Error(t, err)
}

func TestOperandsFollowFromTheFormula(t *testing.T) {
	in := peers.Tensor{Shape: []int{3, 5}, DType: "f32", Seed: 4, Scale: 0.5, Shift: 1}
	a := makeArray(in)
	require.Equal(t, []int{3, 5}, a.Shape())
	p := peers.Probe(a.Len(), func(i int) float64 { return array.Float64At(a, i) })
	require.Equal(t, float64(float32(in.At(14))), p[7])
	for i := range in.Len() {
		require.InDelta(t, 1, in.At(i), 0.5)
	}
	in.DType, in.Scale, in.Shift = "s8", 129, -64
	lo, hi := 1e9, -1e9
	in.Shape = []int{5000}
	for i := range in.Len() {
		lo, hi = min(lo, in.At(i)), max(hi, in.At(i))
	}
	require.Equal(t, -64.0, lo)
	require.Equal(t, 64.0, hi)
}

func TestDisagreement(t *testing.T) {
	c := &Case{Tol: 0.1}
	result := func(first, mean float64) []float64 { return []float64{first, 2, 2, 2, 2, 2, 2, 2, mean} }
	require.NoError(t, c.disagree("x", result(1, 2), result(1.1, 2)))
	require.ErrorContains(t, c.disagree("x", result(1, 2), result(1.3, 2)), "value 0 is 1, x has 1.3")
	require.Error(t, c.disagree("x", result(1, 2), result(math.NaN(), 2)))
	// Every result is judged by its own magnitude.
	both := func(second float64) []float64 { return append(result(1, 2), result(second, 0.5)...) }
	require.NoError(t, c.disagree("x", both(1), both(1.04)))
	require.ErrorContains(t, c.disagree("x", both(1), both(1.1)), "value 9")
	require.ErrorContains(t, c.disagree("x", both(1), result(1, 2)), "x has 1 results, expected 2")
	require.NoError(t, c.disagree("x", result(1, 2), both(1))) // of which one was asked for
	c.Tol = -1
	require.NoError(t, c.disagree("x", []float64{1}, []float64{7}))
}

// quickBench has the peers that are installed, and takes no time to measure.
func quickBench(t *testing.T, names []string) *bench {
	t.Helper()
	b := &bench{threads: 1, pairs: 1, window: time.Microsecond, limit: time.Second, turns: 10, dir: t.TempDir(), engines: true,
		spare:  math.Inf(1), // a busy machine charges a peer with more than it has used
		coarse: map[string]string{}, slow: map[string]float64{}, peaks: peak.Peaks{
			FMA: 1e11, Int8: 1e12, Add: 1e11, Div: 1e10, Bandwidth: []peak.Bandwidth{{Bytes: 1 << 20, Rate: 1e10}}}}
	t.Cleanup(b.stop)
	b.start(strings.Join(names, ","), "")
	return b
}

// TestSmallCasesAgreeWithThePeers runs one small case of every kind here and in
// each peer that is installed. Models that gofx encodes are read by ONNX Runtime.
func TestSmallCasesAgreeWithThePeers(t *testing.T) {
	b := quickBench(t, peers.Names)
	if len(b.procs) == 0 {
		t.Skip("nothing to compare with is installed; peers/install.sh does it")
	}
	row, err := b.precisely()
	require.NoError(t, err)
	require.Empty(t, b.coarse, row.Errors)
	require.Contains(t, row.Errors, "gofx")
	list, err := selected(`^(gemm/(packed_)?64x|gemm/bert_scores|gemm/mlp_1x|q?conv/c512_7x7_m512|conv/c960_7x7_m960_k5|` +
		`qgemm/64x|chain/.*n100$|vector/.*_4096|memory/(heads|transpose_1024|softmax_12x128|layer_norm_128)|` +
		`rnn/.*_b1$|attention/.*_128|model/mlp_b1)`)
	require.NoError(t, err)
	kinds := map[string]bool{}
	for _, c := range list {
		r, err := b.measure(c)
		require.NoError(t, err)
		require.Positive(t, r.OursMS, c.Shape)
		require.Positive(t, r.RoofShare+c.Work.Flops, c.Shape)
		if b.procs["torch"] != nil {
			require.Contains(t, r.Peers, "torch", c.Shape)
		}
		if b.procs["ort"] != nil && (len(c.Graphs) > 0 || c.Network != nil) {
			require.Contains(t, r.Peers, "ort", c.Shape)
		}
		if b.procs["onednn"] != nil && c.OneDNN {
			require.Contains(t, r.Peers, "onednn", c.Shape)
		}
		if c.Network != nil {
			require.Contains(t, r.Engines, "gen", c.Shape)
			require.Contains(t, r.Engines, "eager", c.Shape)
			for _, n := range []string{"openvino", "jax", "iree"} {
				if b.procs[n] != nil {
					require.Contains(t, r.Peers, n, c.Shape)
				}
			}
		}
		require.InDelta(t, r.OursMS/r.PeerMS, r.Ratio, 1e-9)
		kinds[c.Group] = true
	}
	require.Empty(t, b.failed)
	require.Len(t, kinds, 10)
}

func TestListNamesCases(t *testing.T) {
	var out strings.Builder
	failed, err := run(options{run: "^conv/c3_", list: true}, &out)
	require.NoError(t, err)
	require.False(t, failed)
	require.Regexp(t, regexp.MustCompile(`(?m)^conv/c3_224x224_m64_k7_s2_p3_g1 densenet121 resnet18 resnet50$`), out.String())
}

// TestRunWithoutPeers measures one product with nothing to compare with.
func TestRunWithoutPeers(t *testing.T) {
	var out strings.Builder
	failed, err := run(options{run: "^gemm/64x", threads: "1", json: true, pairs: 15, window: time.Microsecond, limit: time.Hour}, &out)
	require.NoError(t, err)
	require.False(t, failed)
	rows, err := readJSON[Row](strings.NewReader(out.String()))
	require.NoError(t, err)
	require.Len(t, rows, 1)
	require.Equal(t, 15, rows[0].Pairs)
	require.Positive(t, rows[0].GFlops)
	require.Positive(t, rows[0].PeakGFlops)
	require.NotContains(t, out.String(), "peer_ms")
	_, err = run(options{run: "^gemm/64x", threads: "0"}, &out)
	require.ErrorContains(t, err, "want numbers from 1")
	_, err = run(options{run: "^gemm/64x", threads: "1", beside: 1 << 20}, &out)
	require.ErrorContains(t, err, "processors")
}
