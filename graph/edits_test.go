package graph

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// editor edits a graph at random, through methods alone, also in ways that break it.
type editor struct {
	t     *rapid.T
	g     *Graph
	nodes []*Node // some of them erased
	other *Graph  // to which nothing should be linked
}

func newEditor(t *rapid.T) *editor {
	e := &editor{t: t, g: New("g"), other: New("other")}
	m := NewModule(e.g)
	m.SetParam(Param{Path: "w", Type: shape.TensorType(array.F32, shape.ConstDims(2))})
	m.SetBound("act", Bound{Op: tNeg})
	x := e.g.At().Placeholder("x", shape.TensorType(array.F32, shape.Of(shape.Sym("N"))), nil)
	e.g.DefineSymbol("N", x, 0)
	y := e.g.At().Placeholder("y", x.Type(), nil)
	e.nodes = append(e.nodes, x, y, e.g.At().GetAttr("w"), e.g.At().Function(tNeg, nil, x), e.g.At().Module("act", y))
	e.nodes = append(e.nodes, e.region(x), e.call(x))
	e.nodes = append(e.nodes, e.g.At().Output(nil, x), e.other.At().Placeholder("z", x.Type(), nil))
	return e
}

// region makes a call of cond.
func (e *editor) region(x *Node) *Node {
	c := e.g.Before(e.g.Last())
	p := c.Function(tNonzero, nil, x) // of a wrong type
	var rs []*Graph
	for range 2 {
		r := e.g.NewRegion("")
		a := r.At().Placeholder("a", x.Type(), nil)
		r.At().Output(nil, r.At().Function(tNeg, nil, a))
		rs = append(rs, r)
	}
	c.OnError = func(error) {}
	return c.Region(op.Cond, nil, rs, p, x)
}

// call makes a sub-graph and a call of it.
func (e *editor) call(x *Node) *Node {
	sub := e.g.Module().NewSub("half")
	a := sub.At().Placeholder("a", x.Type(), nil)
	sub.DefineSymbol("N", a, 0)
	sub.At().Output(nil, sub.At().Function(tNeg, nil, a))
	c := e.g.At()
	c.OnError = func(error) {}
	return c.Function(op.Call, op.CallAttrs{Graph: sub.Name}, x)
}

// outline puts some nodes of a graph that is sound into a sub-graph.
func (e *editor) outline() {
	if Lint(e.g).Err() != nil {
		return
	}
	all := slices.Collect(e.g.Nodes())
	from := rapid.IntRange(0, len(all)-1).Draw(e.t, "from")
	if call, err := Outline("part", all[from:rapid.IntRange(from, len(all)).Draw(e.t, "to")]); err == nil {
		e.nodes = append(e.nodes, call)
	}
}

func (e *editor) pick(what string) *Node {
	return e.nodes[rapid.IntRange(0, len(e.nodes)-1).Draw(e.t, what)]
}

// inside returns a node of the graph, of a region or of a sub-graph.
func (e *editor) inside(what string) *Node {
	all := slices.Collect(e.g.Module().All())
	return all[rapid.IntRange(0, len(all)-1).Draw(e.t, what)]
}

func (e *editor) step() {
	n, v := e.inside("n"), e.pick("v")
	c := n.g.Before(n)
	c.OnError = func(error) {}
	switch rapid.IntRange(0, 19).Draw(e.t, "edit") {
	case 0:
		if v.g == n.g {
			e.nodes = append(e.nodes, c.Function(tAdd, nil, v, v))
		}
	case 1:
		e.nodes = append(e.nodes, c.Placeholder("p", shape.Type{}, nil))
	case 2, 3:
		if e.g.Len() > 1 {
			_ = n.g.Erase(n)
		}
	case 4, 5:
		if n.NumArgs() > 0 {
			n.SetArg(rapid.IntRange(0, n.NumArgs()-1).Draw(e.t, "i"), v)
		}
	case 6:
		n.ReplaceUses(v, nil)
	case 7:
		if v != n && v.g == n.g && !v.erased {
			n.g.unlink(n) // a move that breaks the order
			n.g.insert(n, v)
			n.changed()
		}
	case 8:
		n.SetType(shape.TensorType(array.F32, shape.Of(shape.Sym(rapid.SampledFrom([]string{"N", "M", "s0"}).Draw(e.t, "symbol")))))
	case 9:
		n.g.NewSymbol(n, 0)
	case 10:
		e.g.Module().SetParam(Param{Path: "w", Type: shape.Unranked(array.I64)})
	case 11:
		n.Rename("q")
	case 12:
		_ = n.Retype()
	case 13:
		if n.opcode == CallFunction {
			_ = n.SetAttrs(nil)
		}
	case 14:
		e.g.Require(shape.Equality(shape.Sym("N"), shape.Const(2)), n)
	case 15:
		e.nodes = append(e.nodes, e.g.At().Output(nil, e.nodes[0]))
	case 16:
		e.nodes = append(e.nodes, e.call(e.nodes[0]))
	case 17:
		e.g.Module().DropSubs()
	case 18:
		e.outline()
	case 19:
		if n.Callee() != nil && Lint(e.g).Err() == nil {
			_, _ = Inline(n)
		}
	}
}

func TestLinterFindsWhatLintFinds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := newEditor(t)
		l := NewLinter(e.g)
		defer l.Close()
		for range rapid.IntRange(1, 25).Draw(t, "edits") {
			e.step()
			if rapid.Bool().Draw(t, "check") {
				require.Equal(t, Lint(e.g), l.Check(), "%s", e.g)
			}
		}
		require.Equal(t, Lint(e.g), l.Check(), "%s", e.g)
	})
}

func TestLinterLooksAtWhatChanged(t *testing.T) {
	g := long(1000)
	l := NewLinter(g)
	require.Empty(t, l.Check())
	n := g.Find("neg_500")
	n.SetType(shape.Unranked(array.I64))
	require.Len(t, l.dirty, 2)
	require.Equal(t, Lint(g), l.Check())
	n.SetType(n.Arg(0).Type())
	require.Empty(t, l.Check())
	l.Close()
	n.SetType(shape.Unranked(array.I64))
	require.Empty(t, l.Check(), "it does not listen any more")
	l.Forget()
	require.Equal(t, Lint(g), l.Check())
}

func long(size int) *Graph {
	g := New("long")
	n := g.At().Placeholder("x", shape.TensorType(array.F32, shape.ConstDims(2)), nil)
	for range size {
		n = g.At().Function(tNeg, nil, n)
	}
	g.At().Output(nil, n)
	return g
}

func TestIndexFindsWhatAWalkFinds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := newEditor(t)
		x := NewIndex(e.g)
		defer x.Close()
		for range rapid.IntRange(1, 25).Draw(t, "edits") {
			e.step()
		}
		for _, o := range []*op.Op{tNeg, tAdd, op.Cond} {
			want := slices.DeleteFunc(slices.Collect(e.g.Nodes()), func(n *Node) bool { return n.Op() != o })
			require.True(t, slices.Equal(want, x.Calls(o)))
		}
		reads := slices.DeleteFunc(slices.Collect(e.g.Nodes()), func(n *Node) bool { return n.opcode != GetAttr || n.target != "w" })
		require.True(t, slices.Equal(reads, x.Targets(GetAttr, "w")))
		for n := range e.g.Nodes() {
			require.True(t, n == x.Named(n.Name()))
		}
		require.Len(t, x.names, e.g.Len())
	})
}

// TestEditIsAllOrNothing lets random edits fail and compares everything that can be
// printed, and the nodes themselves.
func TestEditIsAllOrNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := newEditor(t)
		for range rapid.IntRange(0, 5).Draw(t, "before") {
			e.step()
		}
		m := e.g.Module()
		text, nodes := Print(m, PrintOptions{}), slices.Collect(m.All())
		foreign := e.other.String()
		faults := Lint(e.g)
		l := NewLinter(e.g)
		defer l.Close()
		l.Check()
		x := NewIndex(e.g)
		defer x.Close()
		stop := errors.New("stop")
		require.ErrorIs(t, Edit(m, func(*Graph) error {
			for range rapid.IntRange(0, 10).Draw(t, "edits") {
				e.step()
			}
			m.SetParam(Param{Path: "v", Type: shape.Unranked(array.F32)})
			m.DropUnused()
			return stop
		}), stop)
		require.Equal(t, text, Print(m, PrintOptions{}))
		require.Equal(t, foreign, e.other.String())
		require.True(t, slices.Equal(nodes, slices.Collect(m.All())))
		require.Equal(t, faults, Lint(e.g))
		require.Equal(t, faults, l.Check())
		for n := range e.g.Nodes() {
			require.True(t, n == x.Named(n.Name()))
		}
		for range 3 {
			e.step() // goes on as if nothing had happened
		}
		require.Equal(t, Lint(e.g), l.Check())
	})
}

func TestEditFailures(t *testing.T) {
	m := parse(t, sound)
	text := m.String()
	var made *Node
	for code, edit := range map[diag.Code]func(g *Graph) error{
		EditBroke:    func(g *Graph) error { return g.Erase(g.Output()) },
		EditPanicked: func(g *Graph) error { g.Find("none").Rename("x"); return nil },
		EraseUsed:    func(g *Graph) error { return g.Erase(g.Find("b")) },
		op.BadAttr: func(g *Graph) error {
			made = g.Before(g.Output()).Function(tNeg, nil, g.Find("e"))
			g.At().Function(op.GetItem, op.GetItemAttrs{Index: 5}, g.Find("s"))
			return nil
		},
	} {
		err := Edit(m, edit)
		require.ErrorIs(t, err, code)
		require.Equal(t, text, m.String())
	}
	require.True(t, made.Erased())
	require.ErrorContains(t, Edit(m, func(*Graph) error { panic("oh") }), "edits_test.go")

	done := make(chan struct{})
	go func() { // what a failing test inside of an edit does
		defer close(done)
		_ = Edit(m, func(g *Graph) error {
			g.Output().Rename("gone")
			require.FailNow(failer{}, "")
			return nil
		})
	}()
	<-done
	require.Equal(t, text, m.String())
	require.NoError(t, Edit(m, func(g *Graph) error { g.Find("e").Rename("sum"); return nil }))
	require.NotNil(t, m.Graph.Find("sum"))
	require.ErrorIs(t, Edit(m, func(g *Graph) error {
		g.Find("sum").Rename("outer")
		require.Error(t, Edit(m, func(g *Graph) error { g.Find("outer").Rename("inner"); return errors.New("x") }))
		require.NotNil(t, g.Find("outer"))
		return g.Erase(g.Find("b"))
	}), EraseUsed)
	require.NotNil(t, m.Graph.Find("sum"))
}

type failer struct{}

func (failer) Errorf(string, ...any) {}
func (failer) FailNow()              { runtime.Goexit() }

// TestEditSavesAllFields holds the list of what a module is made of. Where a field is new,
// save and restore must take it back as well, if a method changes what it refers to.
func TestEditSavesAllFields(t *testing.T) {
	for v, want := range map[reflect.Type]string{
		reflect.TypeFor[Module]():      "Graph Type subs params byPath bounds byMod types answers version",
		reflect.TypeFor[Graph]():       "Name mod parent first last count names pos scopes symbols listeners slab edges typing own",
		reflect.TypeFor[Node]():        "g prev next order op attrs target args uses last typ extra base num nuses pos scope opcode erased",
		reflect.TypeFor[extra]():       "regions structure def live static keys",
		reflect.TypeFor[symbolTable](): "list byName notes guardTable",
		reflect.TypeFor[guardTable]():  "guards known solver wait version",
		reflect.TypeFor[Param]():       "Path Value Type Buffer Selector",
		reflect.TypeFor[Bound]():       "Op Attrs Params Names Type Selector",
	} {
		var have []string
		for i := range v.NumField() {
			have = append(have, v.Field(i).Name)
		}
		require.Equal(t, want, strings.Join(have, " "), v.Name())
	}
}

func TestOperandsByName(t *testing.T) {
	g := parse(t, sound).Graph
	lin := g.Find("b")
	require.True(t, lin.Operand("x") == g.Find("a") && lin.Operand("weight") == g.Find("w"))
	require.Nil(t, lin.Operand("bias"))
	require.Nil(t, lin.Operand("none"))
	require.Nil(t, g.Find("w").Operand("x"))
	require.True(t, g.Find("a").Operand("x") == g.Find("x"), "of a module's operator")
	require.Zero(t, lin.ReplaceInput(nil, g.Find("a")), "absent operands stay absent")
}

func TestIndexSeesWhatModulesDo(t *testing.T) {
	m := parse(t, sound)
	x := NewIndex(m.Graph)
	defer x.Close()
	require.Equal(t, []*Node{m.Graph.Find("a"), m.Graph.Find("b")}, x.Calls(tLinear))
	m.SetBound("fc", Bound{Op: tNeg})
	require.Equal(t, []*Node{m.Graph.Find("b")}, x.Calls(tLinear))
	require.Contains(t, x.Calls(tNeg), m.Graph.Find("a"))
}

func TestListeners(t *testing.T) {
	g := parse(t, sound).Graph
	var said []string
	say := func(what string) func(*Node) {
		return func(n *Node) { said = append(said, what+" "+n.Name()) }
	}
	stop := g.Listen(Listener{Created: say("created"), Erased: say("erased"), Changed: say("changed"),
		Replaced: func(old, by *Node) { said = append(said, fmt.Sprint(old, " by ", by)) }})
	n := g.After(g.Find("b")).Function(tNeg, nil, g.Find("b"))
	g.Find("b").ReplaceUses(n, func(u *Node) bool { return u != n })
	require.Equal(t, []string{"created neg", "changed c", "%b by %neg"}, said)
	said = nil
	r := g.Find("c").Regions()[0]
	r.Find("neg").Rename("minus")
	n.ReplaceUses(g.Find("b"), nil)
	require.NoError(t, g.Erase(n))
	require.Equal(t, []string{"changed minus", "changed c", "%neg by %b", "erased neg"}, said)
	stop()
	said = nil
	g.Find("b").Rename("q")
	require.Empty(t, said)
}
