package join_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering/internal/join"
	"github.com/gofx-dev/gofx/op"
	_ "github.com/gofx-dev/gofx/op/std"
)

func parsed(t testing.TB, body string) *graph.Graph {
	t.Helper()
	var b strings.Builder
	b.WriteString("gofx 1\ngraph net(%x: f32[N,8], %r: f32[8]) {\n  symbol N = dim(%x, 0)\n")
	for _, line := range strings.Split(strings.TrimSpace(body), "\n") {
		if name, call, ok := strings.Cut(line, " = "); ok && !strings.HasPrefix(call, "get_attr") {
			o, rest, _ := strings.Cut(call, "(")
			line = name + " = call_function[" + o + "](" + rest
		}
		b.WriteString("  " + line + "\n")
	}
	m, err := graph.Parse([]byte(b.String()+"}\n"), "test.fx")
	require.NoError(t, err)
	return m.Graph
}

// found lists the groups of a graph in the order of their last calls.
func found(g *graph.Graph, r join.Rules) string {
	of := join.Find(g, r)
	var list []string
	for n := range g.Nodes() {
		if own := of[n]; own != nil && n == own.Last() {
			var names []string
			for _, m := range own.Nodes {
				names = append(names, m.Name())
			}
			list = append(list, strings.Join(names, " "))
		}
	}
	return strings.Join(list, " | ")
}

// named is what calls of an operator are.
func named(name string) func(*graph.Node) bool {
	return func(n *graph.Node) bool { return n.Op() != nil && n.Op().Name == name }
}

var diamond = `
%a = exp(%x)
%b = sigmoid(%a)
%c = mul(%a, %b)
%d = sub(%c, %a)
return %d
`

func TestFind(t *testing.T) {
	for _, c := range []struct {
		name, body string
		rules      join.Rules
		want       string
	}{
		{"a value used by several calls of one group", diamond, join.Rules{}, "a b c d"},
		{"a result in the middle", strings.Replace(diamond, "return %d", "return %b, %d", 1), join.Rules{}, "a | b | c d"},
		{"a call that is taken", diamond, join.Rules{Taken: named("sigmoid")}, "a | c d"},
		{"a user that is taken", diamond, join.Rules{Taken: named("sub")}, "a | b c"},
		{"other sizes", "%a = exp(%r)\n%b = add(%x, %a)\n%c = exp(%b)\nreturn %c\n", join.Rules{}, "a | b c"},
		{"what is no elementwise call", "%a = exp(%x)\n%s = softmax(%a) {dim=1}\n%c = exp(%s)\nreturn %c\n", join.Rules{}, "a | c"},
		{"what is the same", "%a = exp(%x)\n%b = clone(%a)\n%c = exp(%b)\nreturn %c\n", join.Rules{Same: named("clone")}, "a b c"},
		{"several results", "%a = exp(%x)\n%l = lstm_gates(%a, %a, %a, %a, %a)\n%h = getitem(%l) {index=0}\nreturn %h\n", join.Rules{}, "a"},
		{"a size that is a symbol", "%a = exp(%x)\n%f = full() {size=[N,8], value=2}\n%c = mul(%a, %f)\nreturn %c\n", join.Rules{}, "a c"},
		{"what nothing reads", "%a = exp(%x)\n%b = exp(%a)\n%c = exp(%a)\nreturn %c\n", join.Rules{}, "a | b | c"},
		{"as many operands as are allowed", "%a = add(%x, %r)\n%b = exp(%a)\n%c = add(%b, %x)\n%d = exp(%c)\nreturn %d\n", join.Rules{Operands: 2}, "a b c d"},
		{"more operands", "%a = add(%x, %r)\n%b = exp(%a)\n%c = add(%b, %x)\n%d = exp(%c)\nreturn %d\n", join.Rules{Operands: 1}, "a | b | c | d"},
		{"more calls", diamond, join.Rules{Calls: 3}, "a | b c d"},
		{"as many nodes as are allowed", diamond, join.Rules{Nodes: 5}, "a b c d"},
		{"more nodes", diamond, join.Rules{Nodes: 4}, "a | b c d"},
		{"a call that is beyond all limits", "%a = exp(%x)\n%b = gelu(%a)\nreturn %b\n", join.Rules{Operands: 1, Calls: 1, Nodes: 2}, "a | b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := parsed(t, c.body)
			c.rules.Era = join.Eras(g)
			require.Equal(t, c.want, found(g, c.rules))
		})
	}
}

// TestEras: what may write stands between calls that could be joined.
func TestEras(t *testing.T) {
	g := parsed(t, "%a = exp(%x)\n%w = wait(%r)\n%b = sigmoid(%a)\n%c = mul(%a, %b)\nreturn %c, %w\n")
	eras := join.Eras(g)
	var got []string
	for n := range g.Nodes() {
		got = append(got, fmt.Sprint(n.Name(), eras[n]))
	}
	require.Equal(t, "x0 r0 a0 w0 b1 c1 output1", strings.Join(got, " "))
	require.Equal(t, "a | b c", found(g, join.Rules{Era: eras}))
	require.Equal(t, "a b c", found(g, join.Rules{}), "without eras")
	require.Equal(t, op.Effectful, g.Find("w").Op().Effect)
}

// TestFind_stored: a group gives values besides the last if they are only stored after it.
func TestFind_stored(t *testing.T) {
	stores := func(n *graph.Node) bool { return n.Op() == op.Assign }
	for _, c := range []struct {
		name, body string
		rules      join.Rules
		want       string
	}{
		{"a value that is stored and used", "%a = exp(%x)\n%b = sqrt(%a)\n%v = assign(%s, %a)\n%w = assign(%z, %b)\nreturn %x", join.Rules{}, "a> b>"},
		{"two values of one", "%a = exp(%x)\n%b = sqrt(%a)\n%c = neg(%a)\n%v = assign(%s, %b)\n%w = assign(%z, %c)\nreturn %x", join.Rules{}, "a b> c>"},
		{"three, of which two are joined late", "%a = exp(%x)\n%b = sqrt(%a)\n%c = neg(%a)\n%d = neg(%b)\n%e = abs(%b)\n%u = assign(%s, %c)\n%v = assign(%z, %d)\n%w = assign(%y, %e)\nreturn %x", join.Rules{}, "a b c> d> e>"},
		{"the last is used", "%a = exp(%x)\n%b = sqrt(%a)\n%c = neg(%a)\n%v = assign(%s, %b)\nreturn %c", join.Rules{}, "a b> c>"},
		{"one before the last is used", "%a = exp(%x)\n%b = sqrt(%a)\n%c = neg(%a)\n%v = assign(%s, %c)\nreturn %b", join.Rules{}, "a> | b> | c>"},
		{"one before the last is read by something else", "%a = exp(%x)\n%b = sqrt(%a)\n%q = softmax(%b) {dim=0}\n%c = add(%a, %q)\n%v = assign(%s, %b)\n%w = assign(%z, %c)\nreturn %x", join.Rules{}, "a> | b> | c>"},
		{"stored before the last", "%a = exp(%x)\n%v = assign(%s, %a)\n%b = sqrt(%a)\n%w = assign(%z, %b)\nreturn %x", join.Rules{}, "a> | b>"},
		{"stored between", "%a = exp(%x)\n%b = sqrt(%a)\n%v = assign(%s, %b)\n%c = neg(%a)\n%w = assign(%z, %c)\nreturn %x", join.Rules{}, "a> | b> | c>"},
		{"other sizes", "%a = exp(%x)\n%b = sqrt(%a)\n%c = add(%a, %m)\n%v = assign(%s, %b)\n%w = assign(%m, %c)\nreturn %x", join.Rules{}, "a> | b> | c>"},
		{"too many calls", "%a = exp(%x)\n%b = sqrt(%a)\n%c = neg(%a)\n%v = assign(%s, %b)\n%w = assign(%z, %c)\nreturn %x", join.Rules{Calls: 2}, "a> | b> c>"},
		{"too many operands", "%a = exp(%x)\n%b = mul(%a, %s)\n%c = add(%a, %z)\n%v = assign(%s, %b)\n%w = assign(%z, %c)\nreturn %x", join.Rules{Operands: 2}, "a> | b> | c>"},
		{"nothing stores it", "%a = exp(%x)\n%b = sqrt(%a)\n%c = neg(%a)\nreturn %c", join.Rules{}, "a> | b> | c>"},
	} {
		t.Run(c.name, func(t *testing.T) {
			state := ""
			for _, p := range []string{"s", "z", "y"} {
				state += "%" + p + " = get_attr[" + p + "] : f32[8]\n"
			}
			g := parsed(t, strings.ReplaceAll(state+"%m = get_attr[m] : f32[2,8]\n"+c.body, "(%x)", "(%r)"))
			c.rules.Era, c.rules.Stores = join.Eras(g), stores
			of := join.Find(g, c.rules)
			require.Equal(t, c.want, withResults(g, of))
			c.rules.Stores = nil
			for _, own := range join.Find(g, c.rules) {
				require.Equal(t, []*graph.Node{own.Last()}, own.Results)
			}
		})
	}
}

// withResults lists groups as found does, with > after each result.
func withResults(g *graph.Graph, of map[*graph.Node]*join.Group) string {
	var list []string
	for n := range g.Nodes() {
		own := of[n]
		if own == nil || n != own.Last() {
			continue
		}
		var names []string
		for _, m := range own.Nodes {
			name := m.Name()
			if slices.Contains(own.Results, m) {
				name += ">"
			}
			names = append(names, name)
		}
		list = append(list, strings.Join(names, " "))
	}
	return strings.Join(list, " | ")
}

// TestExpression_several: an expression gives the values that are asked for.
func TestExpression_several(t *testing.T) {
	g := parsed(t, diamond)
	e, err := join.Rules{}.Expression(slices.Collect(g.Nodes())[2:6])
	require.NoError(t, err)
	e.Give([]*graph.Node{g.Find("b"), g.Find("d")})
	require.Len(t, e.Program().Outputs, 2)
	require.Contains(t, e.Graph().String(), "return %2 %4")
}

func TestOnly(t *testing.T) {
	g := parsed(t, diamond)
	in := func(names ...string) func(*graph.Node) bool {
		return func(u *graph.Node) bool { return slices.Contains(names, u.Name()) }
	}
	a := g.Find("a")
	require.True(t, join.Only(a, in("b", "c", "d")))
	require.False(t, join.Only(a, in("b", "c")))
	require.False(t, join.Only(g.Find("r"), in()), "nothing reads it")
	require.Equal(t, "", join.Only(a, func(u *graph.Node) string { return u.Name() }), "in several")
	require.Equal(t, "d", join.Only(g.Find("c"), func(u *graph.Node) string { return u.Name() }))
}

func TestExpression(t *testing.T) {
	g := parsed(t, strings.Replace(diamond, "%b = sigmoid(%a)", "%k = clone(%a)\n%b = add(%k, %r)", 1))
	r := join.Rules{Same: named("clone")}
	e, err := r.Expression(join.Find(g, r)[g.Find("d")].Nodes)
	require.NoError(t, err)
	require.Equal(t, []*graph.Node{g.Find("x"), g.Find("r")}, e.Operands)
	require.Equal(t, `%0 f32 = input 0
%1 f32 = exp %0
%2 f32 = input 1
%3 f32 = add %1 %2
%4 f32 = mul %1 %3
%5 f32 = sub %4 %1
return %5`, e.Graph().String())
	require.Len(t, e.Program().Outputs, 1)

	// What is given comes first, though it is not read.
	e, err = r.Expression([]*graph.Node{g.Find("k")}, g.Find("r"), g.Find("a"))
	require.NoError(t, err)
	require.Equal(t, []*graph.Node{g.Find("r"), g.Find("a")}, e.Operands)
	require.Equal(t, "%0 f32 = input 1\nreturn %0", e.Graph().String())
}
