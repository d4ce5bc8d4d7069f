package simplify

import (
	"reflect"
	"slices"
	"strings"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/expr"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/shape"
)

// Normalise spells attributes that mean the same in one way: dimensions are counted
// from the front, one number stands for a list of equal ones, and what says no more than the default is left out (alpha=1, step=1,
// all dimensions of a reduction). Capture has named operands and filled in defaults
// before; with this, equal calls have equal attributes, so that cse merges
// softmax(dim=-1) with softmax(dim=1) and rules need one pattern.
//
// It knows the attributes of no operator: another spelling is taken where the operator's
// own kernel or expression is the same for it, and the type of the result. Results are
// the same to the bit. Composite operators have neither and stay as they are; so do
// calls of modules, which Functionalize turns into calls of functions.
var Normalise = passes.EachNode("normalise", "Spells attributes that mean the same in one way.",
	func(c *passes.Ctx, n *graph.Node) error {
		o := n.Op()
		if n.Opcode() != graph.CallFunction && n.Opcode() != graph.CallMethod || o == nil || o.AdHoc || o.Structural() || o.Composite() {
			return nil
		}
		before := meaningOf(n, n.Attrs())
		if before == nil {
			return nil
		}
		var changed []string
		for _, f := range o.Codec().Fields(n.Attrs()) {
			for _, v := range spellings(n, f) {
				attrs := with(n.Attrs(), f.GoName, v)
				if m := meaningOf(n, attrs); m == nil || !m.same(before) {
					continue
				}
				was := n.Type()
				if err := n.SetAttrs(attrs); err != nil {
					return err
				}
				passes.KeepType(n, was)
				changed = append(changed, f.Name)
				break
			}
		}
		if len(changed) > 0 {
			c.Rewrote(n, nil, strings.Join(changed, ", ")+" in the usual spelling")
		}
		return nil
	})

// spellings returns other values of an attribute that may mean the same, the shortest
// first.
func spellings(n *graph.Node, f op.Field) (list []any) {
	if f.Zero {
		return nil
	}
	list = append(list, reflect.Zero(reflect.TypeOf(f.Value)).Interface())
	if v, ok := f.Value.(op.Ints); ok && v.Len() > 1 && v == op.IntList(slices.Repeat([]int{v.At(0)}, v.Len())...) {
		list = append(list, op.IntList(v.At(0))) // one number stands for each dimension
	}
	for _, rank := range ranks(n) {
		switch v := f.Value.(type) {
		case int:
			if v < 0 && v >= -rank {
				list = append(list, v+rank)
			}
		case op.Ints:
			dims, negative := v.Slice(), false
			for i, d := range dims {
				if d < 0 && d >= -rank {
					dims[i], negative = d+rank, true
				}
			}
			if negative {
				list = append(list, op.IntList(dims...))
			}
		}
	}
	return list
}

// ranks returns how many dimensions a negative one may be counted from: those of the
// first operand, and of a result that has more.
func ranks(n *graph.Node) (list []int) {
	if n.NumArgs() == 0 || n.Arg(0) == nil || !n.Arg(0).Type().Ranked() {
		return nil
	}
	rank := n.Arg(0).Type().Rank()
	list = append(list, rank)
	if t := n.Type(); t.Ranked() && t.Rank() > rank {
		list = append(list, t.Rank())
	}
	return list
}

// with returns attributes with another value of a field.
func with(attrs any, field string, v any) any {
	out := reflect.New(reflect.TypeOf(attrs)).Elem()
	out.Set(reflect.ValueOf(attrs))
	out.FieldByName(field).Set(reflect.ValueOf(v))
	return out.Interface()
}

// meaning is what a call computes.
type meaning struct {
	typ  shape.Type
	step any
}

func (m *meaning) same(o *meaning) bool {
	return m.typ.Same(o.typ) && reflect.DeepEqual(m.step, o.step)
}

// meaningOf returns what n computes with other attributes, nil for calls that are
// refused, and whose types are not known.
func meaningOf(n *graph.Node, attrs any) *meaning {
	o, types := n.Op(), n.OperandTypes()
	for i, t := range types {
		if n.Arg(i) != nil && (t.Kind() != shape.Tensor || t.DType().Size() == 0 || !t.Ranked()) {
			return nil
		}
	}
	typ, err := o.Type(&op.Infer{Assume: func(shape.Relation) error { return nil }}, attrs, types)
	if err != nil {
		return nil
	}
	if !o.Scalar() {
		step, err := o.Step(attrs, types)
		if err != nil || step == nil {
			return nil
		}
		return &meaning{typ, step}
	}
	body, err := o.Expression(attrs, types)
	if err != nil {
		return nil
	}
	b := expr.NewBuilder()
	in := make([]expr.Value, len(types))
	for _, e := range body.Nodes {
		if e.Code == kernel.OpInput {
			in[e.Imm] = b.Input(int(e.Imm), e.DType)
		}
	}
	return &meaning{typ, b.Graph(b.Simplify(body, in)...).String()}
}
