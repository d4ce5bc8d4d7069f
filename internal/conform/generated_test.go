package conform

import (
	"errors"
	"fmt"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/codegen"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/cases"
	"github.com/gofx-dev/gofx/internal/fxtest"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// styles are the engines that are Go code.
var styles = []struct {
	engine   string
	generate func(m *graph.Module, pkg string) (*codegen.Files, error)
}{{Module, moduleStyle}, {Gen, kernelStyle}}

// samplesOfPackage bounds the calls in one generated package.
const samplesOfPackage = 400

// batch is a graph that makes many sample calls, whose operands are its
// parameters: one package instead of one for each sample.
type batch struct {
	m    *graph.Module
	c    *graph.Cursor
	out  []*graph.Node
	n    int
	want []*array.Array
	what []string // of each result
}

func newBatch() *batch {
	g := graph.New("samples")
	return &batch{m: graph.NewModule(g), c: g.At()}
}

func (b *batch) add(t testing.TB, o *op.Op, i int, s op.Sample) {
	t.Helper()
	args := make([]*graph.Node, len(s.In))
	in := make([]*array.Array, len(s.In)) // as files hold them: products may round otherwise for other layouts
	for k, a := range s.In {
		if a != nil {
			in[k] = array.Contiguous(a)
			path := fmt.Sprintf("%s.call%d.%s", o.Name, i, operandName(o, k))
			b.m.SetParam(graph.Param{Path: path, Type: shape.TypeOf(a), Value: in[k]})
			args[k] = b.c.GetAttr(path)
		}
	}
	var n *graph.Node
	if i%2 == 1 && len(args) > 0 && args[0] != nil {
		n = b.c.Method(o, s.Attrs, args...)
	} else {
		n = b.c.Function(o, s.Attrs, args...)
	}
	want, err := o.Eval(&kernel.Workspace{}, s.Attrs, in)
	require.NoError(t, err)
	count, tuple := o.NumResults(s.Attrs)
	for k := range count {
		item := n
		if tuple {
			item = b.c.ItemNode(n, k)
		}
		b.out = append(b.out, item)
		b.what = append(b.what, fmt.Sprintf("%s %q %s, result %d", o.Name, s.Name, o.Codec().Print(s.Attrs), k))
	}
	b.want = append(b.want, want...)
	b.n++
}

func operandName(o *op.Op, k int) string {
	if k >= len(o.In)-1 && o.Variadic() {
		return o.In[len(o.In)-1].Name + strconv.Itoa(k)
	}
	return o.In[k].Name
}

func (b *batch) finish() *graph.Module {
	s := &graph.Structure{Kind: graph.SliceOf}
	for i := range b.out {
		s.Fields = append(s.Fields, graph.Leaf(i))
	}
	b.c.Output(s, b.out...)
	return b.m
}

// batches puts the samples of all operators that an engine runs into graphs.
func batches(t testing.TB, engine string) []*batch {
	t.Helper()
	all := []*batch{newBatch()}
	for _, o := range Ops() {
		if o.Structural() || Excluded(o, engine) != nil {
			continue
		}
		if all[len(all)-1].n+len(o.Samples()) > samplesOfPackage {
			all = append(all, newBatch())
		}
		for i, s := range o.Samples() {
			all[len(all)-1].add(t, o, i, s)
		}
	}
	return all
}

// TestGenerated prints every sample, structural graph and case as Go in both
// styles, builds everything as one program, runs it, and compares.
func TestGenerated(t *testing.T) {
	if testing.Short() {
		t.Skip("the generated packages take a minute to build")
	}
	p := newProgram(t)
	var checks []func(got map[string][]*array.Array)
	for _, style := range styles {
		for i, b := range batches(t, style.engine) {
			pkg := fmt.Sprintf("%s%d", style.engine, i)
			files, err := style.generate(b.finish(), pkg)
			require.NoError(t, err, pkg)
			p.add(pkg, files, nil)
			checks = append(checks, func(got map[string][]*array.Array) { b.check(t, pkg, got[pkg+"/0"]) })
		}
		checks = append(checks, addStructural(t, p, style.engine, style.generate)...)
		checks = append(checks, addCases(t, p, style.engine, style.generate)...)
		checks = append(checks, addExtras(t, p, style.engine, style.generate)...)
	}
	got := p.run()
	for _, check := range checks {
		check(got)
	}
}

func (b *batch) check(t *testing.T, pkg string, got []*array.Array) {
	require.Len(t, got, len(b.want), pkg)
	for i := range b.want {
		if d := fxtest.SameArray(b.want[i], got[i]); d != "" {
			t.Errorf("%s: %s: %s", pkg, b.what[i], d)
		}
	}
}

type generator func(m *graph.Module, pkg string) (*codegen.Files, error)

func addStructural(t *testing.T, p *program, engine string, generate generator) (checks []func(map[string][]*array.Array)) {
	for _, o := range Ops() {
		if !o.Structural() {
			continue
		}
		s, pkg := StructuralGraph(o), engine+o.Name
		files, err := generate(s.Module(t), pkg)
		if e := Excluded(o, engine); e != nil {
			refused(t, pkg, e.Code, err)
			continue
		}
		require.NoError(t, err, pkg)
		var sets [][]*array.Array
		for _, x := range s.Inputs() {
			sets = append(sets, []*array.Array{x})
		}
		p.add(pkg, files, sets...)
		checks = append(checks, func(got map[string][]*array.Array) {
			for k, set := range sets {
				fxtest.Same(t, fmt.Sprintf("%s, %d rows", pkg, k), s.want(set[0]), got[fmt.Sprintf("%s/%d", pkg, k)])
			}
		})
	}
	return checks
}

// refused requires an error whose diagnostics all have the code.
func refused(t *testing.T, what string, code diag.Code, err error) {
	t.Helper()
	var l diag.List
	require.True(t, errors.As(err, &l) && len(l) > 0, "%s: %v", what, err)
	for _, e := range l {
		require.Equal(t, code, e.Code, "%s: %v", what, e)
	}
}

// refusal returns the code with which an engine refuses a case, "" when it runs it.
func refusal(c cases.Case, engine string) diag.Code {
	switch {
	case engine != Plan && engine != Gen:
		return ""
	case c.Opaque, c.Opts == nil: // the types of all values must follow from the inputs'
		return lowering.UnknownSize
	case engine == Plan:
		return ""
	case c.Stateful:
		return codegen.CodeState
	case c.Regions:
		return codegen.CodeRegion
	}
	return ""
}

func addCases(t *testing.T, p *program, engine string, generate generator) (checks []func(map[string][]*array.Array)) {
	for i, c := range append(cases.All(), cases.Writes()...) {
		pkg := fmt.Sprintf("%scase%d", engine, i)
		gm, err := fx.Trace(ctx, c.Fn, c.Opts...)
		require.NoError(t, err, c.Name)
		files, err := generate(gm.Module, pkg)
		if code := refusal(c, engine); code != "" {
			if c.Stateful && c.Regions { // both are refused, in the order of the graph
				var l diag.List
				require.ErrorAs(t, err, &l, c.Name)
				for _, e := range l {
					require.Contains(t, []diag.Code{codegen.CodeState, codegen.CodeRegion}, e.Code, "%s: %v", c.Name, e)
				}
				continue
			}
			refused(t, c.Name, code, err)
			continue
		}
		require.NoError(t, err, "%s, engine %s", c.Name, engine)
		var sets [][]*array.Array
		var want [][]*array.Array
		for _, in := range c.Inputs {
			sets = append(sets, arrays(in))
			want = append(want, clones(arrays(c.Eager(in)))) // a result may be state, which later calls write
		}
		p.add(pkg, files, sets...)
		checks = append(checks, func(got map[string][]*array.Array) {
			for k := range sets {
				fxtest.Same(t, fmt.Sprintf("%s, engine %s, inputs %d", c.Name, engine, k), want[k], got[fmt.Sprintf("%s/%d", pkg, k)])
			}
		})
	}
	return checks
}
