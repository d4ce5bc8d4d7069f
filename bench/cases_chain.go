package main

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/bench/onnxpb"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lazy"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
)

// chainOps are the operators of the microbenchmark, repeated for longer chains.
var chainOps = []string{"add", "mul", "div", "add", "sub", "mul", "div", "add"}

// chainCases are chains of 8, 16 and 32 elementwise operators on nine n by n
// matrices: operator i takes the result so far and matrix 1 + i%8.
func chainCases() []*Case {
	var list []*Case
	for _, n := range []int{100, 1000, 4000} {
		for _, k := range []int{8, 16, 32} {
			list = append(list, chainCase(k, n))
		}
	}
	return list
}

func chainCase(k, n int) *Case {
	c := &Case{Group: "chain", Shape: fmt.Sprintf("%dops_n%d", k, n), Tol: 1e-3, Op: "chain", Elements: n * n}
	for i := range 9 {
		c.Inputs = append(c.Inputs, f32(i, 0.5, 1, n, n))
	}
	var ops []string
	for i := range k {
		ops = append(ops, chainOps[i%len(chainOps)])
	}
	c.Attrs = map[string]any{"ops": ops}
	for _, o := range ops {
		if o == "div" {
			c.Work.Divs += float64(n * n)
		} else {
			c.Work.Adds += float64(n * n)
		}
	}
	c.Work.Bytes, c.Work.Reads = 4*10*float64(n*n), 4*9*float64(n*n)
	c.Ours = func(in []*array.Array, threads int) (*Ours, error) { return oursChain(in, ops, threads) }
	c.Graphs = []Graph{{"ort", func(c *Case) *onnxpb.Model {
		names := map[string]string{"add": "Add", "sub": "Sub", "mul": "Mul", "div": "Div"}
		m := c.model(n, n)
		v := "x0"
		for i, o := range ops {
			out := ""
			if i+1 == k {
				out = "y"
			}
			v = node(m, names[o], out, []string{v, inputName(1 + i%8)})
		}
		return m
	}}}
	return c
}

// vectorFuncs are the functions that are measured an element, with ONNX's name
// and the domain that is not the standard one.
var vectorFuncs = []struct {
	name, onnx, domain string
	scale, shift       float64
}{
	{"exp", "Exp", "", 5, 0},
	{"log", "Log", "", 5, 5.001},
	{"tanh", "Tanh", "", 4, 0},
	{"erf", "Erf", "", 3, 0},
	{"sigmoid", "Sigmoid", "", 6, 0},
	{"gelu", "Gelu", microsoft, 4, 0},
	{"silu", "QuickGelu", microsoft, 4, 0},
	{"sin", "Sin", "", 10, 0},
	{"cos", "Cos", "", 10, 0},
}

// vectorCases take a function of 4096 elements, which stay in the first level of
// cache, and of a million.
func vectorCases() []*Case {
	var list []*Case
	for _, f := range vectorFuncs {
		for _, n := range []int{4096, 1 << 20} {
			c := &Case{Group: "vector", Shape: fmt.Sprintf("%s_%d", f.name, n), Tol: 1e-4, Op: "unary", Elements: n,
				Attrs: map[string]any{"name": f.name},
				Work:  Work{Bytes: 8 * float64(n)}}
			c.Mkldnn = f.name == "tanh" || f.name == "sigmoid" || f.name == "gelu"
			c.OneDNN = f.name != "erf" && f.name != "sin" && f.name != "cos" // which it lacks
			c.Inputs = []Input{f32(1, f.scale, f.shift, n)}
			c.Ours = func(in []*array.Array, threads int) (*Ours, error) { return oursUnary(in, f.name, threads) }
			c.Graphs = []Graph{{"ort", func(c *Case) *onnxpb.Model {
				m := c.model(n)
				v := onnxpb.Node{Op: f.onnx, Domain: f.domain, In: []string{"x0"}, Out: []string{"y"}}
				if f.onnx == "QuickGelu" {
					v.Attrs = []onnxpb.Attr{attr("alpha", float32(1))}
				}
				m.Nodes = []onnxpb.Node{v}
				return m
			}}}
			list = append(list, c)
		}
	}
	return list
}

// lazyCases are programs in a session of package lazy, next to the same calls at once, to the plan
// of a trace, and to PyTorch's ways: W1, W2, W3 and W7 of the workloads that papers on such
// engines measure.
func lazyCases() (list []*Case) {
	for _, n := range []int{100, 1000} {
		for _, k := range []int{8, 16, 32} {
			list = append(list, lazyChain(n, k, false))
		}
		list = append(list, lazyChain(n, 32, true))
	}
	for _, name := range []string{"resnet18", "bert_base"} {
		m := models.Lookup(name)
		list = append(list, &Case{Group: "lazy", Shape: name + "_b1", Tol: networkTol, Op: "network", Network: m, Dims: dimsOf(m, 1), Engines: append(lazyEngines(), []Engine{
			{Name: "rounding", Ours: func(w *network, threads int) (*Ours, error) {
				return w.session(lazy.Options{Threads: threads, Rounding: true})
			}},
			{Name: "plan", Ours: func(w *network, threads int) (*Ours, error) {
				return oursPlan(graph.Clone(w.traced), w.arrays(), lowering.Options{Threads: threads, Shapes: w.dims})
			}}}...)})
	}
	return list
}

// lazyChain is a chain of k calls on nine n by n matrices. With branches the second and fourth
// group of eight go the other way in every second call, and two calls are measured.
func lazyChain(n, k int, branches bool) *Case {
	c := chainCase(k, n)
	ops := c.Attrs["ops"].([]string)
	if branches {
		c.Shape += "_branches"
		c.Work.Adds, c.Work.Divs, c.Work.Bytes, c.Work.Reads = 2*c.Work.Adds, 2*c.Work.Divs, 2*c.Work.Bytes, 2*c.Work.Reads
	}
	c.Group, c.Op, c.Graphs = "lazy", "calls", nil
	c.Attrs = map[string]any{"ops": ops, "branches": branches}
	c.Jit, c.Compile = !branches, true // a trace has one way
	in := func(of func(s *lazy.Session, x []*tensor.Tensor) (*Ours, error), o lazy.Options) func([]*array.Array, int) (*Ours, error) {
		return func(in []*array.Array, threads int) (*Ours, error) {
			o.Threads = threads
			s := lazy.New(o)
			x := make([]*tensor.Tensor, len(in))
			for i, a := range in {
				x[i] = s.In(tensor.New(a))
			}
			v, err := of(s, x)
			if err == nil {
				v.Close = func() { _ = s.Close() }
			}
			return v, err
		}
	}
	session := func(s *lazy.Session, x []*tensor.Tensor) (*Ours, error) {
		return warm(s, func() ([]*array.Array, error) { return []*array.Array{calls(ops, x, branches)}, s.Barrier() })
	}
	c.Ours = in(session, lazy.Options{})
	c.Ways = []Way{{"rounding", in(session, lazy.Options{Rounding: true})},
		{callByCall, in(session, lazy.Options{Warm: math.MaxInt})},
		{"eager", func(in []*array.Array, _ int) (*Ours, error) {
			x := make([]*tensor.Tensor, len(in))
			for i, a := range in {
				x[i] = tensor.New(a)
			}
			return oursCalls("eager", func() ([]*array.Array, error) { return []*array.Array{calls(ops, x, branches)}, nil })
		}}}
	if !branches {
		c.Ways = append(c.Ways, Way{"plan exact", func(in []*array.Array, threads int) (*Ours, error) { return tracedChain(ops, in, threads) }})
	}
	return c
}

// calls computes the chain, with branches both ways, and returns the last result.
func calls(ops []string, x []*tensor.Tensor, branches bool) *array.Array {
	if branches {
		oneWay(ops, x, false).Array()
	}
	return oneWay(ops, x, branches).Array()
}

// oneWay calls the operators; turned tells that every second group of eight goes backwards.
func oneWay(ops []string, x []*tensor.Tensor, turned bool) *tensor.Tensor {
	v := x[0]
	for i := range ops {
		if turned && i/8%2 == 1 {
			v = call(ops[i/8*8+7-i%8], v, x[1+i%8])
		} else {
			v = call(ops[i], v, x[1+i%8])
		}
	}
	return v
}

func call(op string, x, y *tensor.Tensor) *tensor.Tensor {
	switch op {
	case "add":
		return x.Add(y)
	case "sub":
		return x.Sub(y)
	case "mul":
		return x.Mul(y)
	}
	return x.Div(y)
}

// warm runs a program in a session until its plans are there.
func warm(s *lazy.Session, f func() ([]*array.Array, error)) (*Ours, error) {
	for range 3 {
		if _, err := f(); err != nil {
			return nil, err
		}
		s.Wait()
	}
	return oursCalls("session", f)
}

// session runs the module in a session.
func (w *network) session(o lazy.Options) (*Ours, error) {
	s := lazy.New(o)
	v, err := warm(s, func() (out []*array.Array, err error) {
		x := make([]*tensor.Tensor, len(w.in))
		for i, one := range w.in {
			x[i] = s.In(one)
		}
		for _, y := range nn.RunAll(w.module, x...) {
			out = append(out, y.Array())
		}
		return out, s.Barrier()
	})
	if err == nil {
		v.Close = func() { _ = s.Close() }
	}
	return v, err
}

// tracedChain is the exact plan of the chain.
func tracedChain(ops []string, in []*array.Array, threads int) (*Ours, error) {
	var opts []fx.Option
	for i, a := range in {
		opts = append(opts, fx.Input(fmt.Sprintf("x%d", i), shape.TypeOf(a).String()))
	}
	chain := func(x0, x1, x2, x3, x4, x5, x6, x7, x8 *tensor.Tensor) *tensor.Tensor {
		return oneWay(ops, []*tensor.Tensor{x0, x1, x2, x3, x4, x5, x6, x7, x8}, false)
	}
	gm, err := fx.Trace(context.Background(), chain, opts...)
	if err != nil {
		return nil, err
	}
	return oursPlan(gm.Module, in, lowering.Options{Threads: threads, Exact: true})
}

// lazyWays are the columns of the table: ways of gofx, then those of PyTorch.
var lazyWays = []string{"plan exact", "rounding", "plan", "eager", "torch", "torch-jit", "torch-compile"}

// lazySection is the table of programs in a session. Its times are the least ones: those of calls
// in whose turns the collector did not run.
func lazySection(b *strings.Builder, rows []*Row) {
	heading(b, append(append([]string{"program", "session ms"}, inMS(lazyWays)...), "of the exact plan", "eager by it", "torch by it", "allocations", "turns"))
	for _, r := range rows {
		own := r.Least[""]
		cells := []string{r.Shape, ms(own)}
		for _, n := range lazyWays {
			cells = append(cells, ms(r.Least[n]))
		}
		cells = append(cells, over(own, r.Least["plan exact"]), over(r.Least["eager"], own), over(r.Least["torch"], own), fmt.Sprintf("%.0f", r.Allocs), r.pairs())
		fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | "))
	}
}
