package counts

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/bench/nets"
	"github.com/gofx-dev/gofx/models"
)

// told are the counts of a workload, each name with all that it was told.
func told(t *testing.T, f func(Tell) error) map[string][]float64 {
	t.Helper()
	all := map[string][]float64{}
	require.NoError(t, f(func(name string, n float64) { all[name] = append(all[name], n) }))
	return all
}

func TestChains(t *testing.T) {
	require.Equal(t, map[string][]float64{"8 calls: graphs": {1}, "16 calls: graphs": {1}, "32 calls: graphs": {1},
		"calls of the longest": {8, 16, 32}, "compiled runs of 100": {97, 97, 97}}, told(t, Chains))
}

func TestFigures(t *testing.T) {
	require.Equal(t, map[string][]float64{"numbers: graphs": {3}, "updates: donated": {7}, "copied": {3}, "views: flushes": {1}}, told(t, Figures))
}

func TestNodes(t *testing.T) {
	require.Equal(t, map[string][]float64{"nodes, flat": {444}, "nodes, modules": {177}}, told(t, Nodes))
}

func TestFusion(t *testing.T) {
	require.Equal(t, map[string][]float64{"batch norms before": {53}, "batch norms after": {0}}, told(t, Fusion))
}

// The shares are those of the page's own rows.
func TestPrograms(t *testing.T) {
	all := told(t, Programs("../../docs"))
	static, records := 0.0, 0.0
	for _, class := range []string{"built-in", "effect", "object", "other"} {
		require.Len(t, all[class+": programs"], 1, class)
		static += all[class+": programs"][0]
		records += all[class+": records"][0]
	}
	require.GreaterOrEqual(t, static+all["dynamic: programs"][0], 150.0)
	require.Equal(t, []float64{100 * records / static}, all["percent of static programs"])
	require.Error(t, Programs(t.TempDir())(func(string, float64) {}))
}

func TestWorkers(t *testing.T) {
	all := told(t, Workers(1, 1))
	require.Equal(t, []float64{1}, all["first session: graphs"])
	require.Equal(t, []float64{1}, all["second session: graphs"])
	require.Equal(t, []float64{1, 1}, all["compiled"])
	require.Positive(t, all["steps of each by one alone"][0])
}

// A network with several results is one graph of a session whose steps end with a barrier.
func TestGraphs(t *testing.T) {
	list := nets.Papers()
	depth := *list[slices.IndexFunc(list, func(p nets.Paper) bool { return p.Model.Name == "monodepth" })].Model
	depth.Inputs = []models.InputSpec{{Name: "x", Type: "f32[N,3,32,32]", Rule: models.Uniform{}}}
	drop := list[slices.IndexFunc(list, func(p nets.Paper) bool { return p.Model.Name == "blockdrop" })]
	require.Equal(t, map[string][]float64{"monodepth: trace": {1}, "monodepth: session": {1}, "monodepth: records": {1}, "blockdrop: trace": {1}, "blockdrop: session": {1}, "blockdrop: records": {1},
		"hits": {1, 2}}, told(t, Graphs([]nets.Paper{{ID: "W24", Model: &depth}, drop})))
}
