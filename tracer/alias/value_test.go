package alias_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tracer/alias"
)

// number is a value that is no node of a graph.
type number struct{ a *array.Array }

func (n *number) Type() shape.Type { return shape.TypeOf(n.a) }
func (n *number) Erased() bool     { return false }
func (n *number) String() string   { return n.Type().String() }

// tape computes calls at once and lists them.
type tape struct {
	t     *testing.T
	calls []string
}

func (r *tape) Check(s *alias.Storage[*number]) bool   { return s.Lost() == nil }
func (r *tape) Base(s *alias.Storage[*number]) *number { return s.Value }
func (r *tape) Builder() op.Builder                    { return player{r} }
func (r *tape) In(n *number) *number                   { return n }
func (r *tape) Reach(n *number) *number                { return n }
func (r *tape) Writes(*alias.Storage[*number])         {}
func (r *tape) Item(*number, int) *number              { panic("no tuples here") }

func (r *tape) Make(o *op.Op, attrs any, args []*number) *number {
	in := make([]*array.Array, len(args))
	for i, x := range args {
		in[i] = x.a
	}
	attrs, err := o.Codec().Given(attrs)
	require.NoError(r.t, err)
	out, err := o.Eval(&kernel.Workspace{}, attrs, in)
	require.NoError(r.t, err)
	r.calls = append(r.calls, o.Name)
	return &number{array.Clone(out[0])}
}

// player is the builder of a tape.
type player struct{ r *tape }

func (p player) Item(op.Value, int) op.Value { panic("no tuples here") }
func (p player) Call(o *op.Op, attrs any, in ...op.Value) op.Value {
	args := make([]*number, len(in))
	for i, x := range in {
		args[i] = x.(*number)
	}
	return p.r.Make(o, attrs, args)
}

// Aliases ask of a value for no more than its type: values that are arrays see writes through
// views as nodes of a graph do.
func TestValuesNeedNotBeNodes(t *testing.T) {
	rec := &tape{t: t}
	vec := func(v ...float32) *number { return &number{array.FromSlice(v)} }
	data := func(n *number) []float32 { return array.Data[float32](array.Contiguous(n.a)) }

	x := &number{array.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)}
	base := alias.Whole(&alias.Storage[*number]{Value: x})
	turned := base.Views(std.T, op.None{}, []*number{x}, nil, 1)[0]
	column := turned.Views(std.Select, std.SelectAttrs{Index: 1}, []*number{nil}, nil, 1)[0]
	require.Equal(t, []float32{2, 5}, data(column.Read(rec)))

	require.NoError(t, column.Write(rec, vec(20, 50), diag.Pos{}))
	require.Equal(t, []float32{1, 20, 3, 4, 50, 6}, data(base.Read(rec)))
	require.Equal(t, []float32{1, 4, 20, 50, 3, 6}, data(turned.Read(rec)))
	require.Equal(t, []float32{1, 2, 3, 4, 5, 6}, data(x), "the old value stays")

	made := len(rec.calls)
	column.Read(rec)
	base.Read(rec)
	require.Len(t, rec.calls, made, "what was made is not made again")
}
