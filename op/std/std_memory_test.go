package std

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// used runs operators in memory that was used before: results and scratch are
// full of one byte when a kernel gets them. Composites run by their parts.
type used struct {
	t       *testing.T
	fill    byte
	threads int
}

// many is a value of several arrays.
type many struct{ a []*array.Array }

func (m many) Type() shape.Type { return shape.TypeOf(m.a[0]) }

func (u used) Call(o *op.Op, attrs any, in ...op.Value) op.Value {
	args := make([]*array.Array, len(in))
	for i, v := range in {
		if v != nil {
			args[i] = v.(many).a[0]
		}
	}
	return many{u.run(o, attrs, args)}
}

func (u used) Item(tuple op.Value, i int) op.Value { return many{tuple.(many).a[i : i+1]} }

func (u used) run(o *op.Op, attrs any, in []*array.Array) []*array.Array {
	if attrs == nil {
		attrs = o.Codec().Zero()
	}
	if o.Composite() {
		vals := make([]op.Value, len(in))
		for i, a := range in {
			if a != nil {
				vals[i] = many{[]*array.Array{a}}
			}
		}
		return o.Expand(u, attrs, vals).(many).a
	}
	types := typesOf(in)
	t, err := o.Type(nil, attrs, types)
	require.NoError(u.t, err)
	step, err := o.Step(attrs, types)
	require.NoError(u.t, err)
	members := []shape.Type{t}
	if t.Kind() == shape.Tuple {
		members = nil
		for i := range t.Len() {
			members = append(members, t.Member(i))
		}
	}
	result := func() []*array.Array {
		out := make([]*array.Array, len(members))
		var sizes [][]int
		if o.ByValue {
			for _, m := range members {
				sizes = append(sizes, make([]int, m.Rank()))
			}
			step.(kernel.Sizer).Sizes(sizes, in)
		}
		for i, m := range members {
			d, dims, ok := m.Concrete()
			if o.ByValue {
				d, dims, ok = m.DType(), sizes[i], true
			}
			require.True(u.t, ok)
			out[i] = array.New(d, dims...)
			fill(out[i].Storage().Bytes(), u.fill)
		}
		return out
	}
	w := &kernel.Workspace{Threads: u.threads}
	step.Run(w, result(), in)
	u.soil(w)
	out := result()
	step.Run(w, out, in)
	return out
}

// soil fills all scratch memory that a workspace has.
func (u used) soil(w *kernel.Workspace) {
	mark := w.Mark()
	fill(kernel.Scratch[uint8](w, w.Reserved()), u.fill)
	w.Release(mark)
}

func fill(b []byte, v byte) {
	for i := range b {
		b[i] = v
	}
}

// TestNoKernelLeavesMemoryUnwritten runs every sample in memory full of NaN, of
// other numbers and of zeros, with the same results to the last bit.
func TestNoKernelLeavesMemoryUnwritten(t *testing.T) {
	for _, o := range op.All() {
		if o.Path != "" || o.Structural() || o.AdHoc {
			continue
		}
		t.Run(o.Name, func(t *testing.T) {
			for _, s := range o.Samples() {
				for _, threads := range []int{1, 3} {
					want := used{t, 0, threads}.run(o, s.Attrs, s.In)
					for _, v := range []byte{0xff, 0x5a} {
						got := used{t, v, threads}.run(o, s.Attrs, s.In)
						require.Len(t, got, len(want), s.Name)
						for i := range got {
							require.True(t, array.Equal(want[i], got[i]), fmt.Sprintf("%s, result %d of memory full of %#x, %d threads:\n%s\nof zeros:\n%s",
								s.Name, i, v, threads, array.Format(got[i], 60), array.Format(want[i], 60)))
						}
					}
				}
			}
		})
	}
}

// aliases returns, for each result of a call, the operand that it shares memory
// with, -1 for none.
func aliases(t *testing.T, o *op.Op, attrs any, in []*array.Array) []int {
	out, err := o.Eval(&kernel.Workspace{}, attrs, in)
	require.NoError(t, err)
	list := make([]int, len(out))
	for i, a := range out {
		list[i] = -1
		for _, b := range out[:i] {
			require.True(t, o.ViewOf > 0 || a.Len() == 0 || a.Storage() != b.Storage(), "two results share memory")
		}
		for k, x := range in {
			if x != nil && a.Len() > 0 && a.Storage() == x.Storage() {
				list[i] = k
			}
		}
	}
	return list
}

// TestRecordsSayWhatSharesMemory looks for results that share memory with an
// operand, of every layout: what the record says of views must be that.
func TestRecordsSayWhatSharesMemory(t *testing.T) {
	var g op.Gen
	for _, o := range op.All() {
		if o.Path != "" || o.Structural() || o.AdHoc {
			continue
		}
		t.Run(o.Name, func(t *testing.T) {
			shared := false
			for _, s := range o.Samples() {
				layouts := map[string]func(a *array.Array) *array.Array{
					"":             func(a *array.Array) *array.Array { return a },
					" contiguous":  array.Contiguous,
					" strided":     g.Strided,
					" of a larger": func(a *array.Array) *array.Array { return inner(a) },
				}
				for layout, lay := range layouts {
					in := make([]*array.Array, len(s.In))
					for i, a := range s.In {
						if a != nil {
							in[i] = lay(a)
						}
					}
					for i, k := range aliases(t, o, s.Attrs, in) {
						shared = shared || k >= 0
						if k >= 0 {
							require.Equal(t, o.ViewOf, k+1, "%s%s: result %d shares the memory of operand %d", s.Name, layout, i, k)
						}
					}
				}
			}
			require.Equal(t, o.ViewOf > 0, shared, "the record says that results share memory")
		})
	}
}

// traced is a value that knows the operand of the decomposition, or nothing, of
// which it may be a view; tracing follows the calls of a decomposition by type.
type traced struct {
	types []shape.Type
	of    int
}

func (v traced) Type() shape.Type { return v.types[0] }

type tracing struct{ t *testing.T }

func (b tracing) Call(o *op.Op, attrs any, in ...op.Value) op.Value {
	types := make([]shape.Type, len(in))
	for i, v := range in {
		if v != nil {
			types[i] = v.Type()
		}
	}
	t, err := o.Type(nil, attrs, types)
	require.NoError(b.t, err)
	r := traced{[]shape.Type{t}, -1}
	if t.Kind() == shape.Tuple {
		r.types = nil
		for i := range t.Len() {
			r.types = append(r.types, t.Member(i))
		}
	}
	if o.ViewOf > 0 {
		r.of = in[o.ViewOf-1].(traced).of
	}
	return r
}

func (b tracing) Item(tuple op.Value, i int) op.Value {
	v := tuple.(traced)
	return traced{v.types[i : i+1], v.of}
}

// TestCompositesMakeNoViews follows decompositions back through views: one that
// may end at an operand belongs to an operator whose record says so.
func TestCompositesMakeNoViews(t *testing.T) {
	for _, o := range op.All() {
		if o.Path != "" || !o.Composite() {
			continue
		}
		for _, s := range o.Samples() {
			in := make([]op.Value, len(s.In))
			for i, a := range s.In {
				if a != nil {
					in[i] = traced{[]shape.Type{shape.TypeOf(a)}, i}
				}
			}
			v := o.Expand(tracing{t}, s.Attrs, in).(traced)
			if v.Type().Dims().Prod().Is(0) {
				continue
			}
			require.Equal(t, o.ViewOf-1, v.of, "%s %s", o.Name, s.Name)
		}
	}
}

// Operators whose authors did not say that their results are views.
var (
	unsaidStep = op.Define("unsaid_step", op.Spec[op.None]{
		Doc: "unsaid_step is a test.", In: op.Args("x"),
		Infer:  func(_ *op.Infer, _ op.None, in []shape.Type) (shape.Type, error) { return in[0], nil },
		Kernel: func(op.None, []shape.Type) kernel.Step { return &kernel.Reshape{} },
	})
	unsaidPart = op.Define("unsaid_part", op.Spec[op.None]{
		Doc: "unsaid_part is a test.", In: op.Args("x"),
		Decompose: func(b op.Builder, _ op.None, in []op.Value) op.Value {
			return b.Call(Select, SelectAttrs{0, 1}, in[0])
		},
	})
	unsaidTwins = op.Define("unsaid_twins", op.Spec[op.None]{
		Doc: "unsaid_twins is a test.", In: op.Args("x"), Results: []string{"a", "b"},
		Infer: func(_ *op.Infer, _ op.None, in []shape.Type) (shape.Type, error) {
			return shape.TupleType(in[0], in[0]), nil
		},
		Decompose: func(b op.Builder, _ op.None, in []op.Value) op.Value {
			both := b.Call(Stack, DimAttrs{0}, in[0], in[0])
			return b.Call(Unbind, UnbindAttrs{0, 2}, both)
		},
	})
)

// TestRecordsAreKeptTo evaluates operators that would make views without saying so.
func TestRecordsAreKeptTo(t *testing.T) {
	x := array.FromSlice([]float32{1, 2, 3, 4}, 2, 2)
	for _, o := range []*op.Op{unsaidStep, unsaidPart, unsaidTwins} {
		require.NotEmpty(t, o.Path, "not of op/std")
		out, err := o.Eval(&kernel.Workspace{}, nil, []*array.Array{x})
		require.NoError(t, err)
		for i, a := range out {
			require.NotSame(t, x.Storage(), a.Storage(), o.Name)
			for _, b := range out[:i] {
				require.NotSame(t, b.Storage(), a.Storage(), o.Name)
			}
		}
	}
}

// inner returns a laid out as part of an array that is larger in each dimension.
func inner(a *array.Array) *array.Array {
	dims := make([]int, a.Rank())
	for i := range dims {
		dims[i] = a.Dim(i) + 2
	}
	v := array.New(a.DType(), dims...)
	for i := range dims {
		v = array.Slice(v, i, 1, 1+a.Dim(i), 1)
	}
	array.Copy(v, a)
	return v
}

// What has no elements takes no memory, however many classes there are.
func TestOneHotOfNothing(t *testing.T) {
	out, err := OneHot.Eval(&kernel.Workspace{}, OneHotAttrs{NumClasses: shape.Const(1 << 45)}, []*array.Array{array.New(array.I64, 0, 3)})
	require.NoError(t, err)
	require.Equal(t, []int{0, 3, 1 << 45}, out[0].Shape())
	require.Equal(t, array.I64, out[0].DType())
}
