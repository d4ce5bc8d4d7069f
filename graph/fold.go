package graph

import (
	"context"
	"errors"

	"github.com/gofx-dev/gofx/diag"
)

// Visitor computes the value of one node from its operands' values; in has the
// zero V for absent operands and must not be kept.
type Visitor[V any] func(n *Node, in []V) (V, error)

// Fold visits the nodes in order and returns the value of the output node. It is
// how engines compute something of every node from what they computed of its
// operands: interpretation is the fold over tensors, transformation over nodes of
// another graph, lowering over buffers. Values are dropped after their last use.
// An error is given the node's position. When ctx ends, so does the fold, with
// diag.Stopped. Regions are not entered; a visitor folds them itself. What looks
// at nodes alone, as printers do, ranges over Nodes or All.
func Fold[V any](ctx context.Context, g *Graph, visit Visitor[V]) (out V, err error) {
	env := make(map[*Node]V, 64)
	left := make(map[*Node]int32, 64)
	var in []V
	for n := range g.Nodes() {
		if err := ctx.Err(); err != nil {
			return out, n.context(diag.Stop(err))
		}
		clear(in) // a dropped value must not stay here
		in = in[:0]
		for i := range n.args {
			in = append(in, env[n.args[i].def])
		}
		v, err := visit(n, in)
		if err != nil {
			return out, n.context(err)
		}
		if n.opcode == Output {
			return v, nil
		}
		for i := range n.args {
			d := n.args[i].def
			if d == nil {
				continue
			}
			if left[d]--; left[d] == 0 {
				delete(env, d)
				delete(left, d)
			}
		}
		if n.nuses > 0 {
			env[n], left[n] = v, n.nuses
		}
	}
	return out, diag.New(NoOutput, "graph "+g.Name+" has no output node").WithHint("add one with Cursor.Output")
}

// NoOutput is the code of a graph without an output node.
const NoOutput diag.Code = "FX3002"

// stopped reports whether an error says that a context has ended.
func stopped(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// context adds the node to an error that does not name one.
func (n *Node) context(err error) error {
	var l diag.List
	var coded *diag.Error
	if stopped(err) && !errors.As(err, &coded) {
		err = diag.Stop(err) // a visitor asked the context
	}
	l.Add(err)
	for i, e := range l {
		if e.Node == "" {
			c := *e
			c.Node = n.Name()
			if o := n.Op(); o != nil && c.Op == "" {
				c.Op = o.Name
			}
			l[i] = c.At(n.Pos())
		}
	}
	if len(l) == 1 {
		return l[0]
	}
	return l
}
