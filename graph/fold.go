package graph

import (
	"context"
	"errors"
	"slices"

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
func Fold[V any](ctx context.Context, graph *Graph, visit Visitor[V]) (out V, err error) {
	type held struct {
		v    V
		left int32 // uses to come
	}
	env := make(map[*Node]held, 64)
	var in []V
	for node := range graph.Nodes() {
		if err := ctx.Err(); err != nil {
			return out, node.context(diag.Stop(err))
		}
		clear(in) // a dropped value must not stay here
		in = in[:0]
		for i := range node.args {
			in = append(in, env[node.args[i].def].v)
		}
		v, err := visit(node, in)
		if err != nil {
			return out, node.context(err)
		}
		if node.opcode == Output {
			return v, nil
		}
		for i := range node.args {
			d := node.args[i].def
			if d == nil {
				continue
			}
			if d.nuses == 1 {
				delete(env, d)
			} else if h := env[d]; h.left == 1 {
				delete(env, d)
			} else {
				h.left--
				env[d] = h
			}
		}
		if node.nuses > 0 {
			env[node] = held{v, node.nuses}
		}
	}
	return out, diag.New(NoOutput, "graph "+graph.Name+" has no output node").WithHint("add one with Cursor.Output")
}

// stopped reports whether an error says that a context has ended.
func stopped(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// context adds the node to an error that does not name one, and what made it.
func (n *Node) context(err error) error {
	var list diag.List
	var coded *diag.Error
	if stopped(err) && !errors.As(err, &coded) {
		err = diag.Stop(err) // a visitor asked the context
	}
	list.Add(err)
	for i, e := range list {
		if e.Node == "" {
			c := *e
			c.Node = n.Name()
			if o := n.Op(); o != nil && c.Op == "" {
				c.Op = o.Name
			}
			e = c.At(n.Pos())
		}
		list[i] = n.withMaker(e)
	}
	if len(list) == 1 {
		return list[0]
	}
	return list
}

// withMaker says which pass made the node, where its side data do and the error is
// about the node.
func (n *Node) withMaker(e *diag.Error) *diag.Error {
	if n.extra == nil || e.Node != n.Name() {
		return e
	}
	for _, k := range n.extra.keys {
		if m, ok := k.v.(Maker); ok {
			c := *e
			c.Related = append(slices.Clip(c.Related), diag.Related{Pos: n.Pos(), Msg: n.String() + " was made by " + m.MadeBy()})
			return &c
		}
	}
	return e
}
