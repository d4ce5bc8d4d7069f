package tracer_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

// scopes lists the calls of a captured program and the paths of their scopes.
func scopes(t *testing.T, fn any, opts ...fx.Option) string {
	t.Helper()
	gm, err := fx.Trace(ctx, fn, append([]fx.Option{fx.Input("x", "f32[N,2]")}, opts...)...)
	require.NoError(t, err)
	var out []string
	for n := range gm.Graph.All() {
		switch name := n.Target(); n.Opcode() {
		case graph.CallFunction, graph.CallMethod:
			name = n.Op().Name
			fallthrough
		case graph.CallModule:
			out = append(out, name+"@"+n.Scope().Path)
		}
	}
	return strings.Join(out, " ")
}

// requireAtMost checks that each call has the scope that it has in want, or that of a module
// around it: how much is known depends on what the compiler keeps on the stack.
func requireAtMost(t *testing.T, want, got string) {
	t.Helper()
	wanted, calls := strings.Fields(want), strings.Fields(got)
	require.Len(t, calls, len(wanted), got)
	for i, call := range calls {
		name, scope, _ := strings.Cut(call, "@")
		right, whole, _ := strings.Cut(wanted[i], "@")
		require.Equal(t, right, name)
		require.True(t, scope == "" || strings.HasPrefix(whole+".", scope+"."), "got %s, want %s", got, want)
	}
}

// dense has its receiver throughout.
type dense struct{ Fc *nn.Linear }

func newDense() *dense { return &dense{nn.NewLinear(2, 2)} }

func (m *dense) Forward(x *tensor.Tensor) *tensor.Tensor {
	x = x.Neg()
	return x.Add(m.Fc.Forward(x)).Abs()
}

// bare has no parameters.
type bare struct{ By float64 }

func (m *bare) Forward(x *tensor.Tensor) *tensor.Tensor { return x.Exp().MulScalar(m.By).Neg() }

// void has no size either, so that all of them may have one address.
type void struct{}

func (*void) Forward(x *tensor.Tensor) *tensor.Tensor { return x.Exp() }

type stack struct {
	Layers []*dense
	Mid    *bare
}

func (m *stack) Forward(x *tensor.Tensor) *tensor.Tensor {
	for _, l := range m.Layers {
		x = m.Mid.Forward(l.Forward(x))
	}
	return x.Sqrt()
}

const denseCalls = "neg@P P.fc@P add@P abs@P"

func denseAt(path string) string { return strings.ReplaceAll(denseCalls, "P", path) }

// One type, in a loop: the calls have one stack.
func TestScopes_loopOverOneType(t *testing.T) {
	m := &stack{[]*dense{newDense(), newDense(), newDense()}, &bare{2}}
	mid := " exp@mid mul@mid neg@mid "
	require.Equal(t, denseAt("layers.0")+mid+denseAt("layers.1")+mid+denseAt("layers.2")+mid+"sqrt@", scopes(t, m))
}

// Modules of a type without parameters, in a loop, are told apart as well.
func TestScopes_withoutParameters(t *testing.T) {
	m := &struct{ A []*bare }{[]*bare{{1}, {2}}}
	f := func(x *tensor.Tensor) *tensor.Tensor {
		for _, b := range m.A {
			x = b.Forward(x)
		}
		return x
	}
	require.Equal(t, "exp@a.0 mul@a.0 neg@a.0 exp@a.1 mul@a.1 neg@a.1", scopes(t, f, fx.Root(m)))
}

func TestScopes_withoutSize(t *testing.T) {
	m := &struct{ A, B *void }{&void{}, &void{}}
	requireAtMost(t, "exp@a exp@b", scopes(t, func(x *tensor.Tensor) *tensor.Tensor { return m.B.Forward(m.A.Forward(x)) }, fx.Root(m)))
}

// once uses its receiver first of all: it is not kept.
type once struct{ Fc *nn.Linear }

func (m *once) Forward(x *tensor.Tensor) *tensor.Tensor { return m.Fc.Forward(x).Abs() }

// What a call uses tells whose it is; another call in the same place may be of any module.
func TestScopes_lostReceivers(t *testing.T) {
	m := &struct{ A, B *once }{&once{nn.NewLinear(2, 2)}, &once{nn.NewLinear(2, 2)}}
	f := func(x *tensor.Tensor) *tensor.Tensor {
		for _, o := range []*once{m.A, m.B} {
			x = o.Forward(x)
		}
		return x
	}
	got := scopes(t, f, fx.Root(m))
	requireAtMost(t, "a.fc@a abs@a b.fc@b abs@b", got)
	require.Contains(t, got, "a.fc@a")
	require.Contains(t, got, "b.fc@b")
	m.B.Fc = m.A.Fc // the leaf is both modules'
	requireAtMost(t, "a.fc@a abs@a a.fc@b abs@b", scopes(t, f, fx.Root(m)))
}

type gated struct {
	*dense
	Gate *nn.Linear
}

type outer struct {
	*dense
	Gate *nn.Linear
}

func (m *outer) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.dense.Forward(x).Mul(m.Gate.Forward(x))
}

// An embedded module is part of the one around it.
func TestScopes_embedded(t *testing.T) {
	m := &struct {
		A *gated
		B *outer
	}{&gated{newDense(), nil}, &outer{newDense(), nn.NewLinear(2, 2)}}
	f := func(x *tensor.Tensor) *tensor.Tensor { return m.B.Forward(m.A.Forward(x)) }
	require.Equal(t, denseAt("a")+" "+denseAt("b")+" b.gate@b mul@b", scopes(t, f, fx.Root(m)))
	gm, err := fx.Trace(ctx, f, fx.Root(m))
	require.NoError(t, err)
	for n := range gm.Graph.Nodes() {
		require.NotContains(t, n.Scope().Type, "dense")
	}
}

// What two modules embed may run for either.
func TestScopes_embeddedTwice(t *testing.T) {
	d := newDense()
	m := &struct{ A, B *gated }{&gated{dense: d}, &gated{dense: d}}
	f := func(x *tensor.Tensor) *tensor.Tensor { return m.B.Forward(m.A.Forward(x)) }
	requireAtMost(t, denseAt("a")+" "+strings.ReplaceAll(denseAt("b"), "b.fc@", "a.fc@"), scopes(t, f, fx.Root(m)))
}

// links holds another one, and moves on to it without a call.
type links struct {
	Fc   *nn.Linear
	Next *links
}

func (m *links) Forward(x *tensor.Tensor) *tensor.Tensor {
	for ; m != nil; m = m.Next {
		x = m.Fc.Forward(x.Neg()).Abs()
	}
	return x
}

func TestScopes_receiverMovesOn(t *testing.T) {
	m := &struct{ Head *links }{&links{nn.NewLinear(2, 2), &links{nn.NewLinear(2, 2), nil}}}
	got := scopes(t, func(x *tensor.Tensor) *tensor.Tensor { return m.Head.Forward(x) }, fx.Root(m))
	requireAtMost(t, "neg@head head.fc@head abs@head neg@head head.next.fc@head abs@head", got)
}

// twig calls itself.
type twig struct {
	Fc          *nn.Linear
	Left, Right *twig
}

func (m *twig) Forward(x *tensor.Tensor) *tensor.Tensor {
	if m.Left == nil {
		return m.Fc.Forward(x).Abs()
	}
	return m.Left.Forward(x).Add(m.Right.Forward(x)).Add(m.Fc.Forward(x))
}

func TestScopes_recursion(t *testing.T) {
	leaf := func() *twig { return &twig{Fc: nn.NewLinear(2, 2)} }
	m := &struct{ Tree *twig }{&twig{nn.NewLinear(2, 2), leaf(), leaf()}}
	got := scopes(t, func(x *tensor.Tensor) *tensor.Tensor { return m.Tree.Forward(x) }, fx.Root(m))
	requireAtMost(t, "tree.left.fc@tree.left abs@tree.left tree.right.fc@tree.right abs@tree.right add@tree tree.fc@tree add@tree", got)
}

// A closure runs where it is called, not where it was made.
type lazy struct{ Fc *nn.Linear }

func (m *lazy) Forward(x *tensor.Tensor) *tensor.Tensor { return m.later()(x) }

func (m *lazy) later() func(*tensor.Tensor) *tensor.Tensor {
	return func(x *tensor.Tensor) *tensor.Tensor { return m.Fc.Forward(x.Neg()).Abs() }
}

func TestScopes_closures(t *testing.T) {
	m := &struct {
		A *lazy
		B *dense
	}{&lazy{nn.NewLinear(2, 2)}, newDense()}
	var kept func(*tensor.Tensor) *tensor.Tensor
	f := func(x *tensor.Tensor) *tensor.Tensor {
		kept = m.A.later()
		return kept(m.B.Forward(x))
	}
	require.Equal(t, denseAt("b")+" neg@ a.fc@ abs@", scopes(t, f, fx.Root(m)), "no Forward runs")
}

// generic is a module of a generic type, whose receiver stacks do not show.
type generic[E any] struct {
	Fc *nn.Linear
	E  E
}

func (m *generic[E]) Forward(x *tensor.Tensor) *tensor.Tensor {
	return x.Add(m.Fc.Forward(x.Neg())).Abs()
}

func TestScopes_generic(t *testing.T) {
	m := &struct {
		A []*generic[int]
		B *generic[string]
	}{[]*generic[int]{{nn.NewLinear(2, 2), 1}, {nn.NewLinear(2, 2), 2}}, &generic[string]{nn.NewLinear(2, 2), ""}}
	f := func(x *tensor.Tensor) *tensor.Tensor {
		for _, a := range m.A {
			x = a.Forward(x)
		}
		return m.B.Forward(x)
	}
	got := scopes(t, f, fx.Root(m))
	requireAtMost(t, "neg@a.0 a.0.fc@a.0 add@a.0 abs@a.0 neg@a.1 a.1.fc@a.1 add@a.1 abs@a.1 neg@b b.fc@b add@b abs@b", got)
	require.Contains(t, got, "a.1.fc@a.1")
}

// A module has its first path, as for nn.Run, and one that the root does not hold none,
// though it uses what the root holds.
func TestScopes_sharedAndForeign(t *testing.T) {
	d := newDense()
	m := &struct{ A, B *dense }{d, d}
	require.Equal(t, denseAt("a")+" "+denseAt("a"), scopes(t, func(x *tensor.Tensor) *tensor.Tensor { return m.B.Forward(m.A.Forward(x)) }, fx.Root(m)))
	foreign := func(x *tensor.Tensor) *tensor.Tensor {
		other := &dense{m.A.Fc}
		return other.Forward(x)
	}
	require.Equal(t, "neg@ a.fc@ add@ abs@", scopes(t, foreign, fx.Root(m)))
}

// plainValue has its methods on values.
type plainValue struct{ Fc *nn.Linear }

func (m plainValue) Forward(x *tensor.Tensor) *tensor.Tensor { return m.Fc.Forward(x.Neg()).Abs() }

func TestScopes_valueReceivers(t *testing.T) {
	m := &struct{ A, B plainValue }{plainValue{nn.NewLinear(2, 2)}, plainValue{nn.NewLinear(2, 2)}}
	got := scopes(t, func(x *tensor.Tensor) *tensor.Tensor { return m.B.Forward(m.A.Forward(x)) }, fx.Root(m))
	requireAtMost(t, "neg@a a.fc@a abs@a neg@b b.fc@b abs@b", got)
}

// What nn.Run told of stays, and calls inside it are told apart.
func TestScopes_explicit(t *testing.T) {
	m := &struct{ S, T *stack }{&stack{[]*dense{newDense()}, &bare{1}}, &stack{[]*dense{newDense()}, &bare{1}}}
	one := func(p string) string {
		return denseAt(p+".layers.0") + strings.ReplaceAll(" exp@P.mid mul@P.mid neg@P.mid sqrt@P", "P", p)
	}
	f := func(x *tensor.Tensor) *tensor.Tensor { return m.T.Forward(nn.Run(m.S, x)).Abs() }
	require.Equal(t, one("s")+" "+one("t")+" abs@", scopes(t, f, fx.Root(m)))
}

// guarded runs a module in a region.
type guarded struct{ Then, Else *dense }

func (m *guarded) Forward(x *tensor.Tensor) *tensor.Tensor {
	run := func(d *dense) func([]*tensor.Tensor) []*tensor.Tensor {
		return func(in []*tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{d.Forward(in[0])} }
	}
	return tensor.Cond(x.Sum().GtScalar(0), run(m.Then), run(m.Else), x)[0].Sqrt()
}

func TestScopes_regions(t *testing.T) {
	m := &struct{ G *guarded }{&guarded{newDense(), newDense()}}
	got := scopes(t, func(x *tensor.Tensor) *tensor.Tensor { return m.G.Forward(x).Neg() }, fx.Root(m))
	require.Contains(t, got, denseAt("g.then")+" "+denseAt("g.else"))
	require.Contains(t, got, "sum@g gt@g")
	require.Contains(t, got, "sqrt@g neg@")
}

// A goroutine has a stack of its own.
func TestScopes_goroutines(t *testing.T) {
	m := &struct{ A, B *dense }{newDense(), newDense()}
	f := func(x *tensor.Tensor) *tensor.Tensor {
		done := make(chan *tensor.Tensor)
		go func() { done <- m.B.Forward(x.Neg()) }()
		return m.A.Forward(<-done)
	}
	require.Equal(t, "neg@ "+denseAt("b")+" "+denseAt("a"), scopes(t, f, fx.Root(m)))
}

// Modules of the library that hold others are modules like a user's, in one another, too.
func TestScopes_containers(t *testing.T) {
	m := &struct{ Seq *nn.Sequential }{nn.NewSequential(newDense(), nn.NewSequential(nn.NewReLU(), nn.NewLinear(2, 2)))}
	f := func(x *tensor.Tensor) *tensor.Tensor { return m.Seq.Forward(x) }
	require.Equal(t, denseAt("seq.0")+" seq.1.0@seq.1 seq.1.1@seq.1", scopes(t, f, fx.Root(m)))
	all := func(any, string, bool) bool { return false }
	require.Equal(t, denseAtOps("seq.0")+" relu@seq.1 linear@seq.1", scopes(t, f, fx.Root(m), fx.Leaf(all)), "a leaf is no scope")
}

func denseAtOps(path string) string { return strings.ReplaceAll(denseAt(path), path+".fc@", "linear@") }

// A user's module that becomes a node is in the scope around it.
func TestScopes_userLeaves(t *testing.T) {
	m := &struct{ O *held }{&held{newDense()}}
	leaf := func(_ any, path string, library bool) bool { return library || path == "o.d" }
	f := func(x *tensor.Tensor) *tensor.Tensor { return m.O.Forward(x) }
	require.Equal(t, "neg@o o.d@o abs@o", scopes(t, f, fx.Root(m), fx.Leaf(leaf)))
}

type held struct{ D *dense }

func (m *held) Forward(x *tensor.Tensor) *tensor.Tensor {
	x = x.Neg()
	y := nn.Run(m.D, x)
	if m.D == nil {
		return y
	}
	return y.Abs()
}
