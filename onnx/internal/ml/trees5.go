package ml

import (
	"math"
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/onnx/internal/rule"
	"github.com/gofx-dev/gofx/onnx/internal/spec"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/ml"
)

// The form of set 5: nodes with branches by their places, leaves by theirs.

// modes5 are the modes by their numbers; the last one, of members of a set, is not among them.
var modes5 = []string{"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"}

func treeEnsemble(c *rule.Call) []op.Value {
	names, transforms := []string{"AVERAGE", "SUM", "MIN", "MAX"}, []string{"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"}
	aggregate, transform, columns := c.Int("aggregate_function", 1), c.Int("post_transform", 0), c.Int("n_targets", 1)
	if aggregate < 0 || aggregate >= len(names) || transform < 0 || transform >= len(transforms) || columns < 1 || columns > mostColumns {
		panic(diag.New(spec.CodeModel, "aggregate_function is "+strconv.Itoa(aggregate)+", post_transform "+strconv.Itoa(transform)+" and n_targets "+strconv.Itoa(columns)+", expected numbers of ONNX's"))
	}
	x := features(c)
	d := x.Type().DType()
	if !d.IsFloat() {
		panic(diag.New(spec.CodeType, "the input is "+c.Type(0).String()+", expected floats"))
	}
	wide := array.F32
	if d == array.F64 {
		wide = array.F64
	}
	s := ensemble(c, placedForest(c, columns), to(c, wide, x), ml.TreeEnsembleAttrs{Targets: columns, Aggregate: aggregates[names[aggregate]]}, wide)
	return []op.Value{to(c, d, transformed(c, s, transforms[transform]))}
}

// leafKey names a leaf by its place.
type leafKey int

func (k leafKey) String() string { return "leaf " + strconv.Itoa(int(k)) }

// placedForest reads the lists of set 5.
func placedForest(c *rule.Call, columns int) *forest {
	features, roots := c.List("nodes_featureids"), c.List("tree_roots")
	yes, no, yesLeaf, noLeaf := c.List("nodes_truenodeids"), c.List("nodes_falsenodeids"), c.List("nodes_trueleafs"), c.List("nodes_falseleafs")
	splits, missing := tensorFloats(c, "nodes_splits"), c.List("nodes_missing_value_tracks_true")
	targets, weights := c.List("leaf_targetids"), tensorFloats(c, "leaf_weights")
	modes, members := tensorAttr(c, "nodes_modes"), tensorFloats(c, "membership_values")
	c.Ignore("nodes_hitrates")
	n := len(features)
	if modes == nil || modes.DType() != array.U8 || modes.Len() != n || n == 0 || n > mostNodes || len(roots) == 0 {
		panic(diag.New(spec.CodeModel, "there are "+strconv.Itoa(n)+" nodes and "+strconv.Itoa(len(roots))+" roots, and nodes_modes has other elements than one u8 for each node"))
	}
	counts := map[string]int{"nodes_truenodeids": len(yes), "nodes_falsenodeids": len(no), "nodes_trueleafs": len(yesLeaf), "nodes_falseleafs": len(noLeaf), "nodes_splits": len(splits)}
	if missing != nil {
		counts["nodes_missing_value_tracks_true"] = len(missing)
	}
	lengths(c, n, "nodes_featureids", counts)
	lengths(c, len(targets), "leaf_targetids", map[string]int{"leaf_weights": len(weights)})
	f := &forest{splits: make([]treeSplit, n)}
	for i := range targets {
		f.leaves = append(f.leaves, []entry{trainedEntry(c, targets[i], weights[i], columns, leafKey(i))})
	}
	branch := func(from, to, leaf int) int {
		limit := n
		if leaf != 0 {
			limit = len(targets)
		}
		if to < 0 || to >= limit {
			panic(diag.New(spec.CodeModel, "node "+strconv.Itoa(from)+" leads to "+strconv.Itoa(to)+" of "+strconv.Itoa(limit)+" nodes or leaves"))
		}
		if leaf != 0 {
			return -1 - to
		}
		return to
	}
	for i := range n {
		s := &f.splits[i]
		*s = treeSplit{feature: features[i], threshold: splits[i], tree: -1, node: i, yes: branch(i, yes[i], yesLeaf[i]), no: branch(i, no[i], noLeaf[i])}
		tracks := i < len(missing) && missing[i] != 0
		if m := int(array.Int64At(modes, i)); m != len(modes5) {
			mode := strconv.Itoa(m)
			if m >= 0 && m < len(modes5) {
				mode = modes5[m]
			}
			check(c, s, mode, tracks)
			continue
		}
		if members = f.member(c, i, members, tracks); len(f.splits) > mostNodes {
			panic(diag.New(spec.CodeModel, "sets of members make more than "+strconv.Itoa(mostNodes)+" nodes"))
		}
	}
	if len(members) > 0 {
		panic(diag.New(spec.CodeModel, "membership_values has more sets than nodes ask for"))
	}
	for _, r := range roots {
		if r < 0 || r >= n {
			panic(diag.New(spec.CodeModel, "tree_roots names node "+strconv.Itoa(r)+" of "+strconv.Itoa(n)))
		}
		f.roots = append(f.roots, r)
	}
	return f
}

// member makes comparisons with each of a set of one: the first set of the list, which
// ends with NaN. It returns the rest of the list.
func (f *forest) member(c *rule.Call, i int, list []float64, missing bool) []float64 {
	end := slices.IndexFunc(list, math.IsNaN)
	set, rest := list, []float64(nil)
	if end >= 0 {
		set, rest = list[:end], list[end+1:]
	}
	if len(set) == 0 {
		panic(diag.New(spec.CodeModel, f.splits[i].String()+" asks for members of a set that membership_values does not have"))
	}
	s := f.splits[i]
	no := s.no
	for k := len(set) - 1; k >= 0; k-- {
		t := s
		t.threshold, t.no = set[k], no
		check(c, &t, "BRANCH_EQ", missing && k == 0)
		if k == 0 {
			f.splits[i] = t
			break
		}
		no = len(f.splits)
		f.splits = append(f.splits, t)
	}
	return rest
}
