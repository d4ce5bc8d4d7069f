package tracer

import (
	"maps"
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/tensor"
)

// constantPath begins the path of a tensor that is part of no module.
const constantPath = "_tensor_constant"

// tensorsOf returns the tensors of a module by path.
func tensorsOf(root any) map[string]*tensor.Tensor {
	all := map[string]*tensor.Tensor{}
	tensor.Walk(root, func(it tensor.Item) bool {
		if it.Tensor != nil && all[it.Path] == nil {
			all[it.Path] = it.Tensor
		}
		return it.Tensor == nil
	})
	return all
}

// replaced reports fields of the root that hold another tensor than before the
// trace: the next call of the model would see it, a run of the graph does not. An
// eager tensor in a field that was nil is a value computed once and kept, which
// is no state, and so is one of the same bits.
func (t *trace) replaced() {
	if t.root == nil {
		return
	}
	after := tensorsOf(t.root)
	for _, path := range slices.Sorted(maps.Keys(after)) {
		x, old := after[path], t.before[path]
		switch {
		case old != nil && old.ID() == x.ID():
		case old == nil && !isProxy(x):
			t.grew = true
		case old != nil && !isProxy(x) && !isProxy(old) && array.Equal(x.Value().(*array.Array), old.Value().(*array.Array)):
			t.grew = true
		default:
			t.reportReplaced("the model puts a tensor into its field "+path+" while it is traced", x)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(t.before)) {
		if after[path] == nil {
			t.reportReplaced("the model takes the tensor out of its field "+path+" while it is traced", nil)
		}
	}
}

// isProxy reports whether a tensor stands for a traced value, of whichever trace.
func isProxy(x *tensor.Tensor) bool {
	_, eager := x.Value().(*array.Array)
	return !eager
}

func (t *trace) reportReplaced(msg string, x *tensor.Tensor) {
	e := &diag.Error{Code: Replaced, Msg: msg + ", which a run of the graph does not do",
		Hint: "return the tensor as a result and take it as an input, or write it to a buffer of the module with AssignInPlace"}
	if x != nil {
		if n := t.rec.Origin(x); n != nil {
			t.report(e.At(n.Pos()))
			return
		}
	}
	t.reportEntry(e)
}

func sameBound(a, b *graph.Bound) bool {
	if a.Op != b.Op || !a.Op.Codec().Equal(a.Attrs, b.Attrs) || len(a.Params) != len(b.Params) {
		return false
	}
	for i := range a.Params {
		if a.Params[i] != b.Params[i] {
			return false
		}
	}
	return true
}
