package shard_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/shard"
)

const open = `graph g(%x: f32[N,6] at "net.go:7:2", %z: f32[N,6], %q: f32[N], %any: f32[*]) {
  symbol N = dim(%x, 0)
  %w = get_attr[w] : f32[6]
  %a = call_function[add](%x, %w) : f32[N,6] at "net.go:9:4"
  %b = call_function[add](%a, %z) : f32[N,6]
  %s = call_function[split](%b) {sizes=[2,4], dim=1} : (f32[N,2], f32[N,4])
  %c = call_function[getitem](%s) {index=0} : f32[N,2]
  %d = call_function[sin](%any)
  return (%c, %q, %d)
}
param w : f32[6]
`

// messages are those of an error, in order.
func messages(err error) (list []string) {
	var l diag.List
	l.Add(err)
	for _, e := range l {
		list = append(list, e.Msg)
	}
	return list
}

// All mistakes that sizes do not decide are told at once, those of tensors at their lines.
func TestCheckTellsWhatSizesDoNotDecide(t *testing.T) {
	m := parsed(t, open)
	l := shard.Layout{
		Mesh: shard.Mesh{{Name: "data", Size: 2}, {Name: "model", Size: 4}},
		Inputs: map[string]shard.Split{
			"x": {"data"}, "z": {"pipe", "model"}, "q": {"data"}, "none": {"data"}, "any": {"data", "row", "data"}},
		Weights: map[string]shard.Split{"w": {"model"}, "v": nil},
		Values:  map[string]shard.Split{"a": {"model", "model"}, "s": {"data", ""}, "c": {"data", "model"}, "x": nil},
		Stored:  map[string]shard.Split{"w": {"", "data"}},
	}
	err := shard.Check(m, lowering.Options{}, l)
	require.ErrorIs(t, err, shard.BadLayout)
	require.ElementsMatch(t, []string{
		`the graph has no call "x"`,
		`the prepared graph has no input "none"`,
		`the prepared graph has no weight "v"`,
		"input x is f32[N,6]: the split has 1 dimensions",
		`input z is f32[N,6]: the mesh has no axis "pipe"`,
		"input z is f32[N,6]: dimension 1 has no 4 equal parts along model",
		`input any is f32[*]: the mesh has no axis "row"`,
		"input any is f32[*]: axis data cuts two dimensions",
		"weight w is f32[6], and stored: the split has 2 dimensions",
		"weight w is f32[6]: dimension 0 has no 4 equal parts along model",
		"value a is f32[N,6]: axis model cuts two dimensions",
		"value s is a tuple, which has no layout",
		"value c is f32[N,2]: dimension 1 has no 4 equal parts along model",
	}, messages(err))
	require.ErrorContains(t, err, "net.go:7:2: input x is")
	require.ErrorContains(t, err, "net.go:9:4: add: value a is")

	// of a mesh that is none, too
	l = shard.Layout{Mesh: shard.Mesh{{Name: "data", Size: 0}, {Name: "data", Size: 2}}, Inputs: map[string]shard.Split{"x": {"data", "row"}}}
	require.Equal(t, []string{"axis data of the mesh has size 0", `input x is f32[N,6]: the mesh has no axis "row"`}, messages(shard.Check(m, lowering.Options{}, l)))
}

// Layouts of the operands of a call that contradict each other do so for all sizes.
func TestCheckTellsContradictions(t *testing.T) {
	mesh := shard.Mesh{{Name: "data", Size: 2}, {Name: "model", Size: 2}}
	m := parsed(t, `graph g(%x: f32[N,6], %z: f32[N,6]) {
  symbol N = dim(%x, 0)
  %a = call_function[neg](%x) : f32[N,6]
  %b = call_function[add](%a, %z) : f32[N,6]
  return %b
}
`)
	near := shard.Layout{Mesh: mesh, Inputs: map[string]shard.Split{"z": {"model", ""}}, Values: map[string]shard.Split{"a": {"data", ""}}}
	far := shard.Layout{Mesh: mesh, Inputs: map[string]shard.Split{"z": {"model", ""}, "x": {"data", ""}}}
	four := lowering.Options{Shapes: map[string]int{"N": 4}}
	err := shard.Check(m, lowering.Options{}, near)
	require.ErrorIs(t, err, shard.Conflict)
	_, want := shard.Propagate(m, four, near)
	require.ErrorIs(t, want, shard.Conflict)
	require.Equal(t, messages(want), messages(err))
	// what follows from x is found with the sizes
	require.NoError(t, shard.Check(m, lowering.Options{}, far))
	_, err = shard.Propagate(m, four, far)
	require.ErrorIs(t, err, shard.Conflict)
	// the author decides
	near.Values["b"] = shard.Split{"data", ""}
	require.NoError(t, shard.Check(m, lowering.Options{}, near))
	_, err = shard.Propagate(m, four, near)
	require.NoError(t, err)
}

// What sizes decide, here equal parts of N, is no mistake yet.
func TestCheckLeavesSizesOpen(t *testing.T) {
	m := parsed(t, "graph g(%x: f32[N,M]) {\n  symbol N = dim(%x, 0)\n  symbol M = dim(%x, 1)\n  guard N % 5 == 0\n  %y = call_function[neg](%x) : f32[N,M]\n  return %y\n}\n")
	l := shard.Layout{Mesh: shard.Mesh{{Name: "data", Size: 3}}, Inputs: map[string]shard.Split{"x": {"data", ""}}}
	require.NoError(t, shard.Check(m, lowering.Options{}, l))
	pinned := lowering.Options{Shapes: map[string]int{"N": 10}}
	require.Equal(t, []string{"input x is f32[10,M]: dimension 0 has no 3 equal parts along data"}, messages(shard.Check(m, pinned, l)))
	pinned.Shapes["N"] = 15
	require.NoError(t, shard.Check(m, pinned, l))
	huge := shard.Layout{Mesh: shard.Mesh{{Name: "data", Size: 1 << 20}}, Inputs: map[string]shard.Split{"x": {"data", ""}}}
	require.NoError(t, shard.Check(m, lowering.Options{}, huge))
}
