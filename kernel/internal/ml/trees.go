package ml

import (
	"math"
	"strconv"
	"unsafe"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/move"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// Values of a node's second number: how a feature is compared with the threshold, and,
// with TreeMissing added, that NaN goes to the branch where the comparison holds.
//
//gofx:kernel
const (
	TreeAtMost  = iota // feature <= threshold
	TreeLess           // feature < threshold
	TreeEqual          // feature == threshold
	TreeMissing = 4
)

// Trees adds up the values of the leaves that the rows of in[0] reach in decision
// trees.
//
// in[1] has four numbers (i32) for a node: the feature, how it is compared, and the two
// references to follow where the comparison holds and where it does not. A reference is
// the number of a node, greater than that of the node itself, or -1-l for leaf l. in[2]
// has the thresholds of the nodes, of the type of in[0]; in[3] the references that trees
// begin with. Leaf l holds the entries from in[4][l] to in[4][l+1]: column in[5][e] of
// the result and number in[6][e]. in[3] to in[5] are i32. Sums accumulate in float64.
//
// Aggregate is "" for sums, "average" (the sum divided by the number of trees), "min" or
// "max"; a column that no leaf of a row names is 0.
//
//gofx:kernel
type Trees struct{ Aggregate string }

// ScratchBytes implements Scratcher.
func (Trees) ScratchBytes(_, in []*array.Array) int {
	n := 0
	for _, a := range in {
		n += move.DenseBytes(a)
	}
	return n
}

// Cuts implements Cutter: rows are independent.
func (Trees) Cuts(out, in [][]int) []par.Cut { return par.Leading(1, out, in) }

// Run implements Step.
func (s Trees) Run(w *par.Workspace, out, in []*array.Array) {
	defer w.Release(w.Mark())
	x, o := in[0], out[0]
	if x.Rank() != 2 || o.Rank() != 2 || x.Dim(0) != o.Dim(0) || in[1].Rank() != 2 || in[1].Dim(1) != 4 || in[2].Len() != in[1].Dim(0) ||
		in[5].Len() != in[6].Len() || in[2].DType() != x.DType() || in[6].DType() != o.DType() {
		bad("the operands are " + array.Describe(x.DType(), x.Shape()) + " and nodes " + array.Describe(in[1].DType(), in[1].Shape()) + ", which do not belong together")
	}
	for _, a := range []*array.Array{in[1], in[3], in[4], in[5]} {
		if a.DType() != array.I32 {
			bad("a table is " + array.Describe(a.DType(), a.Shape()) + ", expected i32")
		}
	}
	f := forest{
		nodes: fours(move.RawDense[int32](w, in[1])), roots: move.RawDense[int32](w, in[3]),
		starts: move.RawDense[int32](w, in[4]), columns: move.RawDense[int32](w, in[5]), width: o.Dim(1), aggregate: aggregate(s.Aggregate),
	}
	switch {
	case x.DType() == array.F64 && o.DType() == array.F64:
		grow[float64, float64](w, f, out, in)
	case x.DType() == array.F64 && o.DType() == array.F32:
		grow[float64, float32](w, f, out, in)
	case x.DType() == array.F32 && o.DType() == array.F64:
		grow[float32, float64](w, f, out, in)
	case x.DType() == array.F32 && o.DType() == array.F32:
		grow[float32, float32](w, f, out, in)
	default:
		bad("the operand is " + array.Describe(x.DType(), x.Shape()) + " and the result " + array.Describe(o.DType(), o.Shape()) + ", expected f32 or f64")
	}
}

// fours is a table of rows of four.
func fours(x []int32) [][4]int32 {
	if len(x) < 4 {
		return nil
	}
	return unsafe.Slice((*[4]int32)(unsafe.Pointer(unsafe.SliceData(x))), len(x)/4)
}

func bad(msg string) { operand.BadOperand("tree_ensemble", msg) }

// forest are the tables that do not depend on types of floats.
type forest struct {
	nodes                  [][4]int32
	roots, starts, columns []int32
	width                  int
	aggregate              int
}

const (
	sum = iota
	average
	least
	most
)

func aggregate(name string) int {
	switch name {
	case "":
		return sum
	case "average":
		return average
	case "min":
		return least
	case "max":
		return most
	}
	bad("unknown aggregate " + name)
	return sum
}

func grow[T, R operand.Real](w *par.Workspace, f forest, out, in []*array.Array) {
	j := par.TakeJob[treeJob[T, R]](w)
	j.forest = f
	j.thresholds, j.weights = move.RawDense[T](w, in[2]), move.RawDense[R](w, in[6])
	j.x, j.out, j.features = move.RawDense[T](w, in[0]), move.RawOut[R](out[0]), in[0].Dim(1)
	rows := in[0].Dim(0)
	w.Parallel(rows, max(1, visits/max(len(f.roots), 1), rows/(parts*max(w.Threads, 1))), j)
	par.PutJob(w, j)
}

// treeJob computes rows.
type treeJob[T, R operand.Real] struct {
	forest
	x, thresholds []T
	weights, out  []R
	features      int
}

// Do implements par.Job.
func (j *treeJob[T, R]) Do(lo, hi int) {
	var acc [sums]float64
	width := min(max(j.width, 1), sums)
	rows := min(sums/width, blockRows)
	for ; lo < hi; lo += rows {
		rows = min(rows, hi-lo)
		for from := 0; from < j.width; from += width { // results wider than the sums take several passes
			n := min(width, j.width-from)
			j.block(acc[:rows*n], lo, rows, from, n)
		}
	}
}

// block computes n columns of some rows.
func (j *treeJob[T, R]) block(acc []float64, row, rows, from, n int) {
	first := 0.0
	if j.aggregate >= least {
		first = math.NaN()
	}
	for i := range acc {
		acc[i] = first
	}
	for _, root := range j.roots {
		for r := range rows {
			at := (row + r) * j.features
			row := j.x[at : at+j.features]
			l := leaf(j.nodes, j.thresholds, row, root)
			if l < 0 {
				j.explain(row, root)
			}
			j.add(acc[r*n:(r+1)*n], l, from)
		}
	}
	for r := range rows {
		dst := j.out[(row+r)*j.width+from:][:n]
		for i, v := range acc[r*n : (r+1)*n] {
			switch {
			case v != v && j.aggregate >= least:
				v = 0
			case j.aggregate == average && len(j.roots) > 0:
				v /= float64(len(j.roots))
			}
			dst[i] = R(v)
		}
	}
}

// lost is the result of leaf for tables that are not trees.
const lost = -1

// leaf follows a row from a reference to a leaf. Which side it takes is computed and not
// branched on: nobody can foresee it, and the next rows begin while this one is on its way.
func leaf[T operand.Real](nodes [][4]int32, thresholds, row []T, ref int32) int {
	thresholds = thresholds[:len(nodes)]
	for ref >= 0 {
		if int(ref) >= len(nodes) {
			return lost
		}
		n := &nodes[ref]
		f := int(n[0])
		if uint(f) >= uint(len(row)) {
			return lost
		}
		v, t := row[f], thresholds[ref]
		side := 1
		if v <= t {
			side = 0
		}
		if v != v || n[1]&^TreeMissing != TreeAtMost {
			side = compared(v, t, n[1])
		}
		next := n[(2+side)&3]
		if uint32(next) <= uint32(ref) { // references to leaves are greater, without their sign
			return lost
		}
		ref = next
	}
	return -1 - int(ref)
}

// explain says why a row has lost its way: it goes it once more.
func (j *treeJob[T, R]) explain(row []T, ref int32) {
	for ref >= 0 {
		at := strconv.Itoa(int(ref))
		if int(ref) >= len(j.nodes) {
			bad("node " + at + " does not exist, there are " + strconv.Itoa(len(j.nodes)))
		}
		n := j.nodes[ref]
		if uint(n[0]) >= uint(len(row)) {
			bad("node " + at + " reads feature " + strconv.Itoa(int(n[0])) + " of " + strconv.Itoa(len(row)))
		}
		next := n[2+compared(row[n[0]], j.thresholds[ref], n[1])]
		if next >= 0 && next <= ref {
			bad("node " + at + " leads to node " + strconv.Itoa(int(next)) + ", expected one after it")
		}
		ref = next
	}
}

// compared is the side of NaN, and of nodes with other comparisons.
func compared[T operand.Real](v, t T, how int32) int {
	holds := v <= t
	switch how &^ TreeMissing {
	case TreeLess:
		holds = v < t
	case TreeEqual:
		holds = v == t
	}
	if holds || v != v && how&TreeMissing != 0 {
		return 0
	}
	return 1
}

// add puts a leaf's values for columns from on into sums.
func (j *treeJob[T, R]) add(acc []float64, leaf, from int) {
	if leaf+1 >= len(j.starts) {
		bad("leaf " + strconv.Itoa(leaf) + " does not exist")
	}
	lo, hi := int(j.starts[leaf]), int(j.starts[leaf+1])
	if lo < 0 || hi > len(j.weights) || lo > hi {
		bad("leaf " + strconv.Itoa(leaf) + " has the entries from " + strconv.Itoa(lo) + " to " + strconv.Itoa(hi) + " of " + strconv.Itoa(len(j.weights)))
	}
	columns := j.columns[lo:hi]
	for i, w := range j.weights[lo:hi] {
		k := int(columns[i])
		if uint(k) >= uint(j.width) {
			bad("leaf " + strconv.Itoa(leaf) + " adds to column " + strconv.Itoa(k) + " of " + strconv.Itoa(j.width))
		}
		if k -= from; uint(k) >= uint(len(acc)) {
			continue
		}
		v := float64(w)
		switch {
		case j.aggregate <= average:
			acc[k] += v
		case acc[k] != acc[k] || j.aggregate == least && v < acc[k] || j.aggregate == most && v > acc[k]:
			acc[k] = v
		}
	}
}
