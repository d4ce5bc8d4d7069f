package graph

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"weak"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/safetensors"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/shape"
)

func TestEqual(t *testing.T) {
	const base = `graph g(%x: f32[N,2]) {
  %a = call_function[@neg](%x)
  %b = call_function[@twice](%x)
  %p = call_function[@print](%a)
  %q = call_function[@print](%b)
  %d = call_function[@neg](%b)
  %c = call_function[@add](%a, %b) {alpha=2.0}
  return (%c, {k: %a})
}`
	for name, c := range map[string]struct{ a, b, diff string }{
		"itself": {base, base, ""},
		"names, positions, order": {base, `graph h(%in "y": f32[N,2] in "s") {
  %z = call_function[@twice](%in) at "m.go:3"
  %a = call_function[@neg](%in) in "m"
  %d = call_function[@neg](%z)
  %p = call_function[@print](%a)
  %c = call_function[@add](%a, %z) {alpha=2.0}
  %q = call_function[@print](%z)
  return (%c, {k: %a})
}`, ""},
		"loose values in another order": {
			"graph g(%x: f32[2], %y: f32[2]) {\n  %a = call_function[@neg](%x)\n  %b = call_function[@twice](%x)\n  return %x\n}",
			"graph g(%x: f32[2], %y: f32[2]) {\n  %b = call_function[@twice](%x)\n  %a = call_function[@neg](%x)\n  return %x\n}", ""},
		"plain result and leaf": {"graph g(%x: f32[2]) {\n  return %x\n}", "graph g(%y: f32[2]) {\n  return %y\n}", ""},
		"effects exchanged":     {base, strings.NewReplacer("%p = call_function[@print](%a)", "%p = call_function[@print](%b)", "%q = call_function[@print](%b)", "%q = call_function[@print](%a)").Replace(base), "%q and %q: operand 0"},
		"attributes":            {base, strings.Replace(base, "alpha=2.0", "alpha=3.0", 1), "%c and %c: attributes {alpha=2.0} and {alpha=3.0}"},
		"operands":              {base, strings.Replace(base, "@add](%a, %b)", "@add](%b, %a)", 1), "operand"},
		"operator":              {base, strings.Replace(base, "@twice](%x)", "@neg](%x)", 1), "%"},
		"opcode":                {base, strings.Replace(base, "call_function[@add]", "call_method[@add]", 1), "%c and %c: opcodes call_function and call_method"},
		"one node more":         {base, strings.Replace(base, "  return", "  %e = call_function[@neg](%x)\n  return", 1), "second has more call_function[" + tPath + "neg]"},
		"key":                   {base, strings.Replace(base, "{k:", "{l:", 1), "packed differently"},
		"type of input":         {base, strings.Replace(base, "f32[N,2]", "f32[N,3]", 1), "types f32[N,2] and f32[N,3]"},
		"default":               {base, strings.Replace(base, "f32[N,2])", "f32[N,2] = 1)", 1), "default values none and 1"},
		"guard":                 {base, strings.Replace(base, "  %a =", "  guard N == 3\n  %a =", 1), "guard 3 == N is in the second graph only"},
		"symbol":                {"graph g(%x: f32[N,N]) {\n  return %x\n}", "graph g(%x: f32[N,N]) {\n  symbol N = dim(%x, 1)\n  return %x\n}", "symbol N is dim(%x, 0) and dim(%x, 1)"},
		"symbols":               {"graph g(%x: f32[N]) {\n  return %x\n}", "graph g(%x: f32[2*N]) {\n  return %x\n}", "types"},
		"absent operand":        {"graph g(%x: f32[2], %w: ?, %b: ?) {\n  %y = call_function[@linear](%x, %w, %b)\n  return %y\n}", "graph g(%x: f32[2], %w: ?, %b: ?) {\n  %y = call_function[@linear](%x, %w, _)\n  return %y\n}", "operand 2: %b stands where the other graph has _"},
		"operand missing":       {"graph g(%x: f32[2], %w: ?) {\n  %y = call_function[@linear](%x, %w, _)\n  return %y\n}", "graph g(%x: f32[2], %w: ?) {\n  %y = call_function[@linear](%x, %w)\n  return %y\n}", "3 and 2 operands"},
		"shared and doubled":    {"graph g(%x: f32[2]) {\n  %a = call_function[@neg](%x)\n  %b = call_function[@neg](%x)\n  %c = call_function[@add](%a, %b)\n  return %c\n}", "graph g(%x: f32[2]) {\n  %a = call_function[@neg](%x)\n  %b = call_function[@neg](%x)\n  %c = call_function[@add](%a, %a)\n  return %c\n}", "inputs, effects or unused values"},
		"live":                  {"graph g() {\n  %a = get_attr[w] live : f32[2]\n  return %a\n}", "graph g() {\n  %a = get_attr[w] : f32[2]\n  return %a\n}", "only one is live"},
		"path":                  {"graph g() {\n  %a = get_attr[w] : f32[2]\n  return %a\n}", "graph g() {\n  %a = get_attr[v] : f32[2]\n  return %a\n}", "targets w and v"},
		"read and write, order": {
			"graph g(%x: f32[2]) {\n  %a = get_attr[w] : f32[2]\n  %s = call_function[assign](%a, %x)\n  %b = get_attr[w] : f32[2]\n  return %b\n}",
			"graph g(%x: f32[2]) {\n  %a = get_attr[w] : f32[2]\n  %b = get_attr[w] : f32[2]\n  %s = call_function[assign](%a, %x)\n  return %b\n}", "%b stands where the other graph has"},
		"region": {roundTrips["regions"], strings.Replace(roundTrips["regions"], "%neg = call_function[@neg](%a)", "%neg = call_function[@twice](%a)", 1), "region 0: %neg and %neg: operators"},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := parse(t, c.a).Graph, parse(t, c.b).Graph
			for range 2 {
				equal, diff := Equal(a, b)
				require.Equal(t, c.diff == "", equal, diff)
				if c.diff == "" {
					require.Equal(t, Hash(a), Hash(b))
				} else {
					require.NotEmpty(t, diff)
					require.NotEqual(t, Hash(a), Hash(b))
				}
				a, b = b, a
			}
			_, diff := Equal(a, b)
			require.Contains(t, diff, c.diff)
		})
	}
}

func TestEqualModules(t *testing.T) {
	base := roundTrips["all opcodes"]
	for diff, edit := range map[string][2]string{
		"type is":                            {`type "example.com/net.Net"`, `type "n"`},
		"parameter fc.weight is":             {"param fc.weight : f32[10,4]", "param fc.weight : f32[10,?]"},
		"in the first module only":           {"param \"odd", "param \"even"},
		"being a buffer":                     {"f32[*] buffer", "f32[*]"},
		"module fc has parameters":           {"bias=_", "bias=fc.weight"},
		"module fc differs in Go type":       {"m.Fc\"\n", "m.F\"\n"},
		"module gc is in the second only":    {"module fc =", "module gc = @neg ()\nmodule fc ="},
		"parameter fc.bias is in the second": {"param fc.weight", "param fc.bias : ?\nparam fc.weight"},
	} {
		edited := strings.Replace(base, edit[0], edit[1], 1)
		require.NotEqual(t, base, edited)
		_, have := EqualModules(parse(t, base), parse(t, edited))
		require.Contains(t, have, diff)
	}
	a, b := parse(t, base), parse(t, base)
	for _, m := range []*Module{a, b} {
		m.SetParam(Param{Path: "v", Value: array.FromSlice([]float32{1, 2})})
	}
	equal, diff := EqualModules(a, b)
	require.True(t, equal, diff)
	array.Data[float32](b.Param("v").Value)[1] = 3
	_, diff = EqualModules(a, b)
	require.Equal(t, "parameter v has different values", diff)
}

func savedModule(t *testing.T) *Module {
	m := parse(t, strings.Replace(roundTrips["all opcodes"], "param \"odd path//x\" : f32[*] buffer\n", "", 1))
	m.SetParam(Param{Path: "fc.weight", Value: array.New(array.F32, 10, 4), Selector: "m.Fc.Weight"})
	array.Data[float32](m.Param("fc.weight").Value)[7] = 3
	return m
}

func TestSaveLoad(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "model")
	m := savedModule(t)
	require.NoError(t, Save(dir, m))
	first := readAll(t, dir)
	require.NoError(t, Save(dir, m))
	require.Equal(t, first, readAll(t, dir))
	require.Len(t, first, 2)
	n, err := Load(dir)
	require.NoError(t, err)
	equal, diff := EqualModules(m, n)
	require.True(t, equal, diff)
	require.Equal(t, float32(3), array.Data[float32](n.Param("fc.weight").Value)[7])
	require.NoError(t, Save(dir, n))
	require.Equal(t, first, readAll(t, dir), "what was loaded saves as the same bytes")

	m.SetParam(Param{Path: "u", Type: shape.Unranked(array.F32)})
	m.SetParam(Param{Path: "v", Type: shape.Unranked(array.F32)})
	err = Save(dir, m)
	require.ErrorContains(t, err, `"u" has no value`)
	require.ErrorContains(t, err, `"v" has no value`)
	require.Equal(t, first, readAll(t, dir), "a refused save changes nothing")
	bad := savedModule(t)
	bad.Graph.Inputs()[0].more().def = struct{}{}
	bad.Graph.Find("lin").SetArg(1, nil)
	err = Save(dir, bad)
	require.ErrorIs(t, err, BadDefault)
	require.ErrorIs(t, err, BadOperandCount)
	require.ErrorIs(t, Save(filepath.Join(dir, GraphFile), savedModule(t)), FolderError)
}

func readAll(t *testing.T, dir string) map[string]string {
	files := map[string]string{}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		require.NoError(t, err)
		files[e.Name()] = string(b)
	}
	return files
}

func TestLoadReportsAllFaults(t *testing.T) {
	dir := t.TempDir()
	_, err := Load(dir)
	require.ErrorIs(t, err, FolderError)
	require.ErrorIs(t, err, os.ErrNotExist)
	m := savedModule(t)
	m.SetParam(Param{Path: "more", Value: array.New(array.F32, 2)})
	require.NoError(t, Save(dir, m))
	var b strings.Builder
	require.NoError(t, safetensors.Write(&b, []safetensors.Named{{Name: "fc.weight", Array: array.New(array.F32, 10, 5)}, {Name: "extra", Array: array.New(array.I8, 1)}}, nil))
	require.NoError(t, os.WriteFile(filepath.Join(dir, WeightsFile), []byte(b.String()), 0o666))
	_, err = Load(dir)
	var codes []diag.Code
	for _, e := range err.(diag.List) {
		codes = append(codes, e.Code)
		_, ok := diag.Lookup(e.Code)
		require.True(t, ok, e.Code)
	}
	require.Equal(t, []diag.Code{WeightMismatch, WeightMissing, WeightUnexpected}, codes)
	require.ErrorContains(t, err, "is f32[10,5], expected f32[10,4]")
	require.NoError(t, os.Remove(filepath.Join(dir, WeightsFile)))
	_, err = Load(dir)
	require.ErrorIs(t, err, safetensors.CodeRead)
	require.NoError(t, os.WriteFile(filepath.Join(dir, GraphFile), []byte("gofx 2\n"), 0o666))
	_, err = Load(dir)
	require.ErrorIs(t, err, TextVersionError)
}

func TestCloneIsIndependent(t *testing.T) {
	for name, body := range roundTrips {
		m := parse(t, body)
		want := Print(m, PrintOptions{Positions: true})
		c := Clone(m)
		require.Equal(t, want, Print(c, PrintOptions{Positions: true}), name)
		require.Equal(t, len(Lint(m.Graph)), len(Lint(c.Graph)))
		for n := range c.Graph.All() {
			require.True(t, n.Graph().Module() == c)
			n.Rename("changed")
		}
		x := c.Graph.At().Placeholder("new", shape.Type{}, nil)
		c.Graph.NewSymbol(x, 0)
		require.Equal(t, want, Print(m, PrintOptions{Positions: true}), name)
	}
	m := NewModule(New("g"))
	m.SetParam(Param{Path: "w", Value: array.New(array.F32, 2)})
	m.SetParam(Param{Path: "b", Value: array.New(array.F32, 2), Buffer: true})
	c := Clone(m)
	require.Same(t, m.Param("w").Value, c.Param("w").Value)
	require.NotSame(t, m.Param("b").Value, c.Param("b").Value)
}

func TestCloneOfLongGraph(t *testing.T) {
	g := New("long")
	n := g.At().Placeholder("x", shape.TensorType(array.F32, shape.ConstDims(2)), nil)
	for range 20000 {
		n = g.At().Function(tPrint, nil, n)
	}
	g.At().Output(nil, n)
	equal, diff := Equal(g, g.Clone())
	require.True(t, equal, diff)
}

func TestInline(t *testing.T) {
	callee := parse(t, strings.NewReplacer("graph net(", "graph sub(", "%x: f32[N,4]", "%x: f32[N,4]").Replace(sound))
	callee.SetParam(Param{Path: "w", Value: array.New(array.F32, 4, 4)})
	m := parse(t, "graph main(%q: bool[], %y: f32[2*M,4], %z: i64[M]) {\n  %n = call_function[@neg](%y)\n  return %n\n}")
	g := m.Graph
	before := callee.String()
	for i := range 2 {
		out := g.Before(g.Output()).Inline(callee.Graph, []*Node{g.Find("q"), g.Find("n")})
		require.Len(t, out, 2)
		g.Output().SetArg(0, out[1])
		g.Output().typ = outputType(g.Output())
		require.Empty(t, Lint(g), "%s", g)
		require.Equal(t, fmt.Sprintf("i64[s%d,2]", i), out[1].Type().String())
	}
	require.Equal(t, before, callee.String())
	require.Len(t, m.Params(), 1)
	require.Equal(t, []string{"sub.w"}, m.Bound("sub.fc").Params[:1])
	require.Contains(t, g.String(), "call_function["+tPath+"split](%c) {sizes=[1,2*M-1]} : (f32[1,4], f32[2*M-1,4])")
	require.Contains(t, g.String(), "region(%i: f32[2*M,4])")
	callee.SetParam(Param{Path: "w", Value: array.New(array.F32, 4, 4)})
	g.Before(g.Output()).Inline(callee.Graph, []*Node{g.Find("q"), nil})
	require.NotNil(t, m.Param("sub.w_1"), "another tensor gets a path of its own")
	require.Panics(t, func() { g.At().Inline(callee.Graph, nil) })
	self := parse(t, "graph g(%x: f32[2]) {\n  %y = call_function[@neg](%x)\n  return %y\n}").Graph
	self.Output().SetArg(0, self.Before(self.Output()).Inline(self, []*Node{self.Find("y")})[0])
	require.Contains(t, self.String(), "%y_1 = call_function["+tPath+"neg](%y) : f32[2]\n  return %y_1")
	c, err := Parse([]byte(Print(m, PrintOptions{Positions: true})), "t.fx")
	require.Error(t, err, "the second call lacks an operand")
	require.Nil(t, c)
}

func TestFold(t *testing.T) {
	g := parse(t, "graph g(%x: f32[2], %w: f32[3,2]) {\n  %a = call_function[@neg](%x)\n  %dead = call_function[@neg](%a)\n  %b = call_function[@add](%a, %a)\n  %c = call_function[@linear](%b, %w, _)\n  return %c\n}").Graph
	type value struct{ depth int }
	depth, err := Fold(context.Background(), g, func(n *Node, in []*value) (*value, error) {
		v := &value{}
		for i, x := range in {
			if n.Arg(i) == nil {
				require.Nil(t, x)
				continue
			}
			v.depth = max(v.depth, x.depth+1)
		}
		return v, nil
	})
	require.NoError(t, err)
	require.Equal(t, 4, depth.depth)

	// The value of %a is free once %b, its last user, has been computed.
	held := map[string]weak.Pointer[[1 << 12]byte]{}
	_, err = Fold(context.Background(), g, func(n *Node, _ []*[1 << 12]byte) (*[1 << 12]byte, error) {
		runtime.GC()
		for name, p := range held {
			last := map[string]string{"x": "a", "a": "b", "dead": "dead", "b": "c", "w": "c", "c": "output"}[name]
			done := last == name || g.Find(last).Precedes(n)
			require.Equal(t, done, p.Value() == nil, "%s while %s runs", name, n)
		}
		v := new([1 << 12]byte)
		held[n.Name()] = weak.Make(v)
		return v, nil
	})
	require.NoError(t, err)

	cause := errors.New("boom")
	g.Find("b").more().static = diag.Pos{File: "m.go", Line: 3}
	_, err = Fold(context.Background(), g, func(n *Node, _ []int) (int, error) {
		if n.Name() == "b" {
			return 0, cause
		}
		return 0, nil
	})
	require.ErrorIs(t, err, cause)
	require.ErrorContains(t, err, "m.go:3: add: boom")

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = Fold(ctx, g, func(*Node, []int) (int, error) { return 0, nil })
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, g.Erase(g.Output()))
	_, err = Fold(context.Background(), g, func(*Node, []int) (int, error) { return 0, nil })
	require.ErrorIs(t, err, NoOutput)
}

// TestEditsKeepUseLists edits at random and lets Lint check the use lists.
func TestEditsKeepUseLists(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := New("g")
		typ := shape.TensorType(array.F32, shape.ConstDims(2))
		live := []*Node{g.At().Placeholder("x", typ, nil), g.At().Placeholder("y", typ, nil)}
		out := g.At().Output(nil, live[0])
		pick := func(name string) *Node { return live[rapid.IntRange(0, len(live)-1).Draw(t, name)] }
		t.Repeat(map[string]func(*rapid.T){
			"insert": func(t *rapid.T) {
				at := pick("at")
				if at.Opcode() == Placeholder {
					at = out
				}
				live = append(live, g.Before(at).Function(tAdd, nil, pick("a"), pick("b")))
			},
			"replace": func(t *rapid.T) {
				n, v := pick("n"), pick("v")
				uses, had := n.NumUses(), v.NumUses()
				moved := n.ReplaceUses(v, func(u *Node) bool { return u != v })
				require.Equal(t, uses-moved, n.NumUses())
				if n != v {
					require.Equal(t, had+moved, v.NumUses())
				}
			},
			"erase": func(t *rapid.T) {
				i := rapid.IntRange(2, max(2, len(live)-1)).Draw(t, "i")
				if i >= len(live) {
					return
				}
				err := g.Erase(live[i])
				if live[i].NumUses() > 0 {
					require.ErrorIs(t, err, EraseUsed)
					return
				}
				require.NoError(t, err)
				live = append(live[:i], live[i+1:]...)
			},
			"set": func(t *rapid.T) {
				if n := pick("n"); n.NumArgs() > 0 {
					n.SetArg(rapid.IntRange(0, 1).Draw(t, "i"), pick("v"))
				}
			},
			"move": func(t *rapid.T) {
				if n := pick("n"); n.Opcode() != Placeholder {
					g.MoveBefore(n, out)
				}
			},
			"": func(t *rapid.T) {
				for _, e := range Lint(g) {
					if e.Code != BrokenOrder {
						t.Fatal(e)
					}
				}
				require.Equal(t, len(live)+1, g.Len())
				for i := range live {
					for j := range live {
						if i != j && live[i].Precedes(live[j]) {
							require.False(t, live[j].Precedes(live[i]))
						}
					}
				}
			},
		})
	})
}

func TestEraseNamesUsers(t *testing.T) {
	g := parse(t, "graph g(%x: f32[2]) {\n  %a = call_function[@neg](%x)\n  %b = call_function[@add](%a, %a)\n  return %b\n}").Graph
	err := g.Erase(g.Find("a"))
	require.ErrorContains(t, err, "%a is used 2 times, by %b")
	_, ok := diag.Lookup(EraseUsed)
	require.True(t, ok)
	require.NoError(t, g.Erase(g.Output()))
	b := g.Find("b")
	require.NoError(t, g.Erase(b))
	require.ErrorIs(t, g.Erase(b), EraseUsed)
}

func TestEditingWhileIterating(t *testing.T) {
	g := New("g")
	x := g.At().Placeholder("x", shape.TensorType(array.F32, shape.ConstDims(2)), nil)
	for range 6 {
		g.At().Function(tNeg, nil, x)
	}
	seen := 0
	for n := range g.Nodes() {
		if n.Opcode() == CallFunction {
			require.False(t, n.Erased())
			seen++
			next := n.Next()
			require.NoError(t, g.Erase(n))
			if next != nil {
				require.NoError(t, g.Erase(next))
			}
		}
	}
	require.Equal(t, 3, seen)
	require.Equal(t, 1, g.Len())
	y := g.At().Function(tNeg, nil, x)
	c := g.Before(y)
	require.NoError(t, g.Erase(y))
	z := g.At().Function(tNeg, nil, x)
	require.NotNil(t, c.Function(tNeg, nil, x))
	require.Equal(t, 3, g.Len())
	require.NotNil(t, z)
	g.At().Output(nil, x)
	require.Empty(t, Lint(g))
}

func TestInsertManyAtOnePlace(t *testing.T) {
	g := New("g")
	x := g.At().Placeholder("x", shape.TensorType(array.F32, shape.ConstDims(2)), nil)
	out := g.At().Output(nil, x)
	first := g.Before(out).Function(tNeg, nil, x)
	for range 5000 {
		n := g.Before(first).Function(tNeg, nil, x)
		require.True(t, x.Precedes(n) && n.Precedes(first) && first.Precedes(out))
		g.Before(out).Function(tNeg, nil, x)
	}
	require.Empty(t, Lint(g))
}

func TestNewSymbolIsFresh(t *testing.T) {
	g := parse(t, "graph g(%x: f32[s0,s1]) {\n  %n = call_function[@nonzero](%x)\n  return %n\n}").Graph
	n := g.Find("n")
	s := g.NewSymbol(n, 0)
	require.Equal(t, "s2", s.String())
	require.True(t, s.Equal(g.NewSymbol(n, 0)))
}

func BenchmarkEdit(b *testing.B) {
	for _, size := range []int{100, 10000} {
		b.Run(fmt.Sprintf("nodes=%d", size), func(b *testing.B) {
			g := New("g")
			x := g.At().Placeholder("x", shape.TensorType(array.F32, shape.ConstDims(2)), nil)
			n := x
			for range size {
				n = g.At().Function(tNeg, nil, n)
			}
			out := g.At().Output(nil, n)
			for b.Loop() {
				c := g.Before(out).Function(tPrint, nil, n)
				n.ReplaceUses(c, func(u *Node) bool { return u != c })
				c.ReplaceUses(n, nil)
				if err := g.Erase(c); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
