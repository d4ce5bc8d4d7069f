package shard_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/shard"
	"github.com/gofx-dev/gofx/op"
	_ "github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// oneCall returns a module of one call of the operator, whose inputs are x0, x1 and so on.
func oneCall(o *op.Op, attrs any, in []*array.Array) (*graph.Module, map[string]*array.Array) {
	g := graph.New("one")
	m := graph.NewModule(g)
	c := g.At()
	args := make([]*graph.Node, len(in))
	values := map[string]*array.Array{}
	for i, a := range in {
		if a != nil {
			name := "x" + strconv.Itoa(i)
			args[i] = c.Placeholder(name, shape.TypeOf(a), nil)
			values[args[i].Name()] = a
		}
	}
	call := c.Function(o, attrs, args...)
	n, tuple := o.NumResults(attrs)
	if !tuple {
		c.Output(nil, call)
		return m, values
	}
	s := &graph.Structure{Kind: graph.Results}
	items := make([]*graph.Node, n)
	for i := range items {
		items[i] = c.ItemNode(call, i)
		s.Fields = append(s.Fields, graph.Leaf(i))
	}
	c.Output(s, items...)
	return m, values
}

// splits lists ways to cut a tensor by the axes of a mesh, each axis at most once.
func splits(dims []int, mesh shard.Mesh) []shard.Split {
	list := []shard.Split{make(shard.Split, len(dims))}
	for _, a := range mesh {
		for _, s := range slices.Clone(list) {
			for d, n := range dims {
				if n > 0 && n%a.Size == 0 && s[d] == "" {
					t := slices.Clone(s)
					t[d] = a.Name
					list = append(list, t)
				}
			}
		}
	}
	return list
}

// TestEveryOperatorInParts: each operator's samples, cut in ways that are drawn, give what the
// operator gives, where partitions run its steps on slices and exchange what the plan says.
func TestEveryOperatorInParts(t *testing.T) {
	nightly := fxtest.IsNightly()
	tries, samples := 2, 6
	if nightly {
		tries, samples = 12, 1<<30
	}
	cut, exchanged, inParts := 0, map[shard.Kind]int{}, map[string]bool{}
	for _, o := range op.All() {
		if o.Structural() || o.AdHoc || o.ByValue || o.Effect == op.Effectful {
			continue
		}
		r := rand.New(rand.NewPCG(uint64(len(o.Name)), uint64(o.Name[0])))
		list := o.Samples()
		if len(list) > samples {
			r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
			list = list[:samples]
		}
		for _, s := range list {
			m, values := oneCall(o, s.Attrs, s.In)
			for range tries {
				p := drawn(t, r, m, values)
				if p == nil {
					continue
				}
				if computed := checkRun(t, o, s, p, values); computed {
					cut++
					inParts[o.Key()] = true
				}
				for _, e := range p.Exchanges {
					exchanged[e.Kind]++
				}
			}
		}
	}
	t.Log(cut, "calls in parts, of", len(inParts), "operators;", exchanged)
	require.Greater(t, cut, 1000)
	require.Greater(t, len(inParts), 200)
	require.Greater(t, exchanged[shard.AllReduce], 30)
	require.Greater(t, exchanged[shard.AllGather], 100)
}

// drawn plans a module over a mesh with layouts of its inputs that are drawn, nil where these
// contradict each other.
func drawn(t *testing.T, r *rand.Rand, m *graph.Module, values map[string]*array.Array) *shard.Plan {
	mesh := shard.Mesh{{Name: "a", Size: 2 + r.IntN(2)}}
	if r.IntN(2) == 0 {
		mesh = append(mesh, shard.Axis{Name: "b", Size: 2 + r.IntN(3)})
	}
	l := shard.Layout{Mesh: mesh, Inputs: map[string]shard.Split{}}
	for _, n := range m.Graph.Inputs() {
		if all := splits(values[n.Name()].Shape(), mesh); r.IntN(4) > 0 && len(all) > 1 {
			l.Inputs[n.Name()] = all[1+r.IntN(len(all)-1)]
		}
	}
	p, err := shard.Propagate(m, lowering.Options{}, l)
	if errors.Is(err, shard.Conflict) || errors.Is(err, lowering.UnknownSize) {
		return nil
	}
	require.NoError(t, err, m.Graph.String())
	return p
}

// checkRun compares the plan's results with the operator's and reports whether a call was
// computed in parts.
func checkRun(t *testing.T, o *op.Op, s op.Sample, p *shard.Plan, values map[string]*array.Array) (inParts bool) {
	want, err := o.Eval(&kernel.Workspace{}, s.Attrs, s.In)
	require.NoError(t, err)
	got, err := (&machine{plan: p}).run(values)
	text := func() string {
		var b strings.Builder
		b.WriteString(o.Key() + ", " + s.Name + ", mesh " + p.Mesh.String())
		for _, v := range p.Inputs {
			b.WriteString(", " + v.Name + " " + v.Split.String())
		}
		return b.String()
	}
	require.NoError(t, err, text())
	if d := fxtest.CloseArrays(want, got); d != "" && !near(o, want, got) {
		t.Errorf("%s: %s\n%s", text(), d, p.Module.Graph)
	}
	return slices.ContainsFunc(p.Work, func(w shard.Work) bool { return len(w.Cuts) > 0 })
}

// near reports whether results of 8 bits, which expansions round otherwise, are one apart.
func near(o *op.Op, want, got []*array.Array) bool {
	for i, w := range want {
		if !o.HasReference() || !w.DType().IsInt() || got[i].DType() != w.DType() {
			return false
		}
		for k := range w.Len() {
			if d := array.Int64At(w, k) - array.Int64At(got[i], k); d < -1 || d > 1 {
				return false
			}
		}
	}
	return true
}
