package exporter

import (
	"strconv"

	"github.com/gofx-dev/gofx/array"
	pb "github.com/gofx-dev/gofx/internal/onnxpb"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/onnx/internal/spec"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/ml"
	"github.com/gofx-dev/gofx/op/std"
)

// exportML are the operators of classical machine learning. Coupled probabilities have no
// operator of their own in ONNX: SVMClassifier returns them in addition to its other
// results.
var exportML = map[*op.Op][]exportRule{
	ml.TreeEnsemble: by(exportTrees),
}

// mlVersion is the set of ai.onnx.ml that a graph needs, 0 where it has none of its operators.
func mlVersion(g *pb.Graph) (version int64) {
	for _, n := range g.Nodes {
		if n.Domain == spec.MLDomain {
			version = max(version, 3)
			if n.Op == "TreeEnsemble" {
				version = 5
			}
		}
		for _, a := range n.Attrs {
			if a.G != nil {
				version = max(version, mlVersion(a.G))
			}
		}
	}
	return version
}

// mixedTrees reports whether a graph has trees of both forms. The older one is not allowed
// together with the newer: a model has one set of the domain.
func mixedTrees(g *pb.Graph) bool { return mlVersion(g) == 5 && hasOldTrees(g) }

func hasOldTrees(g *pb.Graph) bool {
	for _, n := range g.Nodes {
		if n.Domain == spec.MLDomain && n.Op != "TreeEnsemble" {
			return true
		}
		for _, a := range n.Attrs {
			if a.G != nil && hasOldTrees(a.G) {
				return true
			}
		}
	}
	return false
}

// grove is a call of tree_ensemble whose tables are known.
type grove struct {
	*exportCall
	attrs                         ml.TreeEnsembleAttrs
	nodes, roots, starts, columns []int
	thresholds, weights           []float64
}

// exportTrees writes trees as attributes, which is where ONNX has them.
func exportTrees(c *exportCall, a ml.TreeEnsembleAttrs) op.Value {
	g := grove{exportCall: c, attrs: a}
	for i, in := range c.in[1:] {
		arr := in.(*exported).arr
		if arr == nil {
			decline("the " + ml.TreeEnsemble.In[i+1].Name + " of the trees must be parameters")
		}
	}
	ints := func(i int) []int {
		arr := c.in[i].(*exported).arr
		n := make([]int, arr.Len())
		for k := range n {
			n[k] = int(array.Int64At(arr, k))
		}
		return n
	}
	floats := func(i int) []float64 {
		arr := c.in[i].(*exported).arr
		f := make([]float64, arr.Len())
		for k := range f {
			f[k] = array.Float64At(arr, k)
		}
		return f
	}
	g.nodes, g.thresholds, g.roots, g.starts, g.columns, g.weights = ints(1), floats(2), ints(3), ints(4), ints(5), floats(6)
	if len(g.roots) == 0 {
		decline("there are no trees")
	}
	g.check()
	if c.typ.DType() == array.F64 || c.w.x.newTrees {
		return g.placed()
	}
	return g.listed()
}

// check refuses tables that are not trees, since others read the output.
func (g *grove) check() {
	ref := func(r, from int) {
		if r >= len(g.thresholds) || r >= 0 && r <= from || r < 0 && -1-r+1 >= len(g.starts) {
			decline("the tables are no trees: node " + strconv.Itoa(from) + " leads to " + strconv.Itoa(r))
		}
	}
	for i := range g.thresholds {
		ref(g.nodes[4*i+2], i)
		ref(g.nodes[4*i+3], i)
	}
	for _, r := range g.roots {
		ref(r, -1)
	}
	for i := range len(g.starts) - 1 {
		if lo, hi := g.starts[i], g.starts[i+1]; lo < 0 || hi < lo || hi > len(g.weights) {
			decline("the tables are no trees: leaf " + strconv.Itoa(i) + " has no entries of the list")
		}
	}
	for _, k := range g.columns {
		if k < 0 || k >= g.attrs.Targets {
			decline("the tables are no trees: column " + strconv.Itoa(k) + " of " + strconv.Itoa(g.attrs.Targets))
		}
	}
}

// howTo is the name of a node's comparison, by its number in set 5 and by its name before.
func (g *grove) howTo(node int) (mode int, name string, missing int) {
	h := g.nodes[4*node+1]
	if h&kernel.TreeMissing != 0 {
		missing = 1
	}
	switch h &^ kernel.TreeMissing {
	case kernel.TreeLess:
		return 1, "BRANCH_LT", missing
	case kernel.TreeEqual:
		return 4, "BRANCH_EQ", missing
	}
	return 0, "BRANCH_LEQ", missing
}

// mostWritten bounds the nodes written for trees in which several branches lead to one
// node, in addition to eight times the existing number of nodes.
const mostWritten = 1 << 20

// treeLists are the attributes of TreeEnsembleRegressor, one tree after the other.
type treeLists struct {
	trees, nodes, features, yes, no, missing []int
	values                                   []float64
	modes                                    []string
	leafTrees, leafNodes, leafColumns        []int
	leafWeights                              []float64
}

// listed writes TreeEnsembleRegressor, whose results are f32.
func (g *grove) listed() op.Value {
	var l treeLists
	for t, root := range g.roots {
		type placed struct{ ref, parent, side int }
		next := 0
		first := len(l.trees)
		for way := []placed{{root, -1, 0}}; len(way) > 0; {
			p := way[len(way)-1]
			way = way[:len(way)-1]
			id := next
			next++
			if len(l.trees) >= mostWritten+8*(len(g.thresholds)+len(g.starts)) {
				decline("the trees share more nodes than are written out")
			}
			if p.parent >= 0 {
				side := l.yes
				if p.side == 1 {
					side = l.no
				}
				side[first+p.parent] = id
			}
			l.trees, l.nodes, l.yes, l.no = append(l.trees, t), append(l.nodes, id), append(l.yes, 0), append(l.no, 0)
			if p.ref < 0 {
				l.features, l.values, l.modes, l.missing = append(l.features, 0), append(l.values, 0), append(l.modes, "LEAF"), append(l.missing, 0)
				leaf := -1 - p.ref
				for e := g.starts[leaf]; e < g.starts[leaf+1]; e++ {
					l.leafTrees, l.leafNodes = append(l.leafTrees, t), append(l.leafNodes, id)
					l.leafColumns, l.leafWeights = append(l.leafColumns, g.columns[e]), append(l.leafWeights, g.weights[e])
				}
				continue
			}
			_, name, missing := g.howTo(p.ref)
			l.features, l.values = append(l.features, g.nodes[4*p.ref]), append(l.values, g.thresholds[p.ref])
			l.modes, l.missing = append(l.modes, name), append(l.missing, missing)
			way = append(way, placed{g.nodes[4*p.ref+3], id, 1}, placed{g.nodes[4*p.ref+2], id, 0})
		}
	}
	x := g.in[0].(*exported)
	attrs := []*pb.Attr{attrInt("n_targets", g.attrs.Targets), attrText("aggregate_function", upperAggregate(g.attrs.Aggregate)),
		attrInts("nodes_treeids", l.trees...), attrInts("nodes_nodeids", l.nodes...), attrInts("nodes_featureids", l.features...), attrTexts("nodes_modes", l.modes),
		attrInts("nodes_truenodeids", l.yes...), attrInts("nodes_falsenodeids", l.no...), attrInts("nodes_missing_value_tracks_true", l.missing...),
		attrInts("target_treeids", l.leafTrees...), attrInts("target_nodeids", l.leafNodes...), attrInts("target_ids", l.leafColumns...)}
	if x.typ.DType() == array.F64 {
		attrs = append(attrs, attrTensor("nodes_values_as_tensor", vectorOf(array.F64, l.values)), attrTensor("target_weights_as_tensor", vectorOf(array.F64, l.leafWeights)))
	} else {
		attrs = append(attrs, attrFloats("nodes_values", l.values), attrFloats("target_weights", l.leafWeights))
	}
	v := g.w.emit("TreeEnsembleRegressor", g.typ, []op.Value{x}, attrs...)
	v.made.Domain = spec.MLDomain
	return v
}

// placed writes TreeEnsemble, whose operand and results are of one type. Its leaves have
// one number each: where ours have several, the trees come several times, with 0 or, for the
// least and the greatest, once more the first number for leaves that have fewer. An average
// is a sum then, divided by the trees there are.
func (g *grove) placed() op.Value {
	d := array.F32
	if g.typ.DType() == array.F64 || g.dtype(0) == array.F64 {
		d = array.F64
	}
	times := 0
	for l := range len(g.starts) - 1 {
		n := g.starts[l+1] - g.starts[l]
		times = max(times, n)
		if n == 0 && (g.attrs.Aggregate == "min" || g.attrs.Aggregate == "max") {
			decline("leaves without numbers have no least and greatest in the form of set 5")
		}
	}
	var features, yes, no, yesLeaf, noLeaf, missing, roots, targets []int
	var modes []byte
	var splits, weights []float64
	side := func(r, node0, leaf0 int) (int, int) {
		if r < 0 {
			return leaf0 - 1 - r, 1
		}
		return node0 + r, 0
	}
	for k := range max(times, 1) {
		node0, leaf0 := len(features), len(targets)
		if most := mostWritten + 8*(len(g.thresholds)+len(g.starts)); node0 > most || leaf0 > most {
			decline("leaves have more numbers than trees are written for")
		}
		for i := range g.thresholds {
			m, _, miss := g.howTo(i)
			y, yl := side(g.nodes[4*i+2], node0, leaf0)
			n, nl := side(g.nodes[4*i+3], node0, leaf0)
			features, splits, modes, missing = append(features, g.nodes[4*i]), append(splits, g.thresholds[i]), append(modes, byte(m)), append(missing, miss)
			yes, yesLeaf, no, noLeaf = append(yes, y), append(yesLeaf, yl), append(no, n), append(noLeaf, nl)
		}
		for l := range len(g.starts) - 1 {
			column, weight := 0, 0.0
			switch e := g.starts[l] + k; {
			case e < g.starts[l+1]:
				column, weight = g.columns[e], g.weights[e]
			case g.attrs.Aggregate == "min" || g.attrs.Aggregate == "max":
				column, weight = g.columns[g.starts[l]], g.weights[g.starts[l]]
			}
			targets, weights = append(targets, column), append(weights, weight)
		}
		for _, r := range g.roots {
			at, isLeaf := side(r, node0, leaf0)
			if isLeaf == 1 { // a tree that is a leaf is a node with that on both sides
				features, splits, modes, missing = append(features, 0), append(splits, 0), append(modes, 0), append(missing, 0)
				yes, yesLeaf, no, noLeaf = append(yes, at), append(yesLeaf, 1), append(no, at), append(noLeaf, 1)
				at = len(features) - 1
			}
			roots = append(roots, at)
		}
	}
	aggregate := map[string]int{"": 1, "average": 1, "min": 2, "max": 3}[g.attrs.Aggregate]
	how := array.New(array.U8, len(modes))
	copy(array.Data[uint8](how), modes)
	v := g.w.emit("TreeEnsemble", g.typ.WithDType(d), []op.Value{g.cast(g.in[0], d)}, attrInt("n_targets", g.attrs.Targets),
		attrInt("aggregate_function", aggregate), attrInts("tree_roots", roots...), attrInts("nodes_featureids", features...),
		attrTensor("nodes_modes", how), attrTensor("nodes_splits", vectorOf(d, splits)), attrInts("nodes_missing_value_tracks_true", missing...),
		attrInts("nodes_truenodeids", yes...), attrInts("nodes_trueleafs", yesLeaf...), attrInts("nodes_falsenodeids", no...), attrInts("nodes_falseleafs", noLeaf...),
		attrInts("leaf_targetids", targets...), attrTensor("leaf_weights", vectorOf(d, weights)))
	v.made.Domain = spec.MLDomain
	var y op.Value = v
	if g.attrs.Aggregate == "average" {
		y = g.do(std.Div, std.DivAttrs{Other: op.Float(float64(len(g.roots)))}, y)
	}
	return g.cast(y, g.typ.DType())
}

func upperAggregate(name string) string {
	return map[string]string{"": "SUM", "average": "AVERAGE", "min": "MIN", "max": "MAX"}[name]
}

func vectorOf(d array.DType, f []float64) *array.Array {
	a := array.New(d, len(f))
	for i, v := range f {
		array.SetFloat64At(a, i, v)
	}
	return a
}
