package recompute

import (
	"slices"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/grad"
)

// rewriting puts repeated calls into the backward half, each right before it is read for the
// first time.
type rewriting struct {
	*halves
	again  map[*graph.Node]bool
	copies map[*graph.Node]*graph.Node
	apart  map[*graph.Node]*graph.Node // barriers, by what they show
}

// rewrite has the backward half read repeated calls, and tells of each node that does. It returns
// how many calls are repeated.
func (h *halves) rewrite(again map[*graph.Node]bool, did func(user *graph.Node)) int {
	r := &rewriting{halves: h, again: again, copies: map[*graph.Node]*graph.Node{}, apart: map[*graph.Node]*graph.Node{}}
	for _, b := range h.back {
		changed := false
		for i, a := range b.Args() {
			if a != nil && again[a] {
				b.SetArg(i, r.repeat(a, b))
				changed = true
			}
		}
		if changed {
			did(b)
		}
	}
	return len(r.copies)
}

// repeat returns the repeated call of n, which is there before b, with what it is computed from.
func (r *rewriting) repeat(n, b *graph.Node) *graph.Node {
	if r.copies[n] == nil {
		needed := map[*graph.Node]bool{n: true}
		for list := []*graph.Node{n}; len(list) > 0; list = list[1:] {
			for a := range list[0].Inputs() {
				if r.again[a] && r.copies[a] == nil && !needed[a] {
					needed[a] = true
					list = append(list, a)
				}
			}
		}
		order := make([]*graph.Node, 0, len(needed))
		for a := range needed {
			order = append(order, a)
		}
		slices.SortFunc(order, func(a, b *graph.Node) int { return r.index[a] - r.index[b] })
		for _, a := range order {
			r.copies[a] = r.copy(a, b)
		}
	}
	return r.copies[n]
}

// copy calls the operator of n again before b.
func (r *rewriting) copy(n, b *graph.Node) *graph.Node {
	args, apart := n.Args(), false
	for i, a := range args {
		switch {
		case a == nil:
		case r.copies[a] != nil:
			args[i], apart = r.copies[a], true
		case !r.free(a):
			args[i], apart = r.barrier(a, b), true
		}
	}
	// What is computed of inputs and parameters alone is told from the first call by one of them.
	if i := slices.IndexFunc(args, func(a *graph.Node) bool { return a != nil }); !apart && i >= 0 {
		args[i] = r.barrier(args[i], b)
	}
	c := r.g.Before(b).From(n)
	var m *graph.Node
	if n.Opcode() == graph.CallMethod {
		m = c.Method(n.Op(), n.Attrs(), args...)
	} else {
		m = c.Function(n.Op(), n.Attrs(), args...)
	}
	return r.made(m, n)
}

// barrier shows a kept value to repeated calls.
func (r *rewriting) barrier(n, b *graph.Node) *graph.Node {
	if r.apart[n] == nil {
		r.apart[n] = r.made(r.g.Before(b).From(n).Function(std.Barrier, nil, n), n)
	}
	return r.apart[n]
}

// made ends a node that stands for n in the backward half.
func (r *rewriting) made(m, n *graph.Node) *graph.Node {
	passes.KeepType(m, n.Type())
	grad.Backward.Set(m, true)
	return m
}
