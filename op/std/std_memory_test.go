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
		for i, m := range members {
			d, dims, ok := m.Concrete()
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
