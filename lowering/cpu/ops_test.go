package cpu_test

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// oneCall returns a module of one call of the operator. With symbolic set, every
// size of every operand is a symbol of its own.
func oneCall(o *op.Op, attrs any, in []*array.Array, symbolic bool) (m *graph.Module, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = r.(error)
		}
	}()
	g := graph.New("one")
	m = graph.NewModule(g)
	c := g.At()
	args := make([]*graph.Node, len(in))
	for i, a := range in {
		if a == nil {
			continue
		}
		typ := shape.TypeOf(a)
		name := "x" + string(rune('a'+i))
		if symbolic {
			dims := make([]shape.Dim, a.Rank())
			for k := range dims {
				dims[k] = shape.Sym(name + string(rune('0'+k)))
			}
			typ = shape.TensorType(a.DType(), shape.Of(dims...))
		}
		args[i] = c.Placeholder(name, typ, nil)
		for k := range a.Rank() {
			if symbolic {
				g.DefineSymbol(name+string(rune('0'+k)), args[i], k)
			}
		}
	}
	call := c.Function(o, attrs, args...)
	n, tuple := o.NumResults(attrs)
	if !tuple {
		c.Output(nil, call)
		return m, nil
	}
	s := &graph.Structure{Kind: graph.Results}
	items := make([]*graph.Node, n)
	for i := range items {
		items[i] = c.ItemNode(call, i)
		s.Fields = append(s.Fields, graph.Leaf(i))
	}
	c.Output(s, items...)
	return m, nil
}

func present(in []*array.Array) []*array.Array {
	var out []*array.Array
	for _, a := range in {
		if a != nil {
			out = append(out, a)
		}
	}
	return out
}

func TestEveryOperatorSampleEqualsItsMeaning(t *testing.T) {
	for _, o := range op.All() {
		if o.Structural() || o.AdHoc {
			continue
		}
		t.Run(o.Key(), func(t *testing.T) {
			for _, s := range o.Samples() {
				want, err := o.Eval(&kernel.Workspace{}, s.Attrs, s.In)
				require.NoError(t, err, s.Name)
				m, err := oneCall(o, s.Attrs, s.In, false)
				require.NoError(t, err, s.Name)
				require.Empty(t, lowering.Query(cpu.Target{}, m.Graph), s.Name)
				t.Log(s.Name)
				agrees(t, s.Name, m, want, present(s.In))
				if m := frozen(t, o, s); m != nil {
					agrees(t, s.Name+" on a weight", m, want, s.In[:1])
				}
			}
		})
	}
}

// agrees runs an exact plan, which must give the bits of want, and another one,
// which may round otherwise.
func agrees(t *testing.T, name string, m *graph.Module, want, in []*array.Array) {
	t.Helper()
	e := compile(t, m, lowering.Options{Exact: true})
	got, err := e.Run(ctx, in)
	require.NoError(t, err, name)
	same(t, want, got)
	again(t, e, in, want)
	e = compile(t, m, lowering.Options{})
	got, err = e.Run(ctx, in)
	require.NoError(t, err, name)
	near(t, name, want, got)
	again(t, e, in, got)
}

// frozen returns a module of one call whose operands but the first are weights, nil
// for calls that have none.
func frozen(t *testing.T, o *op.Op, s op.Sample) *graph.Module {
	if _, tuple := o.NumResults(s.Attrs); tuple || len(s.In) < 2 || s.In[0] == nil || o.Class != op.Contraction {
		return nil
	}
	g := graph.New("one")
	m := graph.NewModule(g)
	c := g.At()
	args := []*graph.Node{c.Placeholder("x", shape.TypeOf(s.In[0]), nil)}
	for i, a := range s.In[1:] {
		var w *graph.Node
		if a != nil {
			path := "w" + strconv.Itoa(i)
			m.SetParam(graph.Param{Path: path, Value: a})
			w = c.GetAttr(path)
		}
		args = append(args, w)
	}
	c.OnError = func(err error) { require.NoError(t, err) }
	c.Output(nil, c.Function(o, s.Attrs, args...))
	return m
}

// again runs in memory that holds NaN, other numbers and zeros, none of which may
// show in the results.
func again(t testing.TB, e *cpu.Executable, in, want []*array.Array) {
	t.Helper()
	for _, v := range []byte{0xff, 0x5a, 0} {
		e.Soil(v)
		got := make([]*array.Array, len(want))
		for i, a := range want {
			got[i] = array.New(a.DType(), a.Shape()...)
			b := got[i].Storage().Bytes()
			for k := range b {
				b[k] = v
			}
		}
		require.NoError(t, e.RunInto(ctx, got, in))
		same(t, want, got)
	}
}

// TestEveryOperatorSampleWithSymbolicSizes compiles samples for unknown sizes.
// What a type rule or a kernel cannot say without the sizes must be refused.
func TestEveryOperatorSampleWithSymbolicSizes(t *testing.T) {
	ran, refused := map[string]int{}, map[string]string{}
	for _, o := range op.All() {
		if o.Structural() || o.AdHoc {
			continue
		}
		for _, s := range o.Samples() {
			m, err := oneCall(o, s.Attrs, s.In, true)
			if err != nil {
				continue
			}
			e, err := cpu.Compile(m, lowering.Options{})
			if err != nil {
				require.True(t, strings.Contains(err.Error(), "[FX"), err)
				require.NotErrorIs(t, err, lowering.Unsupported)
				refused[o.Key()+" "+s.Name] = err.Error()
				continue
			}
			got, err := e.Run(ctx, present(s.In))
			if err != nil {
				// Sizes that are 1 broadcast only when that is known, and some operators
				// have a case of their own for dimensions known to be empty.
				empty := slices.ContainsFunc(present(s.In), func(a *array.Array) bool { return a.Len() == 0 })
				require.True(t, errors.Is(err, interp.GuardFailed) || empty, "%s %s: %v", o.Key(), s.Name, err)
				continue
			}
			want, err := o.Eval(&kernel.Workspace{}, s.Attrs, s.In)
			require.NoError(t, err)
			near(t, o.Key()+" "+s.Name, want, got)
			again(t, e, present(s.In), got)
			ran[o.Key()]++
		}
	}
	require.Greater(t, len(ran), 180, "most operators run for sizes that are not known")
	for what, why := range refused {
		require.Regexp(t, `^(squeeze|diagonal|interpolate|conv\dd same|max_pool|scaled_dot_product_attention grouped|sized)`, what, why)
	}
}

// near requires results to be equal up to rounding: a plan that is not exact, or an
// operator without sizes, may choose another order of its sums.
func near(t *testing.T, what string, want, got []*array.Array) {
	t.Helper()
	fxtest.Close(t, what, want, got)
}
