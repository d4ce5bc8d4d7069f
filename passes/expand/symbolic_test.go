package expand_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// ways are how sizes become symbols: one for equal sizes, in attributes too, one for
// each place, or the first axis alone.
var ways = []func(operand, axis, size int) string{
	func(_, _, size int) string { return fmt.Sprintf("S%d", size) },
	func(operand, axis, _ int) string { return fmt.Sprintf("A%d_%d", operand, axis) },
	func(_, axis, size int) string {
		if axis > 0 {
			return ""
		}
		return fmt.Sprintf("N%d", size)
	},
}

// symbolic is a call whose operands have symbols for sizes.
type symbolic struct {
	attrs any
	types []shape.Type   // of the present operands
	own   map[string]int // the sizes of the sample
}

func symbols(attrs any, in []*array.Array, name func(operand, axis, size int) string) symbolic {
	s := symbolic{own: map[string]int{}}
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
	s.attrs = v.Interface()
	return s
}

// operands are those of the sample in other sizes, with its elements.
func (s symbolic) operands(in []*array.Array, sizes map[string]int) []*array.Array {
	out := make([]*array.Array, len(in))
	k := 0
	for i, a := range in {
		if a == nil {
			continue
		}
		_, dims, _ := s.types[k].Bind(func(name string) shape.Dim { return shape.Const(sizes[name]) }).Concrete()
		k++
		out[i] = array.New(a.DType(), dims...)
		if a.DType().IsNarrow() || a.Len() == 0 {
			continue
		}
		from := array.Contiguous(a)
		for j := range out[i].Len() {
			if a.DType().IsFloat() {
				array.SetFloat64At(out[i], j, array.Float64At(from, j%a.Len()))
			} else {
				array.SetInt64At(out[i], j, array.Int64At(from, j%a.Len()))
			}
		}
	}
	return out
}

// others are the sizes of the sample and some more.
func (s symbolic) others(r *rand.Rand) []map[string]int {
	sets := []map[string]int{s.own}
	names := slices.Sorted(maps.Keys(s.own))
	for k := range 4 {
		m := maps.Clone(s.own)
		one := r.IntN(max(len(names), 1))
		for i, name := range names {
			switch {
			case k < 2 && (k == 0 || i == one):
				m[name] = []int{0, 1, 2, 3, 5, 7, 4, 8}[r.IntN(8)]
			case k >= 2: // equal sizes stay equal
				m[name] = (s.own[name] + k) % 5
			}
		}
		sets = append(sets, m)
	}
	return sets
}

func (s symbolic) eager(o *op.Op, in []*array.Array, sizes map[string]int) ([]*array.Array, error) {
	attrs := s.attrs
	if o.Codec().HasDims() {
		attrs = o.Codec().Bind(attrs, func(name string) shape.Dim { return shape.Const(sizes[name]) })
	}
	return o.Eval(&kernel.Workspace{}, attrs, in)
}

// TestSymbolicSizes expands every sample with symbols for sizes and runs it at its own
// sizes and at others: the expansion may refuse more than the kernel, in its own words
// where it is made and by guards where it runs, but computes nothing else.
func TestSymbolicSizes(t *testing.T) {
	eachEntry(t, func(t *testing.T, o *op.Op) {
		r := rand.New(rand.NewPCG(4, uint64(len(o.Name))))
		ran, refused := 0, map[string]int{}
		for _, sample := range o.Samples() {
			for _, name := range ways {
				s := symbols(sample.Attrs, sample.In, name)
				m, err := single(o, s.attrs, sample.In, s.types)
				if err != nil {
					continue
				}
				if why := expanded(t, m); len(why) > 0 {
					for _, w := range why {
						refused[w]++
					}
					continue
				}
				require.Empty(t, left(m), "%s %v", sample.Name, s.types)
				for _, sizes := range s.others(r) {
					in := s.operands(sample.In, sizes)
					want, refusal := s.eager(o, in, sizes)
					got, err := run(m, in)
					if err != nil {
						continue
					}
					require.NoError(t, refusal, "%s %v of %v: the kernel refuses this\n%s", sample.Name, sizes, s.types, m)
					if d := differ(o, s.attrs, in, want, got); d != "" {
						t.Fatalf("%s %v of %v: %s\n%s", sample.Name, sizes, s.types, d, m)
					}
					ran++
				}
			}
		}
		for w := range refused {
			known := slices.ContainsFunc(symbolicRefusals, func(part string) bool { return strings.Contains(w, part) })
			require.True(t, known, "unknown reason: %s", w)
		}
		t.Logf("%d runs, refused: %v", ran, refused)
		require.True(t, ran > 0 || len(refused) > 0, "nothing ran")
	})
}

// symbolicRefusals are parts of the reasons for which calls with symbols are left.
var symbolicRefusals = []string{
	"expected a number: the calls that stand for it are counted when it is expanded",
	"the rank of the result is not known", "a size is not known", "the rank of an operand is not known",
	"the length of the diagonal of sizes", "the greatest of nothing is 0", "sampling_ratio is 0", "mode is max",
}
