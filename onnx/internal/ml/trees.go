package ml

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/onnx/internal/modelfile"
	"github.com/gofx-dev/gofx/onnx/internal/rule"
	"github.com/gofx-dev/gofx/onnx/internal/spec"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/ml"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// Trees in either of ONNX's forms become a forest, and that the tables of ml.TreeEnsemble.
// A file may say anything: tables that are not a tree are refused, with the node.

// treeSplit is a node with two branches. A branch is the place of a node, or -1-l for leaf l.
type treeSplit struct {
	feature   int
	how       int32
	threshold float64
	yes, no   int
	tree      int // in the file, -1 where nodes have places for names
	node      int
}

// String names the node as the file does.
func (s *treeSplit) String() string {
	if s.tree < 0 {
		return "node " + strconv.Itoa(s.node)
	}
	return nodeKey{s.tree, s.node}.String()
}

// entry is the value that a leaf adds to a column.
type entry struct {
	column int
	weight float64
}

// forest is an ensemble as files have it.
type forest struct {
	splits []treeSplit
	roots  []int
	leaves [][]entry
}

// compared gives a node its comparison: those that are not in the tables are their
// opposites with branches exchanged, and NaN goes on as it did.
func (s *treeSplit) compared(mode string, missing bool) bool {
	exchange := true
	switch mode {
	case "BRANCH_LEQ":
		s.how, exchange = kernel.TreeAtMost, false
	case "BRANCH_LT":
		s.how, exchange = kernel.TreeLess, false
	case "BRANCH_EQ":
		s.how, exchange = kernel.TreeEqual, false
	case "BRANCH_GT":
		s.how = kernel.TreeAtMost
	case "BRANCH_GTE":
		s.how = kernel.TreeLess
	case "BRANCH_NEQ":
		s.how, missing = kernel.TreeEqual, true // NaN is not equal to anything
	default:
		return false
	}
	if exchange {
		s.yes, s.no, missing = s.no, s.yes, !missing
	}
	if missing {
		s.how |= kernel.TreeMissing
	}
	return true
}

// tables lays the nodes out so that children follow their parents, and refuses cycles.
// Nodes that no tree leads to are left out.
func (f *forest) tables() *ml.Tables {
	t := &ml.Tables{Starts: []int32{0}}
	state := make([]int8, len(f.splits)) // 1: on the way from a root, 2: done
	var order, way []int
	for _, root := range f.roots {
		if root < 0 || state[root] == 2 {
			continue
		}
		way = append(way, root)
		for len(way) > 0 {
			n := way[len(way)-1]
			if state[n] != 0 {
				if state[n] == 1 {
					state[n] = 2
					order = append(order, n)
				}
				way = way[:len(way)-1]
				continue
			}
			state[n] = 1
			for _, child := range []int{f.splits[n].no, f.splits[n].yes} {
				if child < 0 {
					continue
				}
				if state[child] == 1 {
					panic(diag.New(spec.CodeModel, f.splits[child].String()+" is below itself, expected trees"))
				}
				if state[child] == 0 {
					way = append(way, child)
				}
			}
		}
	}
	slices.Reverse(order)
	place := make([]int32, len(f.splits))
	for i, n := range order {
		place[n] = int32(i)
	}
	ref := func(n int) int32 {
		if n < 0 {
			return int32(n)
		}
		return place[n]
	}
	for _, n := range order {
		s := f.splits[n]
		t.Nodes = append(t.Nodes, int32(s.feature), s.how, ref(s.yes), ref(s.no))
		t.Thresholds = append(t.Thresholds, s.threshold)
	}
	for _, root := range f.roots {
		t.Roots = append(t.Roots, ref(root))
	}
	for _, l := range f.leaves {
		for _, e := range l {
			t.Columns, t.Weights = append(t.Columns, int32(e.column)), append(t.Weights, e.weight)
		}
		t.Starts = append(t.Starts, int32(len(t.Weights)))
	}
	return t
}

const (
	// mostNodes is the number of nodes that references of 32 bits can name.
	mostNodes = math.MaxInt32 / 4
	// mostColumns is how wide a row of results may be that a number in a file asks for.
	mostColumns = 1 << 20
)

// ensemble calls the operator on the features, in the type y.
func ensemble(c *rule.Call, f *forest, x op.Value, a ml.TreeEnsembleAttrs, y array.DType) op.Value {
	t := f.tables()
	if len(t.Thresholds) > mostNodes || len(t.Weights) > mostNodes || a.Targets < 1 || a.Targets > mostNodes {
		panic(diag.New(spec.CodeModel, "the trees have "+strconv.Itoa(len(t.Thresholds))+" nodes and "+strconv.Itoa(a.Targets)+" results, expected at most "+strconv.Itoa(mostNodes)))
	}
	if n, known := x.Type().Dim(1).Int(); known {
		for _, s := range f.splits {
			if s.feature >= n {
				panic(diag.New(spec.CodeModel, s.String()+" reads feature "+strconv.Itoa(s.feature)+", the input has "+strconv.Itoa(n)))
			}
		}
	}
	in := []op.Value{x}
	for i, table := range t.Arrays(x.Type().DType(), y) {
		in = append(in, tableOf(c, ml.TreeEnsemble.In[i+1].Name, table))
	}
	return c.Do(ml.TreeEnsemble, a, in...)
}

// compareType is the type in which features and thresholds are compared: integers as
// f32.
func compareType(c *rule.Call) (x op.Value, d array.DType) {
	x = features(c)
	numeric(c, x)
	if d = array.F32; x.Type().DType() == array.F64 {
		d = array.F64
	}
	return to(c, d, x), d
}

// A tree in the form of the first sets: nodes with numbers within their trees, leaves
// among them, and the leaves' values in lists of their own.

type nodeKey struct{ tree, node int }

func (k nodeKey) String() string {
	return "node " + strconv.Itoa(k.node) + " of tree " + strconv.Itoa(k.tree)
}

// nodeLists reads the nodes.
type nodeLists struct {
	*rule.Call
	places map[nodeKey]int // in the lists
	refs   []int           // by place: how branches name the node
	below  []bool          // by place: whether one does
}

// nodeForest reads the lists of nodes. results is the prefix of those of leaves.
func nodeForest(c *rule.Call, results string, columns int) *forest {
	trees, modes := c.List("nodes_treeids"), texts(c, "nodes_modes")
	ids, features := c.List("nodes_nodeids"), c.List("nodes_featureids")
	yes, no := c.List("nodes_truenodeids"), c.List("nodes_falsenodeids")
	values, missing := floatsOr(c, "nodes_values"), c.List("nodes_missing_value_tracks_true")
	c.Ignore("nodes_hitrates", "nodes_hitrates_as_tensor")
	n := len(trees)
	counts := map[string]int{"nodes_nodeids": len(ids), "nodes_featureids": len(features), "nodes_modes": len(modes), "nodes_truenodeids": len(yes), "nodes_falsenodeids": len(no), "nodes_values": len(values)}
	if missing != nil {
		counts["nodes_missing_value_tracks_true"] = len(missing)
	}
	lengths(c, n, "nodes_treeids", counts)
	if n == 0 || n > mostNodes {
		panic(diag.New(spec.CodeModel, "there are "+strconv.Itoa(n)+" nodes, expected 1 to "+strconv.Itoa(mostNodes)))
	}
	f := &forest{}
	l := nodeLists{Call: c, places: make(map[nodeKey]int, n), refs: make([]int, n), below: make([]bool, n)}
	for i := range n {
		k := nodeKey{trees[i], ids[i]}
		if _, twice := l.places[k]; twice {
			panic(diag.New(spec.CodeModel, k.String()+" is there twice"))
		}
		l.places[k] = i
		if modes[i] == "LEAF" {
			f.leaves = append(f.leaves, nil)
			l.refs[i] = -len(f.leaves)
			continue
		}
		l.refs[i] = len(f.splits)
		f.splits = append(f.splits, treeSplit{feature: features[i], threshold: values[i], tree: trees[i], node: ids[i]})
	}
	for i, ref := range l.refs {
		if ref < 0 {
			continue
		}
		s := &f.splits[ref]
		s.yes, s.no = l.branch(s, yes[i]), l.branch(s, no[i])
		check(c, s, modes[i], i < len(missing) && missing[i] != 0)
	}
	seen := map[int]bool{}
	for i, tree := range trees { // the first node of a tree is its root
		if seen[tree] {
			continue
		}
		seen[tree] = true
		if l.below[i] {
			panic(diag.New(spec.CodeModel, nodeKey{tree, ids[i]}.String()+" comes first in its tree and is below another node, expected the root").
				WithHint("write the nodes of each tree from the root on"))
		}
		f.roots = append(f.roots, l.refs[i])
	}
	l.entries(f, results, columns)
	return f
}

// branch is the node that another one leads to.
func (l nodeLists) branch(from *treeSplit, id int) int {
	at, ok := l.places[nodeKey{from.tree, id}]
	if !ok {
		panic(diag.New(spec.CodeModel, from.String()+" leads to node "+strconv.Itoa(id)+", which is not there"))
	}
	l.below[at] = true
	return l.refs[at]
}

// check gives a node its comparison and refuses data that no exporter writes.
func check(c *rule.Call, s *treeSplit, mode string, missing bool) {
	switch {
	case s.feature < 0 || s.feature > mostNodes:
		panic(diag.New(spec.CodeModel, s.String()+" reads feature "+strconv.Itoa(s.feature)+", expected 0 or more"))
	case math.IsNaN(s.threshold):
		panic(diag.New(spec.CodeModel, s.String()+" has NaN for a threshold, expected a number"))
	case !s.compared(mode, missing):
		panic(diag.New(spec.CodeModel, s.String()+" has the mode "+strconv.Quote(modelfile.Short(mode))+", which is not one of ONNX's"))
	}
}

// entries reads the values of leaves. Values at other nodes have no meaning, and exporters write
// them.
func (l nodeLists) entries(f *forest, results string, columns int) {
	c := l.Call
	trees, ids, at, w := c.List(results+"_treeids"), c.List(results+"_nodeids"), c.List(results+"_ids"), floatsOr(c, results+"_weights")
	lengths(c, len(trees), results+"_treeids", map[string]int{results + "_nodeids": len(ids), results + "_ids": len(at), results + "_weights": len(w)})
	for i := range trees {
		k := nodeKey{trees[i], ids[i]}
		place, ok := l.places[k]
		if !ok {
			panic(diag.New(spec.CodeModel, results+"_nodeids names "+k.String()+", which is not there"))
		}
		if ref := l.refs[place]; ref < 0 {
			f.leaves[-1-ref] = append(f.leaves[-1-ref], trainedEntry(l.Call, at[i], w[i], columns, k))
		}
	}
}

func trainedEntry(c *rule.Call, column int, weight float64, columns int, at fmt.Stringer) entry {
	if column < 0 || column >= columns {
		panic(diag.New(spec.CodeModel, at.String()+" adds to result "+strconv.Itoa(column)+" of "+strconv.Itoa(columns)))
	}
	if math.IsNaN(weight) {
		panic(diag.New(spec.CodeModel, at.String()+" adds NaN, expected a number"))
	}
	return entry{column, weight}
}

// aggregates are the names in tables of those in files.
var aggregates = map[string]string{"SUM": "", "AVERAGE": "average", "MIN": "min", "MAX": "max"}

// plusBase adds base_values, one for all columns or one for each.
func plusBase(c *rule.Call, s op.Value, base []float64, columns int) op.Value {
	if len(base) == 0 {
		return s
	}
	if len(base) != columns {
		panic(diag.New(spec.CodeModel, "base_values has "+strconv.Itoa(len(base))+" elements, expected "+strconv.Itoa(columns)))
	}
	return c.Do(std.Add, nil, s, vector(c, "base_values", s.Type().DType(), base))
}

func treeRegressor(c *rule.Call) []op.Value {
	transform, aggregate := transformOf(c), c.OneOf("aggregate_function", "SUM", "AVERAGE", "MIN", "MAX")
	columns := c.Int("n_targets", 1)
	if columns < 1 || columns > mostColumns {
		panic(diag.New(spec.CodeModel, "n_targets is "+strconv.Itoa(columns)+", expected 1 to "+strconv.Itoa(mostColumns)))
	}
	x, d := compareType(c)
	s := ensemble(c, nodeForest(c, "target", columns), x, ml.TreeEnsembleAttrs{Targets: columns, Aggregate: aggregates[aggregate]}, d)
	s = plusBase(c, s, floatsOr(c, "base_values"), columns)
	return []op.Value{transformed(c, to(c, array.F32, s), transform)}
}

// treeClassifier has a column for each class, or one for two classes.
func treeClassifier(c *rule.Call) []op.Value {
	transform, l, base := transformOf(c), classLabelsOf(c, "classlabels_int64s"), floatsOr(c, "base_values")
	if l.count < 2 || l.count > mostNodes {
		panic(diag.New(spec.CodeModel, "there are "+strconv.Itoa(l.count)+" class labels, expected 2 or more"))
	}
	x, d := compareType(c)
	f := nodeForest(c, "class", l.count)
	used := make([]bool, l.count)
	count, positive := 0, true
	for _, leaf := range f.leaves {
		for _, e := range leaf {
			if !used[e.column] {
				used[e.column] = true
				count++
			}
			positive = positive && e.weight >= 0
		}
	}
	if l.count == 2 && count == 1 {
		return oneColumn(c, f, x, d, l, transform, base, positive, used[1])
	}
	if l.count == 2 && len(base) > 0 {
		panic(diag.New(spec.CodeAttribute, "base_values of two classes with a column each are not supported: runtimes differ in what they mean").
			WithHint("add them to the leaves of a tree"))
	}
	s := plusBase(c, ensemble(c, f, x, ml.TreeEnsembleAttrs{Targets: l.count}, d), base, l.count)
	voted := s
	if l.count > 2 && len(base) == 0 && !f.everyRow(l.count) { // a class that no leaf of a row names is not chosen
		had := ensemble(c, f.marks(), x, ml.TreeEnsembleAttrs{Targets: l.count, Aggregate: "max"}, array.F32)
		none := vector(c, "none", d, []float64{math.Inf(-1)})
		voted = c.Do(std.Where, nil, c.Do(std.Gt, std.BinaryAttrs{Other: op.Float(0)}, had), s, none)
	}
	return []op.Value{labelled(c, top(c, voted), l), transformed(c, to(c, array.F32, s), transform)}
}

// oneColumn is a classifier of two classes that says of one of them how much: of the
// second one, whichever of the two the file names. Numbers that are all positive are probabilities.
func oneColumn(c *rule.Call, f *forest, x op.Value, d array.DType, l classLabels, transform string, base []float64, positive, second bool) []op.Value {
	for _, leaf := range f.leaves {
		for i := range leaf {
			leaf[i].column = 0
		}
	}
	s := ensemble(c, f, x, ml.TreeEnsembleAttrs{Targets: 1}, d)
	limit := 0.0
	if positive {
		limit = 0.5
	}
	if !second {
		s = plusBase(c, s, base, 1)
		return []op.Value{labelled(c, secondOf(c, s, limit), l), paired(c, to(c, array.F32, s), transform, positive)}
	}
	if len(base) > 0 {
		panic(diag.New(spec.CodeAttribute, "base_values with a column of the second class alone are not supported: runtimes differ in what they mean").
			WithHint("add them to the leaves of a tree"))
	}
	y := labelled(c, secondOf(c, s, limit), l)
	s = to(c, array.F32, s)
	both := c.Do(std.Pad, std.PadAttrs{Pad: shape.ConstDims(1, 0)}, s)
	return []op.Value{y, transformed(c, both, transform)}
}

// everyRow reports that no row can miss a column, or gain by missing it: each is named by
// all leaves of some tree, or all that leaves add is positive.
func (f *forest) everyRow(columns int) bool {
	positive := true
	for _, l := range f.leaves {
		for _, e := range l {
			positive = positive && e.weight > 0
		}
	}
	if positive {
		return true
	}
	always := make([]bool, columns)
	for _, root := range f.roots {
		for k := range f.always(root) {
			always[k] = true
		}
		if !slices.Contains(always, false) {
			return true
		}
	}
	return false
}

// always are the columns that every leaf below a node names.
func (f *forest) always(root int) map[int]bool {
	var common map[int]bool
	seen := map[int]bool{}
	for way := []int{root}; len(way) > 0; {
		n := way[len(way)-1]
		way = way[:len(way)-1]
		if seen[n] {
			continue
		}
		seen[n] = true
		if n >= 0 {
			way = append(way, f.splits[n].yes, f.splits[n].no)
			continue
		}
		here := map[int]bool{}
		for _, e := range f.leaves[-1-n] {
			if common == nil || common[e.column] {
				here[e.column] = true
			}
		}
		common = here
	}
	return common
}

// marks is the forest with 1 for all that leaves add.
func (f *forest) marks() *forest {
	g := &forest{splits: f.splits, roots: f.roots, leaves: make([][]entry, len(f.leaves))}
	for i, l := range f.leaves {
		for _, e := range l {
			g.leaves[i] = append(g.leaves[i], entry{e.column, 1})
		}
	}
	return g
}
