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
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/cases"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// styles are the engines that are Go code.
var styles = []struct {
	engine   string
	generate generator
}{{Module, moduleStyle}, {Gen, kernelStyle}}

type generator func(m *graph.Module, pkg string) (*codegen.Files, error)

// samplesOfPackage bounds the calls in one generated package.
const samplesOfPackage = 400

// batch is a graph that makes many sample calls, whose operands are its
// parameters: one package instead of one for each sample.
type batch struct {
	m     *graph.Module
	c     *graph.Cursor
	out   []*graph.Node
	calls []batchCall
}

// batchCall is a call of a sample and its expected results.
type batchCall struct {
	o    *op.Op
	i    int // which sample
	what string
	want []*array.Array
}

func newBatch() *batch {
	g := graph.New("samples")
	return &batch{m: graph.NewModule(g), c: g.At()}
}

// add enters sample i of an operator.
func (b *batch) add(t testing.TB, o *op.Op, i int) {
	t.Helper()
	s := o.Samples()[i]
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
	}
	b.calls = append(b.calls, batchCall{o, i, s.Name + " " + o.Codec().Print(s.Attrs), want})
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

// enter compares the results of the calls with the expected ones.
func (b *batch) enter(m *Matrix, engine string, got []*array.Array) {
	for _, c := range b.calls {
		k := min(len(c.want), len(got))
		m.Add(c.o, engine, c.what, agreement(engine, c.want, got[:k]))
		got = got[k:]
	}
}

// addSamples generates packages that call the samples of all operators. A package that cannot be generated is made
// again without the samples for which that alone fails; they are entered.
func addSamples(p *program, m *Matrix, engine string, generate func(b *batch, pkg string) error) (made []*batch) {
	b := newBatch()
	flush := func() {
		if len(b.calls) == 0 {
			return
		}
		if generate(b, fmt.Sprintf("%s%d", engine, len(made))) == nil {
			made = append(made, b)
			b = newBatch()
			return
		}
		good := newBatch()
		for _, c := range b.calls {
			alone := newBatch()
			alone.add(p.t, c.o, c.i)
			if err := generate(alone, "alone"); err != nil {
				m.Add(c.o, engine, c.what, err)
				continue
			}
			good.add(p.t, c.o, c.i)
		}
		require.NoError(p.t, generate(good, fmt.Sprintf("%s%d", engine, len(made))), "samples that can be generated one by one")
		made, b = append(made, good), newBatch()
	}
	for _, o := range Ops() {
		if o.Structural() {
			continue
		}
		if len(b.calls)+len(o.Samples()) > samplesOfPackage {
			flush()
		}
		for i := range o.Samples() {
			b.add(p.t, o, i)
		}
	}
	flush()
	return made
}

// built is the program of all generated packages, once it has run.
type built struct {
	matrix *Matrix
	checks []func(t *testing.T, got map[string][]*array.Array) // of operators that are not in the matrix
	got    map[string][]*array.Array
}

var theProgram *built

// buildAll prints every sample, structural graph and case as Go in both styles,
// builds everything as one program and runs it, unless that has been done. The
// matrix then has all engines.
func buildAll(t *testing.T) *built {
	t.Helper()
	if theProgram != nil {
		return theProgram
	}
	for _, o := range Ops() {
		if o.Structural() {
			runStructural(t, o)
		} else {
			runSamples(o)
		}
	}
	a := &built{matrix: &outcomes}
	p := newProgram(t)
	var enter []func()
	for _, style := range styles {
		made := addSamples(p, a.matrix, style.engine, func(b *batch, pkg string) error {
			if b.finish(); pkg == "alone" {
				_, err := style.generate(b.m, pkg)
				return err
			}
			files, err := style.generate(b.m, pkg)
			if err == nil {
				p.add(pkg, files, nil)
			}
			return err
		})
		for i, b := range made {
			enter = append(enter, func() { b.enter(a.matrix, style.engine, a.got[fmt.Sprintf("%s%d/0", style.engine, i)]) })
		}
		enter = append(enter, addStructural(p, a, style.engine, style.generate)...)
		a.checks = append(a.checks, addCases(t, p, style.engine, style.generate)...)
		a.checks = append(a.checks, addExtras(t, p, style.engine, style.generate)...)
		a.checks = append(a.checks, addViews(t, p, style.engine, style.generate)...)
	}
	a.got = p.run()
	for _, f := range enter {
		f()
	}
	theProgram = a
	return a
}

// TestGenerated holds the generated packages to the results of the samples, the
// structural graphs, the cases and the extras.
func TestGenerated(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: the generated packages take a minute to build")
	}
	a := buildAll(t)
	for _, o := range Ops() {
		for _, style := range styles {
			c := a.matrix.Cell(o, style.engine)
			require.Equal(t, Count(o), c.Total, "%s, engine %s", o.Name, style.engine)
			agreed(t, o, style.engine, c)
		}
	}
	for _, check := range a.checks {
		check(t, a.got)
	}
}

// addStructural adds the graphs of the structural operators and returns a
// function that enters their results.
func addStructural(p *program, a *built, engine string, generate generator) (enter []func()) {
	for _, o := range Ops() {
		if !o.Structural() {
			continue
		}
		s, pkg := StructuralGraph(o), engine+o.Name
		files, err := generate(s.Module(p.t), pkg)
		if err != nil {
			for _, x := range s.Inputs() {
				a.matrix.Add(o, engine, rows(x), err)
			}
			continue
		}
		var sets [][]*array.Array
		for _, x := range s.Inputs() {
			sets = append(sets, []*array.Array{x})
		}
		p.add(pkg, files, sets...)
		enter = append(enter, func() {
			for k, set := range sets {
				got := a.got[fmt.Sprintf("%s/%d", pkg, k)]
				a.matrix.Add(o, engine, rows(set[0]), agreement(engine, s.want(set[0]), got))
			}
		})
	}
	return enter
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
	case c.Untyped, c.Opts == nil: // the types of all values must follow from the inputs'
		return lowering.UnknownSize
	case engine == Plan:
		return ""
	case c.Opaque:
		return codegen.CodeHost
	}
	return ""
}

func addCases(t *testing.T, p *program, engine string, generate generator) (checks []func(*testing.T, map[string][]*array.Array)) {
	for i, c := range cases.Everything() {
		pkg := fmt.Sprintf("%scase%d", engine, i)
		m, err := c.Module(ctx)
		require.NoError(t, err, c.Name)
		files, err := generate(m, pkg)
		if code := refusal(c, engine); code != "" {
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
		checks = append(checks, func(t *testing.T, got map[string][]*array.Array) {
			for k := range sets {
				require.NoError(t, agreement(engine, want[k], got[fmt.Sprintf("%s/%d", pkg, k)]), "%s, engine %s, inputs %d", c.Name, engine, k)
			}
		})
	}
	return checks
}
