package conform

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer"
)

// symbolic is an operator call whose operands have symbols for sizes.
type symbolic struct {
	o     *op.Op
	attrs any
	in    []*array.Array
	types []shape.Type   // of the present operands
	own   map[string]int // the sizes of the sample
}

// ways are how sizes become symbols: one symbol for equal sizes, in attributes
// too, or one for each place.
var ways = []struct {
	what string
	name func(operand, axis, size int) string
}{
	{"equal sizes", func(_, _, size int) string { return fmt.Sprintf("S%d", size) }},
	{"every size", func(operand, axis, _ int) string { return fmt.Sprintf("A%d_%d", operand, axis) }},
	{"first axis", func(_, axis, size int) string {
		if axis > 0 {
			return ""
		}
		return fmt.Sprintf("N%d", size)
	}},
}

func newSymbolic(o *op.Op, attrs any, in []*array.Array, name func(operand, axis, size int) string) *symbolic {
	s := &symbolic{o: o, attrs: attrs, in: in, own: map[string]int{}}
	bySize := map[int]string{}
	for i, a := range present(in) {
		t := shape.TypeOf(a)
		for k, n := range a.Shape() {
			if sym := name(i, k, n); sym != "" {
				s.own[sym], bySize[n] = n, sym
				t = t.WithDims(t.Dims().With(k, shape.Sym(sym)))
			}
		}
		s.types = append(s.types, t)
	}
	s.attrs = symbolicAttrs(attrs, bySize)
	return s
}

// symbolicAttrs puts symbols in the place of sizes that attributes name.
func symbolicAttrs(attrs any, bySize map[int]string) any {
	if attrs == nil {
		return nil
	}
	v := reflect.New(reflect.TypeOf(attrs)).Elem()
	v.Set(reflect.ValueOf(attrs))
	symbol := func(d shape.Dim) shape.Dim {
		if n, ok := d.Int(); ok && n > 1 && bySize[n] != "" {
			return shape.Sym(bySize[n])
		}
		return d
	}
	for i := range v.NumField() {
		switch f := v.Field(i).Interface().(type) {
		case shape.Dim:
			v.Field(i).Set(reflect.ValueOf(symbol(f)))
		case shape.Dims:
			for k, d := range f.Slice() {
				f = f.With(k, symbol(d))
			}
			v.Field(i).Set(reflect.ValueOf(f))
		}
	}
	return v.Interface()
}

// trace captures the call.
func (s *symbolic) trace() (*fx.GraphModule, error) {
	var metas []*tensor.Tensor
	for _, t := range s.types {
		metas = append(metas, tracer.Meta(t))
	}
	return fx.Trace(ctx, call(s.o, s.attrs, s.in, false), fx.Args(metas), fx.Name("symbolic"))
}

// operands are the operands of the sample in other sizes, with its elements.
func (s *symbolic) operands(sizes map[string]int) []*array.Array {
	out := make([]*array.Array, len(s.in))
	k := 0
	for i, a := range s.in {
		if a == nil {
			continue
		}
		_, dims, _ := s.types[k].Bind(func(name string) shape.Dim { return shape.Const(sizes[name]) }).Concrete()
		k++
		out[i] = array.New(a.DType(), dims...)
		from := array.Contiguous(a)
		for j := range out[i].Len() {
			switch {
			case a.Len() == 0:
			case a.DType().IsFloat():
				array.SetFloat64At(out[i], j, array.Float64At(from, j%a.Len()))
			default:
				array.SetInt64At(out[i], j, array.Int64At(from, j%a.Len()))
			}
		}
	}
	return out
}

// eager runs the call at once.
func (s *symbolic) eager(in []*array.Array, sizes map[string]int) ([]*array.Array, error) {
	attrs := s.attrs
	if attrs != nil && s.o.Codec().HasDims() {
		attrs = s.o.Codec().Bind(attrs, func(name string) shape.Dim { return shape.Const(sizes[name]) })
	}
	return s.o.Eval(&kernel.Workspace{}, attrs, in)
}

// small are the sizes at which programs go wrong first.
var small = []int{0, 1, 2, 3, 5, 7, 4, 8}

// sizes returns the sizes of the sample, and others.
func (s *symbolic) sizes(r *rand.Rand) []map[string]int {
	names := slices.Sorted(maps.Keys(s.own))
	sets := []map[string]int{s.own}
	for k := range 5 {
		m := maps.Clone(s.own)
		one := r.IntN(max(len(names), 1))
		for i, name := range names {
			if k < 2 || k > 3 && i == one { // all, or a single one
				m[name] = small[r.IntN(len(small))]
			}
			if k == 2 || k == 3 { // equal sizes stay equal
				m[name] = (s.own[name] + k) % 5
			}
		}
		sets = append(sets, m)
	}
	return sets
}

// check holds the graph and the plan of a call to eager mode's results: they may
// refuse more, never less, and give the same to the last bit.
func (s *symbolic) check(t *testing.T, what string, r *rand.Rand) (ran int) {
	gm, err := s.trace()
	if err != nil {
		return 0
	}
	var plans []*cpu.Executable // the first one is exact
	for _, exact := range []bool{true, false} {
		e, err := cpu.Compile(gm.Module, lowering.Options{Exact: exact})
		if err != nil {
			plans = nil
			break
		}
		plans = append(plans, e)
		defer func() { require.NoError(t, e.Close()) }()
	}
	for _, sizes := range s.sizes(r) {
		what := fmt.Sprintf("%s at %v of %v\n%s", what, sizes, s.types, gm)
		in := s.operands(sizes)
		var want, got []*array.Array
		var refused, err error
		require.NotPanics(t, func() { want, refused = s.eager(in, sizes) }, what)
		require.NotPanics(t, func() { got, err = gm.RunArrays(ctx, present(in)) }, what)
		s.compare(t, what+" interp", want, refused, got, err, fxtest.Same)
		for i, e := range plans {
			same := fxtest.Same
			if i > 0 {
				same = fxtest.Close
			}
			var planned []*array.Array
			require.NotPanics(t, func() { planned, err = e.Run(ctx, present(in)) }, what)
			if s.compare(t, what+" plan", want, refused, planned, err, same) {
				ran++
			}
		}
	}
	return ran
}

func (s *symbolic) compare(t *testing.T, what string, want []*array.Array, refused error, got []*array.Array, err error,
	same func(t testing.TB, what string, want, got []*array.Array)) bool {
	t.Helper()
	if err != nil {
		return false
	}
	require.NoError(t, refused, "%s: eager refuses this", what)
	same(t, what, want, got)
	return true
}

// TestSymbolicSizes runs every sample and every faulty sample with symbols for
// sizes, at its own sizes and at others.
func TestSymbolicSizes(t *testing.T) {
	eachOp(t, func(t *testing.T, o *op.Op) {
		r := rand.New(rand.NewPCG(4, uint64(len(o.Name))))
		for _, way := range ways {
			ran := 0
			for _, s := range o.Samples() {
				ran += newSymbolic(o, s.Attrs, s.In, way.name).check(t, s.Name+" "+way.what, r)
			}
			for _, s := range o.BadSamples() {
				newSymbolic(o, s.Attrs, s.In, way.name).check(t, s.Name+" "+way.what, r)
			}
			t.Log(way.what, ran)
		}
	})
}
