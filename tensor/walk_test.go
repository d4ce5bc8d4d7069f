package tensor_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/tensor"
)

type leaf struct {
	Weight *tensor.Tensor
	Bias   *tensor.Tensor
	name   string
	hidden *tensor.Tensor
}

func (l *leaf) Forward(x *tensor.Tensor) *tensor.Tensor { return x.Linear(l.Weight, l.Bias) }

type norm struct {
	leaf
	RunningMean *tensor.Tensor `fx:",buffer"`
	NumBatches  int
}

type bundle struct{ W *tensor.Tensor } // no Forward: a struct, not a module

type network struct {
	Stem    leaf // shares the network's address
	Layers  []*leaf
	Heads   map[string]*leaf
	Pair    [2]*tensor.Tensor
	Any     any
	Norm1   *norm
	InProj  *tensor.Tensor `fx:"in_proj_weight"`
	Inner   bundle         `fx:"."`
	Skipped *leaf          `fx:"-"`
	State   bundle         `fx:"state,buffer"`
	Parent  *network
	Empty   *leaf
	Names   []string
}

func (n *network) Forward(x *tensor.Tensor) *tensor.Tensor { return n.Stem.Forward(x) }

func newLeaf() *leaf { return &leaf{Weight: vec(1), Bias: nil, name: "leaf", hidden: vec(2)} }

type found struct {
	Path, Selector string
	Module, Buffer bool
}

func walkAll(root any) []found {
	var all []found
	tensor.Walk(root, func(i tensor.Item) bool {
		all = append(all, found{i.Path, i.Selector, i.Module != nil, i.Buffer})
		return true
	})
	return all
}

func TestWalk(t *testing.T) {
	n := &network{Stem: *newLeaf(), Layers: []*leaf{newLeaf(), newLeaf()}, Heads: map[string]*leaf{"b": newLeaf(), "a": newLeaf()},
		Pair: [2]*tensor.Tensor{vec(1), vec(2)}, Any: newLeaf(), Norm1: &norm{leaf: *newLeaf(), RunningMean: vec(0)},
		InProj: vec(1), Inner: bundle{vec(1)}, Skipped: newLeaf(), State: bundle{vec(1)}}
	n.Parent = n
	want := []found{
		{"", "", true, false},
		{"stem", ".Stem", true, false},
		{"stem.weight", ".Stem.Weight", false, false},
		{"stem.hidden", ".Stem.hidden", false, false},
		{"layers.0", ".Layers[0]", true, false},
		{"layers.0.weight", ".Layers[0].Weight", false, false},
		{"layers.0.hidden", ".Layers[0].hidden", false, false},
		{"layers.1", ".Layers[1]", true, false},
		{"layers.1.weight", ".Layers[1].Weight", false, false},
		{"layers.1.hidden", ".Layers[1].hidden", false, false},
		{"heads.a", `.Heads["a"]`, true, false},
		{"heads.a.weight", `.Heads["a"].Weight`, false, false},
		{"heads.a.hidden", `.Heads["a"].hidden`, false, false},
		{"heads.b", `.Heads["b"]`, true, false},
		{"heads.b.weight", `.Heads["b"].Weight`, false, false},
		{"heads.b.hidden", `.Heads["b"].hidden`, false, false},
		{"pair.0", ".Pair[0]", false, false},
		{"pair.1", ".Pair[1]", false, false},
		{"any", ".Any", true, false},
		{"any.weight", ".Any.Weight", false, false},
		{"any.hidden", ".Any.hidden", false, false},
		{"norm1", ".Norm1", true, false},
		{"norm1.weight", ".Norm1.Weight", false, false},
		{"norm1.hidden", ".Norm1.hidden", false, false},
		{"norm1.running_mean", ".Norm1.RunningMean", false, true},
		{"in_proj_weight", ".InProj", false, false},
		{"w", ".Inner.W", false, false},
		{"state.w", ".State.W", false, true},
	}
	require.Empty(t, cmp.Diff(want, walkAll(n)))
}

func TestWalkStopsWhereTold(t *testing.T) {
	n := &network{Stem: *newLeaf(), Layers: []*leaf{newLeaf()}}
	var paths []string
	tensor.Walk(n, func(i tensor.Item) bool {
		paths = append(paths, i.Path)
		return i.Path == ""
	})
	require.Equal(t, []string{"", "stem", "layers.0"}, paths)
}

func TestWalkTiedWeights(t *testing.T) {
	shared := newLeaf()
	shared.hidden = nil
	alias := *shared.Weight // another handle of the same tensor
	n := &network{Stem: leaf{Weight: shared.Weight}, Layers: []*leaf{shared, shared, {Weight: &alias}}}
	ids := map[any][]string{}
	tensor.Walk(n, func(i tensor.Item) bool {
		if i.Tensor != nil {
			ids[i.Tensor.ID()] = append(ids[i.Tensor.ID()], i.Path)
		}
		return true
	})
	require.Equal(t, map[any][]string{
		shared.Weight.ID(): {"stem.weight", "layers.0.weight", "layers.1.weight", "layers.2.weight"},
	}, ids)
}

func TestModuleKey(t *testing.T) {
	n := &network{Stem: *newLeaf()}
	require.NotEqual(t, tensor.ModuleKey(n), tensor.ModuleKey(&n.Stem), "a first field shares its parent's address")
	require.Equal(t, tensor.ModuleKey(&n.Stem), tensor.ModuleKey(&n.Stem))
	require.NotEqual(t, tensor.ModuleKey(newLeaf()), tensor.ModuleKey(newLeaf()))
}

func TestWalkOddShapes(t *testing.T) {
	require.Equal(t, []found{{"weight", ".Weight", false, false}, {"hidden", ".hidden", false, false}}, walkAll(*newLeaf()), "a root given by value")
	require.Equal(t, []found{{"a.w", `["a"].W`, false, false}}, walkAll(map[string]bundle{"a": {vec(1)}}), "structs by value in a map")
	require.Equal(t, []found{{"0.w", "[0].W", false, false}}, walkAll([]any{bundle{vec(1)}, 3, nil}))
	require.Empty(t, walkAll(nil))
	require.Empty(t, walkAll(map[float64]*leaf{1: newLeaf()}), "keys must be strings or integers")
	require.Equal(t, []found{{"-1.w", "[-1].W", false, false}, {"9.w", "[9].W", false, false}, {"10.w", "[10].W", false, false}},
		walkAll(map[int]bundle{10: {vec(1)}, 9: {vec(1)}, -1: {vec(1)}}))

	type tree []tree
	require.Empty(t, walkAll(tree{{}, {}}))
	loop := []any{vec(1), nil}
	loop[1] = loop
	require.Equal(t, []found{{"0", "[0]", false, false}}, walkAll(loop))
	table := map[string]any{"x": vec(1)}
	table["self"] = table
	require.Equal(t, []found{{"x", `["x"]`, false, false}}, walkAll(table))
}

func TestFieldName(t *testing.T) {
	for in, want := range map[string]string{"Conv1": "conv1", "RunningMean": "running_mean", "InProj": "in_proj", "QKV": "qkv",
		"LayerNorm1": "layer_norm1", "W": "w", "FCOut": "fc_out", "Q_Proj": "q_proj", "": ""} {
		require.Equal(t, want, tensor.FieldName(in), in)
	}
}
