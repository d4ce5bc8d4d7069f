package form

import (
	"slices"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
)

// Exchanged returns n when it is a matrix with its axes exchanged.
func Exchanged(n *graph.Node) *graph.Node {
	if n == nil || n.Op() == nil || n.Op().ViewOf != 1 || n.NumArgs() != 1 || n.Arg(0).Type().Rank() != 2 {
		return nil
	}
	s, err := n.Op().Step(n.Attrs(), n.OperandTypes())
	if p, ok := s.(*kernel.Permute); err != nil || !ok || !slices.Equal(p.Dims, []int{1, 0}) {
		return nil
	}
	return n
}

// Recurrent are the operators whose states are quantised in each step, which no operator
// on floats shows: what they are in mode dynamic.
var Recurrent = map[*op.Op]*op.Op{std.Lstm: std.QLstm, std.Gru: std.QGru}

// OpName is how plans and reports name what a node calls: the operator, with its import
// path where it is a user's, or the opcode.
func OpName(n *graph.Node) string {
	if o := n.Op(); o != nil {
		return o.Key()
	}
	return n.Opcode().String()
}
