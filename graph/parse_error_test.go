package graph

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// faults lists "line:col code" of every mistake that the parser reports.
func faults(t *testing.T, src string) []string {
	t.Helper()
	_, err := Parse([]byte(text(src)), "t.fx")
	if err == nil {
		return nil
	}
	var out []string
	for _, e := range err.(diag.List) {
		require.Equal(t, "t.fx", e.Pos.File)
		require.NotEmpty(t, e.Msg)
		out = append(out, fmt.Sprintf("%d:%d %s", e.Pos.Line, e.Pos.Col, e.Code))
	}
	return out
}

func TestParseMistakes(t *testing.T) {
	const head = "gofx 1\ngraph g(%x: f32[2,3]) {\n"
	for name, c := range map[string]struct {
		src  string
		want []string
	}{
		"empty":                   {"", []string{"1:1 FX7001"}},
		"version":                 {"gofx 9\n", []string{"1:1 FX7001"}},
		"version and more":        {"gofx 1 x\n", []string{"1:8 FX7003"}},
		"no graph":                {"gofx 1\n", []string{"2:1 FX7009"}},
		"two graphs":              {"gofx 1\ngraph a() {\n}\ngraph b() {\n  ?\n}", []string{"4:1 FX7009"}},
		"bad top":                 {"gofx 1\nbogus {\n %x\n}\ngraph a() {\n}\n", []string{"2:1 FX7003"}},
		"signature":               {"gofx 1\ngraph a(%x f32[2]) {\n  return %x\n}", []string{"2:12 FX7003"}},
		"signature, no block":     {"gofx 1\ngraph a(%x: f32[2]\n", []string{"2:19 FX7003"}},
		"input twice":             {"gofx 1\ngraph a(%x: f32[2], %x: f32[2]) {\n}", []string{"2:21 FX7005"}},
		"open block":              {"gofx 1\ngraph a() {\nparam w : f32[2]", []string{"2:1 FX7010"}},
		"open block at the end":   {"gofx 1\ngraph a() {\n", []string{"2:1 FX7010"}},
		"param":                   {head + "}\nparam w f32[2]\nparam w : f32[2]\nparam w : f32[2]\nparam", []string{"4:9 FX7003", "6:7 FX7005", "7:6 FX7003"}},
		"module":                  {head + "}\nmodule m = @linear {a=1} ()\nmodule n = nope ()\nmodule o = @neg (x=)\nmodule p = @neg (\nmodule q = @neg ()\nmodule q = @neg ()", []string{"4:50 FX2005", "5:12 FX7006", "6:50 FX7003", "7:48 FX7003", "9:8 FX7005"}},
		"type":                    {head + "}\ntype x", []string{"4:6 FX7003"}},
		"undefined":               {head + "  %y = call_function[@neg](%z)\n  %w = call_function[@neg](%y)\n  return %w, %q\n}", []string{"3:58 FX7004", "5:14 FX7004"}},
		"redefined":               {head + "  %x = call_function[@neg](%x)\n}", []string{"3:3 FX7005"}},
		"unknown op":              {head + "  %y = call_function[nope](%x)\n  %z = call_method[a.b.nope](%y)\n  return %z\n}", []string{"3:22 FX7006", "4:20 FX7006"}},
		"opcode":                  {head + "  %y = call[nope](%x)\n}", []string{"3:8 FX7003"}},
		"opcode with a tail":      {head + "  %y = call_functions[nope](%x)\n}", []string{"3:8 FX7003"}},
		"name":                    {head + "  %1 = call_function[@neg](%x)\n  % = call_function[@neg](%x)\n}", []string{"3:4 FX7003", "4:5 FX7003"}},
		"attribute":               {head + "  %y = call_function[@add](%x, %x) {beta=1}\n  %z = call_function[@add](%x, %x) {alpha=x}\n}", []string{"3:66 FX2005", "4:66 FX2005"}},
		"attribute not closed":    {head + "  %y = call_function[@add](%x, %x) {alpha=1.0\n  %z = call_function[@add](%x, %x) {alpha=\"\n  %w = call_function[@add](%x, %x) {alpha 1}\n}", []string{"3:76 FX7003", "4:73 FX7003", "5:73 FX7003"}},
		"operands":                {head + "  %y = call_function[@add](%x %x)\n  %z = call_function[@add](%x, )\n}", []string{"3:61 FX7003", "4:62 FX7003"}},
		"target":                  {head + "  %y = get_attr[]\n  %z = get_attr[\"a]\n  %w = get_attr{a]\n}", []string{"3:17 FX7003", "4:17 FX7003", "5:16 FX7003"}},
		"written type":            {head + "  %y = call_function[@neg](%x) : f32[2,4]\n  %z = call_function[@neg](%x) : f32[2]\n  %w = call_function[@neg](%x) : i64[2,3]\n  %v = call_function[@neg](%x) : (f32[2])\n  %u = call_function[@split](%x) {sizes=[1,1]} : (f32[1,3])\n  %t = call_function[@split](%x) {sizes=[1,1]} : (f32[1,3], f32[2,3])\n}", []string{"3:64 FX7007", "4:64 FX7007", "5:64 FX7007", "6:64 FX7007", "7:80 FX7007", "8:80 FX7007"}},
		"type rule":               {head + "  %y = call_function[@add](%x, _)\n  %u = get_attr[u] : f32[5,4]\n  %z = call_function[@linear](%x, %u)\n  %w = call_function[getitem]()\n}", []string{"3:3 FX2006", "5:3 FX2003", "6:3 FX2006"}},
		"type rule with position": {head + "  %y = call_function[@add](%x, _) at \"m.go:3\"\n}", []string{"3:3 FX2006"}},
		"failing type rule":       {head + "  %y = call_function[@panic](%x)\n}", []string{"3:3 FX9001"}},
		"position":                {head + "  %y = call_function[@neg](%x) at \"m.go\"\n  %z = call_function[@neg](%x) at m.go\n  %w = call_function[@neg](%x) in \"a\" 3\n}", []string{"3:65 FX7003", "4:65 FX7003", "5:69 FX7003"}},
		"default":                 {"gofx 1\ngraph g(%a: f32[2] = x) {\n}", []string{"2:22 FX7011"}},
		"default array":           {"gofx 1\ngraph g(%a: f32[2] = array f32[3] \"AAAA\") {\n}", []string{"2:22 FX7011"}},
		"default array, base64":   {"gofx 1\ngraph g(%a: f32[2] = array f32[3] \"!\") {\n}", []string{"2:22 FX7011"}},
		"default array, huge":     {"gofx 1\ngraph g(%a: f32[2] = array f32[4611686018427387905] \"AAAA\") {\n}", []string{"2:22 FX7011"}},
		"default bool":            {"gofx 1\ngraph g(%a: bool[1] = array bool[1] \"Ag==\") {\n}", []string{"2:23 FX7011"}},
		"default quote":           {"gofx 1\ngraph g(%a: bool[1] = array bool[1] x, %b: ? = \"\\q\") {\n}", []string{"2:37 FX7003"}},
		"default missing":         {"gofx 1\ngraph g(%a: bool[1] = ) {\n}", []string{"2:23 FX7003"}},
		"symbol":                  {head + "  symbol 1N = dim(%x, 0)\n  symbol N = size(%x, 0)\n  symbol N = dim(_, 0)\n  symbol N = dim(%x, a)\n  symbol N = dim(%x, 0)\n  symbol N = dim(%x, 1)\n}", []string{"3:10 FX7003", "4:14 FX7003", "5:10 FX7003", "6:22 FX7003", "8:10 FX7005"}},
		"guard":                   {head + "  guard N+ == 3\n  guard N = 3\n  guard N == 3 from %z\n  guard 2 == 3\n  guard N == // none\n}", []string{"3:9 FX7002", "4:9 FX7002", "5:21 FX7004", "6:1 FX2010", "7:9 FX7002"}},
		"note":                    {head + "  note x\n}", []string{"3:8 FX7003"}},
		"statement":               {head + "  bogus {\n    %z\n  }\n  return %x\n}", []string{"3:3 FX7003"}},
		"behind return":           {head + "  return %x\n  %y = call_function[cond](%x) {\n  }\n}", []string{"4:3 FX7010"}},
		"return":                  {head + "  return (%x\n}", []string{"3:13 FX7003"}},
		"return key":              {head + "  return {a %x}\n}", []string{"3:13 FX7003"}},
		"return kind":             {head + "  return T %x\n}", []string{"3:12 FX7003"}},
		"return map":              {head + "  return map T(%x)\n}", []string{"3:15 FX7003"}},
		"return number":           {head + "  return ?\n}", []string{"3:10 FX7003"}},
		"return struct":           {head + "  return struct(%x)\n}", nil},
		"closing brace":           {head + "  return %x\n} x", []string{"4:3 FX7003"}},
		"region outside":          {head + "  region(%a: f32[2]) {\n    {\n    }\n  }\n  return %x\n}", []string{"3:3 FX7010"}},
		"in a region":             {head + "  %y = call_function[cond](%x) {\n    region(%a: f32[2]) {\n      return %x\n    }\n    bogus {\n    }\n    region(%a: f32[2]) {\n      %b = call_function[@neg](%a) : f32[9]\n    }\n  }\n  return %y\n}", []string{"5:14 FX7004", "7:5 FX7003", "10:68 FX7007"}},
		"call_module with block":  {head + "  %y = call_module[m](%x) {\n  }\n  return %y\n}", []string{"3:27 FX7003"}},
		"open region":             {head + "  %y = call_function[cond](%x) {\n    region(%a: f32[2]) {\n", []string{"2:1 FX7010", "4:1 FX7010"}},
		"call with bad block":     {head + "  %y = call_function[cond](?) {\n    region(%a: f32[2]) {\n    }\n  }\n  return %y\n}", []string{"3:28 FX7003"}},
		"call with open block":    {head + "  %y = call_function[cond](?) {\n    region(%a: f32[2]) {\nparam x : f32[2]\n", []string{"2:1 FX7010", "3:28 FX7003"}},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, faults(t, c.src)) })
	}
}

func TestParseHasHints(t *testing.T) {
	_, err := Parse([]byte("gofx 1\ngraph g(%x: f32[2]) {\n  %y = call_function[example.com/ops.gelu](%x)\n  return %y\n}"), "t.fx")
	require.ErrorContains(t, err, `t.fx:3:22: operator "example.com/ops.gelu" is unknown [FX7006]`)
	require.ErrorContains(t, err, `hint: import "example.com/ops", so that it is linked`)
}

func TestParseContradiction(t *testing.T) {
	_, err := Parse([]byte(text("gofx 1\ngraph g(%x: f32[N], %y: f32[M], %z: f32[M+1]) {\n  %a = call_function[@add](%x, %y)\n  %b = call_function[@add](%x, %z)\n  return %b\n}")), "t.fx")
	require.ErrorIs(t, err, Contradiction)
	require.ErrorContains(t, err, "was required by %a")
	require.ErrorContains(t, err, "t.fx:4:3")
}

func TestParseInputSymbols(t *testing.T) {
	m := parse(t, "graph g(%x: f32[N,2*M], %y: i64[M,N]) {\n  return %x\n}")
	require.Equal(t, []Symbol{{"N", m.Graph.Find("x"), 0}, {"M", m.Graph.Find("y"), 0}}, m.Graph.Symbols())
	require.Empty(t, Lint(m.Graph))
}

func TestParseComments(t *testing.T) {
	m := parse(t, "// first\ngraph g(%x: f32[N//2]) { // one\n\n  // two {\n  symbol N = dim(%x, 0)\t// three\n  return %x // four\n} // five\n")
	require.Len(t, m.Graph.Symbols(), 1)
	require.Equal(t, "N//2", m.Graph.Find("x").Type().Dim(0).String())
}

// hostile texts must be refused or read in time and memory bounded by their size.
func hostileTexts() map[string]string {
	const head = "gofx 1\ngraph g(%x: f32[2,3]) {\n"
	deepRegions := head + strings.Repeat("%y = call_function[cond](%x) {\nregion(%x: f32[2]) {\n", 3000)
	many := func(n int, f func(i int) string) string {
		var b strings.Builder
		b.WriteString(head)
		for i := range n {
			b.WriteString(f(i))
		}
		return b.String() + "}\n"
	}
	return map[string]string{
		"newlines":        strings.Repeat("\n", 1<<20),
		"junk":            "gofx 1\n" + strings.Repeat("x\n", 1<<18),
		"braces":          "gofx 1\ngraph g() {\n" + strings.Repeat("{\n", 1<<18),
		"deep regions":    deepRegions,
		"deep results":    head + "  return " + strings.Repeat("[", 1<<18) + "\n}",
		"deep type":       head + "  %y = get_attr[w] : " + strings.Repeat("(", 1<<18) + "\n}",
		"long name":       head + "  %" + strings.Repeat("y", 1<<20) + " = get_attr[w] : f32[2]\n}",
		"long operator":   head + "  %y = call_function[" + strings.Repeat("y", 1<<20) + "](%x)\n}",
		"long attribute":  head + "  %y = call_function[@add](%x, %x) {" + strings.Repeat("y", 1<<20) + "=1}\n}",
		"long literal":    head + "  %y = call_function[@add](%x, %x) {alpha=" + strings.Repeat("9", 1<<20) + "}\n}",
		"huge array":      "gofx 1\ngraph g(%x: f32[2] = array f32[999999999] \"\") {\n}",
		"many operands":   head + "  %y = call_function[@cat](%x" + strings.Repeat(", %x", 1<<17) + ")\n  return %y\n}",
		"many inputs":     "gofx 1\ngraph g(" + strings.Repeat("%x: f32[2], ", 1<<15) + "%y: f32[2]) {\n}",
		"many nodes":      many(1<<14, func(i int) string { return fmt.Sprintf("%%y%d = get_attr[w] : f32[2]\n", i) }),
		"many symbols":    many(1<<14, func(i int) string { return fmt.Sprintf("symbol N%d = dim(%%x, 0)\n", i) }),
		"many notes":      many(1<<15, func(i int) string { return "note \"\"\n" }),
		"many calls":      many(1<<13, func(i int) string { return fmt.Sprintf("%%y%d = call_function[@neg](%%x) : f32[2,3]\n", i) }),
		"many guards":     many(1<<12, func(i int) string { return fmt.Sprintf("guard A%d == B%d\n", i, i) }),
		"many bounds":     many(1<<12, func(i int) string { return fmt.Sprintf("guard A%d >= B%d\n", i, i) }),
		"bounds of one":   many(1<<12, func(i int) string { return fmt.Sprintf("guard N*A%d >= B+N*N\n", i) }),
		"many multiples":  many(1<<12, func(i int) string { return fmt.Sprintf("guard A%d %% 3 == 0\nguard A%d == B%d\n", i, i, i) }),
		"chain of guards": many(1<<12, func(i int) string { return fmt.Sprintf("guard A%d == A%d\n", i, i+1) }),
		"products":        many(1<<12, func(i int) string { return fmt.Sprintf("guard A%d*B == C*D%d\n", i, i+1) }),
		"many equal runs": many(1<<14, func(i int) string { return fmt.Sprintf("%%y_%d = get_attr[w] : f32[2]\n", 2147483000+i) }),
	}
}

func TestParseBoundsTimeAndMemory(t *testing.T) {
	for name, src := range hostileTexts() {
		t.Run(name, func(t *testing.T) {
			src := []byte(text(src))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			_, err := Parse(src, "t.fx")
			took := time.Since(start)
			runtime.ReadMemStats(&after)
			if err != nil {
				require.LessOrEqual(t, len(err.(diag.List)), maxErrors+1)
				require.Less(t, len(err.Error()), 1<<16)
			}
			require.LessOrEqual(t, after.TotalAlloc-before.TotalAlloc, uint64(len(src))*64+1<<20)
			// Linear time is a tenth of a second, the square of the length more than this.
			require.Less(t, took, time.Minute)
		})
	}
}

func TestPrintIsTotal(t *testing.T) {
	require.Equal(t, "gofx 1\n\n", Print(nil, PrintOptions{}))
	require.Equal(t, "gofx 1\n\n", Print(&Module{}, PrintOptions{}))
	g := New("broken graph")
	c := g.At()
	x := c.Placeholder("x", shape.TensorType(array.F32, shape.ConstDims(2)), struct{}{})
	y := c.Function(tNeg, nil, x)
	z := c.Function(tAdd, nil, y, x)
	w := c.Function(tAdd, nil, z, z)
	h := New("other")
	other := h.At().Placeholder("other", shape.Type{}, nil)
	w.SetArg(0, other)
	z.ReplaceUses(nil, nil)
	w.op, y.attrs = nil, tAddAttrs{}
	gone := c.Function(tNeg, nil, x)
	require.NoError(t, g.Erase(gone))
	w.SetArg(1, gone)
	g.DefineSymbol("N", gone, 0)
	g.AddGuard(shape.Sym("N"), shape.Const(2), other)
	c.Output(&Structure{Kind: SliceOf, Fields: []*Structure{nil, Leaf(3), {Kind: StructOf, Fields: []*Structure{Leaf(0)}}}}, y)
	y.more().regions = []*Graph{nil}
	m := NewModule(g.Clone())
	m.SetBound("b", Bound{Params: []string{"", "p"}})
	const want = `graph "broken graph"(%x: f32[2] = opaque "struct {}") {
  symbol N = dim(%neg_1<erased>, 0)
  guard N == 2 from %other
  %neg = call_function[@neg](%x) {?} : f32[2] {
    region ?
  }
  %add = call_function[@add](%neg, %x) : f32[2]
  %add_1 = call_function["?"](%other<foreign>, %neg_1<erased>) : f32[2]
  return [?, ?, struct{"": %neg}]
}
`
	require.Equal(t, "gofx 1\n\n"+text(want), g.String())
	_, err := Parse([]byte(g.String()), "t.fx")
	require.Error(t, err)
	require.Equal(t, "%neg = call_function["+tPath+"neg](%x) {?} : f32[2]", y.Text())
	require.Contains(t, m.String(), `module b = ? (_, p)`)
}

func TestPrintPositions(t *testing.T) {
	g := New("g")
	c := g.At()
	for _, p := range []diag.Pos{{File: "/home/x/m.go", Line: 4}, {File: `C:\x\m.go`, Line: 4, Col: 2, Func: "F"}, {File: "/a/b:7", Line: 4}} {
		c.SetStaticPos(p)
		c.Placeholder("x", shape.Type{}, nil)
	}
	full := PrintGraph(g, PrintOptions{Positions: true})
	require.Contains(t, full, `at "/home/x/m.go:4"`)
	base := PrintGraph(g, PrintOptions{Positions: true, BaseNames: true})
	require.Equal(t, "gofx 1\n\ngraph g(%x: ?[*] at \"m.go:4\", %x_1 \"x\": ?[*] at \"m.go:4:2\" \"F\", %x_2 \"x\": ?[*] at \"b:7:4:0\") {\n}\n", base)
	m, err := Parse([]byte(full), "t.fx")
	require.NoError(t, err)
	require.Equal(t, diag.Pos{File: "/a/b:7", Line: 4}, m.Graph.Find("x_2").Pos())
	require.Equal(t, []diag.Pos{{File: `C:\x\m.go`, Line: 4, Col: 2, Func: "F"}}, m.Graph.Find("x_1").Stack())
}

func TestParseKeepsNames(t *testing.T) {
	m := parse(t, "graph g(%x_5: f32[2], %x_1: f32[2], %x: f32[2], %x_05: f32[2], %x_2147483647: f32[2], %x_2147483648: f32[2]) {\n  return %x\n}")
	var have []string
	for _, n := range m.Graph.Inputs() {
		have = append(have, n.Name())
	}
	require.Equal(t, []string{"x_5", "x_1", "x", "x_05", "x_2147483647", "x_2147483648"}, have)
	seen := map[string]bool{}
	for range 5 {
		m.Graph.Before(m.Graph.Output()).Function(tNeg, nil, m.Graph.Find("x")).Rename("x")
	}
	for n := range m.Graph.Nodes() {
		require.False(t, seen[n.Name()], n.Name())
		seen[n.Name()] = true
	}
}

func TestParseAdHoc(t *testing.T) {
	o := op.NewAdHoc("example.com/p", "f", op.Args("x"), true, true, nil)
	m := parse(t, "graph g(%x: f32[2]) {\n  %f = call_function[example.com/p.f](%x) : f32[7]\n  %y = call_function[@neg](%f) : f32[7]\n  return %y\n}")
	f := m.Graph.Find("f")
	require.Same(t, o, f.Op())
	require.NoError(t, f.Infer())
	require.Equal(t, "f32[7]", f.Type().String(), "what is said of an opaque function stays")
}

func FuzzParse(f *testing.F) {
	for _, s := range roundTrips {
		f.Add([]byte("gofx 1\n" + text(s)))
	}
	for name, s := range hostileTexts() {
		if len(s) < 1<<12 {
			f.Add([]byte(text(s)))
		}
		_ = name
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		m, err := Parse(src, "t.fx")
		if err != nil {
			return
		}
		for _, o := range []PrintOptions{{}, {Positions: true}} {
			text := Print(m, o)
			again, err := Parse([]byte(text), "t.fx")
			require.NoError(t, err, text)
			equal, diff := EqualModules(m, again)
			require.True(t, equal, "%s\n%s", diff, text)
			require.Equal(t, Hash(m.Graph), Hash(again.Graph))
			require.Equal(t, text, Print(again, o))
		}
		Lint(m.Graph)
	})
}
