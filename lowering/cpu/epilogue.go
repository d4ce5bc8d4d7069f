package cpu

import (
	"iter"
	"math"
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op/expr"
	"github.com/gofx-dev/gofx/shape"
)

// epilogue is what follows a contraction in the same step: a scale and a bias for
// each channel, a residual, an activation that clamps, any function of one element, in
// this order, each at most once.
type epilogue struct {
	kernel.Epilogue
	bias, scale, residual *graph.Node
	channel               int  // axis, from the end
	biasOnly              bool // nothing else can be taken
	front                 bool // it is a prologue: no residual, and images may have factors of their own
	done                  stage
}

// stage is how far an epilogue has come.
type stage uint8

const (
	summed stage = iota
	scaled
	biased
	added
	activated
)

// begin starts the epilogue of a contraction, which may have a bias of its own.
func (e *epilogue) begin(n *graph.Node, c *contraction) {
	e.channel, e.biasOnly = c.channel, c.biasOnly
	if n.NumArgs() > 2 && n.Arg(2) != nil {
		e.bias, e.done = n.Arg(2), biased
	}
}

// take reports whether call u, the only user of v, is the epilogue's next part, and
// makes it that. What u computes is seen from its expression alone.
func (e *epilogue) take(u, v *graph.Node) bool {
	t := u.Type()
	if t.DType() != array.F32 || v.Type().DType() != array.F32 || !t.Dims().Same(v.Type().Dims()) {
		return false // 16-bit sums are rounded before they are used
	}
	b := expr.NewBuilder()
	var x, y expr.Value // v, and the other operand
	var other *graph.Node
	in := make([]expr.Value, u.NumArgs())
	for i, a := range u.Args() {
		switch {
		case a == v:
			x = b.Input(0, array.F32)
			in[i] = x
		case a != nil && other == nil && a.Type().Kind() == shape.Tensor && a.Type().DType() == array.F32 && a.Type().Ranked():
			other, y = a, b.Input(1, array.F32)
			in[i] = y
		case a != nil:
			return false
		}
	}
	own, err := u.Op().Expression(u.Attrs(), u.OperandTypes())
	if err != nil || len(own.Outs) != 1 {
		return false
	}
	if other == nil {
		return !e.biasOnly && e.clamp(own)
	}
	switch b.Inline(own, in)[0] {
	case b.Add(x, y), b.Add(y, x):
		return e.add(other, t)
	case b.Mul(x, y), b.Mul(y, x):
		if !e.biasOnly && e.done == summed && e.perChannel(other.Type(), t) {
			e.scale, e.done = other, scaled
			return true
		}
	}
	return false
}

// add takes a sum with another operand, a bias or a residual.
func (e *epilogue) add(other *graph.Node, t shape.Type) bool {
	switch {
	case e.done < biased && e.perChannel(other.Type(), t):
		e.bias, e.done = other, biased
	case !e.biasOnly && !e.front && e.done < added && other.Type().Dims().Same(t.Dims()):
		e.residual, e.done = other, added
	default:
		return false
	}
	return true
}

// perChannel reports whether a tensor has one element for each channel of t, at the
// place where it broadcasts to the channels.
func (e *epilogue) perChannel(other, t shape.Type) bool {
	for i := 1; i <= other.Rank(); i++ {
		if i > t.Rank() {
			return false
		}
		d := other.Dim(-i)
		if -i == e.channel {
			if !d.Equal(t.Dim(-i)) {
				return false
			}
		} else if !d.Is(1) && (!e.front || -i != e.channel-1 || !d.Equal(t.Dim(-i))) {
			return false
		}
	}
	return other.Rank() >= -e.channel
}

// clamp takes min(max(x, lo), hi), or one of the two.
func (e *epilogue) clamp(g expr.Graph) bool {
	if e.done == activated {
		return false
	}
	lo, hi := math.Inf(-1), math.Inf(1)
	at := g.Outs[0]
	bound := func(code kernel.Code, limit *float64) {
		n := g.Nodes[at]
		if n.Code != code || len(n.Args) != 2 {
			return
		}
		for i, a := range n.Args {
			if c := g.Nodes[a]; c.Code == kernel.OpConst {
				if v := math.Float32frombits(uint32(c.Imm)); v == v {
					*limit, at = float64(v), n.Args[1-i]
					return
				}
			}
		}
	}
	bound(kernel.OpMin, &hi)
	bound(kernel.OpMax, &lo)
	if g.Nodes[at].Code != kernel.OpInput || at == g.Outs[0] {
		return false
	}
	switch {
	case lo == 0 && math.IsInf(hi, 1):
		e.Act = kernel.ActReLU
	case lo == 0 && hi == 6:
		e.Act = kernel.ActReLU6
	default:
		e.Act, e.Lo, e.Hi = kernel.ActClamp, float32(lo), float32(hi)
	}
	e.done = activated
	return true
}

// tail takes the elementwise calls after a contraction and its epilogue, as many as are
// computed of its value alone and have one value that is used elsewhere: they are the
// epilogue's program.
func (f *grouping) tail(g *group) {
	v := g.last()
	if g.first.biasOnly || g.first.whole || v.Type().DType() != array.F32 {
		return // 16-bit sums are rounded before they are used
	}
	inside, run, whole := map[*graph.Node]bool{v: true}, []*graph.Node(nil), 0
	for len(run) < maxCalls {
		u := outside(inside, nil)
		if u == nil || !f.follows(u, v) || !within(inside, u) {
			break
		}
		inside[u] = true
		run = append(run, u)
		if outside(inside, u) == nil {
			whole = len(run)
		}
	}
	if run = run[:whole]; whole == 0 || f.continues(run[whole-1]) {
		return
	}
	if p := f.b.scalar(run); p != nil {
		g.end.Program = p
		g.nodes = append(g.nodes, run...)
		for _, n := range run {
			f.of[n] = g
		}
	}
}

// follows reports whether a call is elementwise, in no group, of the sizes of v, and may
// be computed where v is.
func (f *grouping) follows(u, v *graph.Node) bool {
	return f.of[u] == nil && f.Member(u) && f.Era[u] == f.Era[v] && u.Type().Dims().Same(v.Type().Dims())
}

// within reports whether a call reads values of a set alone.
func within(set map[*graph.Node]bool, u *graph.Node) bool {
	for a := range u.Inputs() {
		if !set[a] {
			return false
		}
	}
	return true
}

// outside returns the first call that uses a value of a set, other than the one of last,
// and is not in the set; nil for none.
func outside(set map[*graph.Node]bool, last *graph.Node) (u *graph.Node) {
	for n := range set {
		if n == last {
			continue
		}
		for user := range n.Users() {
			if !set[user] && (u == nil || user.Precedes(u)) {
				u = user
			}
		}
	}
	return u
}

// continues reports whether the only user of a call will be in an elementwise step, with
// other operands, or reduces what such a step computes: it computes the call on its way for
// less than an epilogue does.
func (f *grouping) continues(n *graph.Node) bool {
	if n.NumUses() != 1 {
		return false
	}
	u := first(n.Users())
	return f.follows(u, n) || f.reduced(u) != nil
}

// scalar returns the program of elementwise calls that make one f32 of one f32, wherever
// that lies; nil when they do not.
func (b *builder) scalar(nodes []*graph.Node) *kernel.Program {
	e, err := b.rules().Expression(nodes)
	if err != nil {
		return nil
	}
	p := e.Program()
	if !slices.Equal(p.Inputs, []array.DType{array.F32}) || !slices.Equal(p.Outputs, []array.DType{array.F32}) {
		return nil
	}
	for _, in := range p.Code {
		if in.Op == kernel.OpIndex || in.Op == kernel.OpCoord {
			return nil
		}
	}
	return &p
}

// first returns the first element of a sequence that is not empty.
func first[T any](seq iter.Seq[T]) (v T) {
	for v = range seq {
		break
	}
	return v
}
