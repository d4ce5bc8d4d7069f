package xla_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/xla"
	"github.com/gofx-dev/gofx/lowering/xla/internal/stablehlo"
)

func layer(t *testing.T) *xla.Program {
	m, err := graph.Parse([]byte(`gofx 1
graph layer(%x: f32[8,24]) {
  %w = get_attr[fc.weight] : f32[12,24]
  %y = call_function[linear](%x, %w) : f32[8,12]
  return %y
}
param fc.weight : f32[12,24]
`), "layer.fx")
	require.NoError(t, err)
	p, err := xla.Emit(m, lowering.Options{})
	require.NoError(t, err)
	return p
}

// TestShardingsGiveTheMeshsParts: what the text says a partition has is what its place in the mesh
// says, on random meshes and splits; the text reads back as itself and mlir-opt takes it.
func TestShardingsGiveTheMeshsParts(t *testing.T) {
	p := layer(t)
	whole := p.String()
	r := rand.New(rand.NewPCG(1, 2))
	var texts []string
	cut := 0
	for range 300 {
		var mesh xla.Mesh
		for i := range 1 + r.IntN(3) {
			mesh = append(mesh, xla.Axis{Name: string(rune('a' + i)), Size: 1 + r.IntN(4)})
		}
		split := xla.Split{"", ""}
		for i, k := range r.Perm(len(mesh))[:r.IntN(min(len(mesh), 2)+1)] {
			split[(i+r.IntN(2))%2] = mesh[k].Name
		}
		q, err := p.Shard(xla.Layout{Mesh: mesh, Inputs: map[string]xla.Split{"x": split}})
		if err != nil { // 3 does not divide 8
			require.ErrorContains(t, err, "equal parts")
			continue
		}
		text := q.String()
		texts = append(texts, text)
		code, err := stablehlo.Parse(text)
		require.NoError(t, err, text)
		require.NoError(t, stablehlo.Verify(code))
		require.Equal(t, text, code.String())
		require.Equal(t, "{replicated}", code.Shardings[1])
		tiles, err := stablehlo.ParseSharding(code.Shardings[0])
		require.NoError(t, err)
		if tiles.Grid == nil {
			require.Equal(t, q.Inputs[0].Dims, q.Inputs[0].Local)
			continue
		}
		cut++
		checkParts(t, mesh, split, tiles, q.Inputs[0])
	}
	require.Greater(t, cut, 100)
	require.Equal(t, whole, p.String(), "the program itself stays")
	verifies(t, texts)
}

// checkParts compares the tile of each partition with its coordinates in the mesh.
func checkParts(t *testing.T, mesh xla.Mesh, split xla.Split, tiles stablehlo.Tiles, a xla.Argument) {
	n := mesh.Partitions()
	require.Len(t, tiles.Devices, n)
	copies := n
	for d, k := range tiles.Grid {
		require.Equal(t, a.Dims[d], k*a.Local[d])
		copies /= k
	}
	for place, device := range tiles.Devices {
		at := map[string]int{}
		rest := device
		for k := len(mesh) - 1; k >= 0; k-- {
			at[mesh[k].Name] = rest % mesh[k].Size
			rest /= mesh[k].Size
		}
		tile := place / copies
		for d := len(split) - 1; d >= 0; d-- {
			require.Equal(t, at[split[d]], tile%tiles.Grid[d], "%v %v: partition %d, dimension %d", mesh, split, device, d)
			tile /= tiles.Grid[d]
		}
	}
}

func TestShardRefuses(t *testing.T) {
	p := layer(t)
	mesh := xla.Mesh{{Name: "data", Size: 4}, {Name: "model", Size: 5}}
	in := func(s ...string) xla.Layout {
		return xla.Layout{Mesh: mesh, Inputs: map[string]xla.Split{"x": s}}
	}
	for _, c := range []struct {
		layout xla.Layout
		want   string
	}{
		{in("data"), "input x is f32[8,24]: the split has 1 dimensions"},
		{in("data", "data"), "axis data cuts two dimensions"},
		{in("", "model"), "dimension 1 has no 5 equal parts along model"},
		{in("pipe", ""), `the mesh has no axis "pipe"`},
		{xla.Layout{Mesh: mesh, Weights: map[string]xla.Split{"fc.bias": {"model"}}}, `the program has no weight "fc.bias"`},
		{xla.Layout{Mesh: xla.Mesh{{Name: "a", Size: 2}, {Name: "a", Size: 2}}}, `axis 1 of the mesh is named "a"`},
		{xla.Layout{Mesh: xla.Mesh{{Name: "a", Size: 1 << 20}, {Name: "b", Size: 1 << 62}}}, "axis b of the mesh has size"},
		{xla.Layout{Mesh: xla.Mesh{{Name: "a", Size: -1}}}, "axis a of the mesh has size -1"},
	} {
		_, err := p.Shard(c.layout)
		require.ErrorContains(t, err, c.want)
		require.ErrorContains(t, err, string(xla.BadSharding))
	}
}

// TestVerifyRefusesShardings shows that the verifier's check can fail.
func TestVerifyRefusesShardings(t *testing.T) {
	q, err := layer(t).Shard(xla.Layout{Mesh: xla.Mesh{{Name: "a", Size: 4}}, Inputs: map[string]xla.Split{"x": {"a", ""}}})
	require.NoError(t, err)
	good := "{devices=[4,1]<=[4]}"
	require.Contains(t, q.String(), good)
	for _, bad := range []string{"{devices=[3,1]<=[3]}", "{devices=[4]<=[4]}", "{devices=[1,5]<=[5]}", "{devices=[4,1]<=[2,2]T(0,0)}", "{devices=[2,1]<=[4]}", "{maximal}"} {
		code, err := stablehlo.Parse(strings.Replace(q.String(), good, bad, 1))
		require.NoError(t, err)
		require.Error(t, stablehlo.Verify(code), bad)
	}
}
