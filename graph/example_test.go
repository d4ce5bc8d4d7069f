package graph_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/safetensors"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// parse reads a graph whose text is right.
func parse(text string) *graph.Module {
	m, err := graph.Parse([]byte("gofx 1\n\n"+text), "example.fx")
	if err != nil {
		panic(err)
	}
	return m
}

const perceptron = `graph net(%x: f32[N,4]) {
  symbol N = dim(%x, 0)
  %w = get_attr[w] : f32[2,4]
  %lin = call_function[linear](%x, %w, _) : f32[N,2]
  %relu = call_function[relu](%lin) : f32[N,2]
  return %relu
}
param w : f32[2,4]
`

// New and a Cursor build a graph by hand. Types are inferred when a node is made.
func ExampleNew() {
	g := graph.New("attend")
	c := g.At()
	q := c.Placeholder("q", shape.TensorType(array.F32, shape.Of(shape.Sym("N"), shape.Sym("S"), shape.Const(64))), nil)
	g.DefineSymbol("N", q, 0) // where the symbols of the inputs' types come from
	g.DefineSymbol("S", q, 1)
	k := c.Placeholder("k", q.Type(), nil)
	kt := c.Function(std.Transpose, std.TransposeAttrs{Dim0: -2, Dim1: -1}, k)
	scores := c.Function(std.Matmul, nil, q, kt)
	c.Output(nil, scores)

	fmt.Println(scores.Type(), len(graph.Lint(g)))
	fmt.Print(g)
	// Output:
	// f32[N,S,S] 0
	// gofx 1
	//
	// graph attend(%q: f32[N,S,64], %k: f32[N,S,64]) {
	//   symbol N = dim(%q, 0)
	//   symbol S = dim(%q, 1)
	//   %transpose = call_function[transpose](%k) {dim0=-2, dim1=-1} : f32[N,64,S]
	//   %matmul = call_function[matmul](%q, %transpose) : f32[N,S,S]
	//   return %matmul
	// }
}

// A cursor before or after a node gives what it makes that node's position and
// scope. A mistake panics unless OnError collects it.
func ExampleCursor() {
	g := parse(perceptron).Graph
	c := g.After(g.Find("lin"))
	c.OnError = func(err error) {
		var e *diag.Error
		fmt.Println(errors.As(err, &e), e.Code)
	}
	bad := c.Function(std.Matmul, nil, g.Find("w"), g.Find("w"))
	fmt.Println(bad.Type(), g.Erase(bad))

	tanh := c.Method(std.Tanh, nil, g.Find("lin"))
	g.Find("relu").SetArg(0, tanh)
	fmt.Println(g.Find("relu").Text())
	// Output:
	// true FX2001
	// ? <nil>
	// %relu = call_function[relu](%tanh) : f32[N,2]
}

// Inline puts a graph's nodes into another one.
func ExampleCursor_Inline() {
	square := parse("graph square(%a: f32[*]) {\n  %mul = call_function[mul](%a, %a)\n  return %mul\n}\n").Graph
	g := parse(perceptron).Graph
	relu := g.Find("relu")
	out := g.After(relu).Inline(square, []*graph.Node{relu})[0]
	relu.ReplaceUses(out, func(user *graph.Node) bool { return user != out })
	fmt.Println(out.Text())
	fmt.Println(g.Output().Text(), len(graph.Lint(g)))
	// Output:
	// %mul = call_function[mul](%relu, %relu) : f32[*]
	// return %mul 0
}

func ExampleParse() {
	m, err := graph.Parse([]byte(`gofx 1

graph f(%x: f32[N,4]) {
  symbol N = dim(%x, 0)
  %sum = call_function[sum](%x) {dim=[-1]} : f32[N]
  return %sum
}
`), "f.fx")
	fmt.Println(m.Graph.Find("sum").Attrs().(std.ReduceAttrs).Dim, err)

	// All mistakes are reported, with their places.
	_, err = graph.Parse([]byte("gofx 1\ngraph f(%x: f32[2]) {\n  %y = call_function[rely](%x)\n  return %z\n}\n"), "f.fx")
	fmt.Println(err)
	// Output:
	// [-1] <nil>
	// f.fx:3:22: operator "rely" is unknown [FX7006]
	//     hint: did you mean relu?
	// f.fx:4:10: %z is not defined, expected a value of a line before in the same graph or region [FX7004]
}

func ExamplePrint() {
	m := parse(perceptron)
	m.Graph.Find("lin").Rename("logits")
	fmt.Print(graph.Print(m, graph.PrintOptions{}))
	// Output:
	// gofx 1
	//
	// graph net(%x: f32[N,4]) {
	//   symbol N = dim(%x, 0)
	//   %w = get_attr[w] : f32[2,4]
	//   %logits = call_function[linear](%x, %w, _) : f32[N,2]
	//   %relu = call_function[relu](%logits) : f32[N,2]
	//   return %relu
	// }
	// param w : f32[2,4]
}

func ExamplePrintGraph() {
	fmt.Print(graph.PrintGraph(parse("graph id(%x: f32[2]) {\n  return %x\n}\n").Graph, graph.PrintOptions{}))
	// Output:
	// gofx 1
	//
	// graph id(%x: f32[2]) {
	//   return %x
	// }
}

func ExampleFprint() {
	err := graph.Fprint(os.Stdout, parse("graph id(%x: f32[2]) {\n  return %x\n}\n"), graph.PrintOptions{})
	fmt.Println(err)
	// Output:
	// gofx 1
	//
	// graph id(%x: f32[2]) {
	//   return %x
	// }
	// <nil>
}

// Lint says what is wrong with a graph; Erase refuses what would break one.
func ExampleLint() {
	g := parse(perceptron).Graph
	fmt.Println(g.Erase(g.Find("lin")))

	g.MoveBefore(g.Find("relu"), g.Find("lin"))
	for _, e := range graph.Lint(g) {
		fmt.Println(e.Code, e.Node, e.Msg)
	}
	// Output:
	// node %lin: linear: %lin is used 1 times, by %relu [FX3001]
	//     hint: replace its uses first (ReplaceUses)
	// FX3004 relu operand 0 is %lin, which is made later, expected a value made before
}

// Names and the order of exchangeable nodes do not count for Equal and Hash.
func ExampleEqual() {
	a := parse("graph a(%x: f32[2]) {\n  %p = call_function[exp](%x)\n  %q = call_function[neg](%x)\n  %r = call_function[add](%p, %q)\n  return %r\n}\n").Graph
	b := parse("graph b(%y: f32[2]) {\n  %n = call_function[neg](%y)\n  %e = call_function[exp](%y)\n  %s = call_function[add](%e, %n)\n  return %s\n}\n").Graph
	equal, _ := graph.Equal(a, b)
	fmt.Println(equal, graph.Hash(a) == graph.Hash(b))

	_ = b.Find("s").SetAttrs(std.AddAttrs{Alpha: op.Float(2)})
	fmt.Println(graph.Equal(a, b))
	fmt.Println(graph.Hash(a) == graph.Hash(b))
	// Output:
	// true true
	// false %r and %s: attributes {} and {alpha=2.0}
	// false
}

func ExampleHash() {
	g := parse(perceptron).Graph
	seen := map[[32]byte]bool{graph.Hash(g): true} // a cache
	g.Find("relu").Rename("activation")
	fmt.Println(seen[graph.Hash(g)])
	// Output: true
}

// Alike compares the texts of modules, names included, without writing them.
func ExampleAlike() {
	a, b := parse(perceptron), parse(perceptron)
	fmt.Println(graph.Alike(a, b))
	b.Graph.Find("relu").Rename("act")
	equal, _ := graph.Equal(a.Graph, b.Graph)
	fmt.Println(graph.Alike(a, b), equal)
	// Output:
	// true
	// false true
}

// EqualModules compares the state, too.
func ExampleEqualModules() {
	a, b := parse(perceptron), parse(perceptron)
	equal, _ := graph.EqualModules(a, b)
	fmt.Println(equal)
	b.SetParam(graph.Param{Path: "w", Type: b.Param("w").Type, Buffer: true})
	fmt.Println(graph.EqualModules(a, b))
	// Output:
	// true
	// false parameter w differs in being a buffer or in its selector
}

func ExampleClone() {
	m := parse(perceptron)
	c := graph.Clone(m)
	c.Graph.Find("relu").Rename("other")
	fmt.Println(m.Graph.Find("relu"), c.Graph.Find("relu") == nil)
	// Output: %relu true
}

// Save writes text and weights, Load reads them back.
func ExampleSave() {
	m := parse(perceptron)
	m.SetParam(graph.Param{Path: "w", Value: array.New(array.F32, 2, 4)})
	dir, err := os.MkdirTemp("", "gofx")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)

	fmt.Println(graph.Save(dir, m))
	names, _ := filepath.Glob(filepath.Join(dir, "*"))
	for _, name := range names {
		fmt.Println(filepath.Base(name))
	}
	again, err := graph.Load(dir)
	fmt.Println(err)
	fmt.Println(graph.EqualModules(m, again))
	// Output:
	// <nil>
	// graph.fx
	// weights.safetensors
	// <nil>
	// true
}

// Values are what code generation and executables take as the state.
func ExampleModule_Values() {
	m := graph.NewModule(graph.New("net"))
	m.SetParam(graph.Param{Path: "weight", Value: array.FromSlice([]float32{1, 2})})
	fmt.Println(array.Data[float32](m.Values()["weight"]))
	// Output: [1 2]
}

func ExampleLoad() {
	dir, err := os.MkdirTemp("", "gofx")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	file, err := os.Create(filepath.Join(dir, graph.WeightsFile))
	if err != nil {
		fmt.Println(err)
		return
	}
	err = errors.Join(os.WriteFile(filepath.Join(dir, graph.GraphFile), []byte("gofx 1\n\n"+perceptron), 0o644),
		safetensors.Write(file, []safetensors.Named{{Name: "w", Array: array.New(array.F32, 2, 3)}}, nil), file.Close())
	fmt.Println(err)

	_, err = graph.Load(dir)
	var list diag.List
	fmt.Println(errors.As(err, &list))
	for _, e := range list {
		fmt.Println(e.Code, e.Msg)
	}
	// Output:
	// <nil>
	// true
	// FX8022 tensor "w" is f32[2,3], expected f32[2,4]
}

// Fold computes a value for every node from those of its operands: here the
// length of the longest chain of calls.
func ExampleFold() {
	depth, err := graph.Fold(context.Background(), parse(perceptron).Graph, func(n *graph.Node, in []int) (int, error) {
		d := 0
		for _, v := range in {
			d = max(d, v)
		}
		if n.Opcode().IsCall() {
			d++
		}
		return d, nil
	})
	fmt.Println(depth, err)
	// Output: 2 <nil>
}

// Expand replaces a composite operator by what defines it.
func ExampleGraph_Expand() {
	g := parse("graph f(%x: f32[N,4]) {\n  symbol N = dim(%x, 0)\n  %s = call_function[silu](%x)\n  %v = call_function[softmin](%s) {dim=-1}\n  return %v\n}\n").Graph
	out, err := g.Expand(g.Find("v"))
	fmt.Println(out, err)
	fmt.Print(g)

	out, err = g.Expand(out) // a primitive operator stays
	fmt.Println(out == nil, err)
	// Output:
	// %softmax <nil>
	// gofx 1
	//
	// graph f(%x: f32[N,4]) {
	//   symbol N = dim(%x, 0)
	//   %s = call_function[silu](%x) : f32[N,4]
	//   %neg = call_function[neg](%s) : f32[N,4]
	//   %softmax = call_function[softmax](%neg) {dim=-1} : f32[N,4]
	//   return %softmax
	// }
	// true <nil>
}

// NewKey makes side data of one type, which edits carry along.
func ExampleNewKey() {
	cost := graph.NewKey[int]("cost")
	g := parse(perceptron).Graph
	lin, relu := g.Find("lin"), g.Find("relu")
	cost.Set(lin, 16)
	graph.CopyMeta(relu, lin)
	n, ok := cost.Get(relu)
	fmt.Println(n, ok)
	cost.Delete(relu)
	_, ok = cost.Get(relu)
	fmt.Println(ok)
	// Output:
	// 16 true
	// false
}

// What is made in place of a node inherits what is known of where it comes from.
func ExampleNewInheritedKey() {
	origin := graph.NewInheritedKey[string]("origin")
	g := parse(perceptron).Graph
	relu := g.Find("relu")
	origin.Set(relu, "relu of the model")
	fmt.Println(origin.Get(g.Before(relu).Function(std.Neg, nil, relu.Arg(0))))
	// Output: relu of the model true
}

// CopyMeta does not overwrite.
func ExampleCopyMeta() {
	label := graph.NewKey[string]("label")
	g := parse(perceptron).Graph
	label.Set(g.Find("lin"), "linear")
	label.Set(g.Find("relu"), "activation")
	graph.CopyMeta(g.Find("relu"), g.Find("lin"))
	fmt.Println(label.Get(g.Find("relu")))
	// Output: activation true
}

// A Copier rebuilds a graph node by node, with changes.
func ExampleNewCopier() {
	src := parse(perceptron).Graph
	dst := graph.New("copy")
	k, c := graph.NewCopier(dst, src), dst.At()
	for n := range src.Nodes() {
		var args []*graph.Node
		for _, a := range n.Args() {
			if a != nil {
				a = k.Mapped(a)
			}
			args = append(args, a)
		}
		k.At(c, n)
		if n.Op() == std.Relu {
			k.Map(n, c.Function(std.Gelu, nil, args...))
			continue
		}
		k.Map(n, k.Copy(c, n, args))
	}
	k.Finish()
	fmt.Print(dst)
	// Output:
	// gofx 1
	//
	// graph copy(%x: f32[N,4]) {
	//   symbol N = dim(%x, 0)
	//   %w = get_attr[w] : f32[2,4]
	//   %lin = call_function[linear](%x, %w, _) : f32[N,2]
	//   %gelu = call_function[gelu](%lin) : f32[N,2]
	//   return %gelu
	// }
}

// NewModule adds state to a graph.
func ExampleNewModule() {
	g := graph.New("scale")
	m := graph.NewModule(g)
	m.SetParam(graph.Param{Path: "gain", Value: array.Scalar(float32(3))})
	c := g.At()
	x := c.Placeholder("x", shape.Unranked(array.F32), nil)
	c.Output(nil, c.Function(std.Mul, nil, x, c.GetAttr("gain")))
	fmt.Print(m)
	// Output:
	// gofx 1
	//
	// graph scale(%x: f32[*]) {
	//   %gain = get_attr[gain] : f32[]
	//   %mul = call_function[mul](%x, %gain) : f32[*]
	//   return %mul
	// }
	// param gain : f32[]
}

// Leaf and Structure say how results are packed.
func ExampleLeaf() {
	g := graph.New("both")
	c := g.At()
	x := c.Placeholder("x", shape.Unranked(array.F32), nil)
	c.Output(&graph.Structure{Kind: graph.MapOf, Keys: []string{"in", "out"},
		Fields: []*graph.Structure{graph.Leaf(0), graph.Leaf(1)}}, x, c.Function(std.Neg, nil, x))
	fmt.Println(g.Output().Text())
	// Output: return {"in": %x, out: %neg}
}
