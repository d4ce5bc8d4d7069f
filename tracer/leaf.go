package tracer

import (
	"reflect"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/tensor"
)

// userLeaf records a call of a user's module as one node of an ad-hoc operator.
func (t *trace) userLeaf(m any, in []*tensor.Tensor) []*tensor.Tensor {
	info := t.leafInfo(m)
	args := make([]*graph.Node, len(in))
	operands := make([]op.Operand, len(in))
	for i, x := range in {
		operands[i] = op.Operand{Name: "x" + strconv.Itoa(i), Optional: true}
		if x != nil {
			args[i] = t.node(x, "leaf")
		}
	}
	old := t.prog.mod.Bound(info.path)
	if old == nil {
		ty := reflect.Indirect(reflect.ValueOf(m)).Type()
		forward := reflect.ValueOf(m).MethodByName("Forward")
		var rule tensor.TypeRule
		if typed, ok := m.(tensor.Typed); ok {
			rule = typed.TypeRule()
		}
		o := op.NewAdHoc(ty.PkgPath(), ty.Name()+".Forward", operands, false, false, func(a []*array.Array) ([]*array.Array, error) {
			if have, want := len(a), forward.Type(); have != want.NumIn() && (!want.IsVariadic() || have < want.NumIn()-1) {
				return nil, diag.New(op.OperandCount, ty.Name()+".Forward is given "+strconv.Itoa(have)+" operands, expected "+strconv.Itoa(want.NumIn()))
			}
			return tensor.OnArrays(func(ts []*tensor.Tensor) []*tensor.Tensor { return callForward(forward, ts) }, a)
		}, tensor.DeclareResults(forward.Type(), rule))
		t.prog.mod.SetBound(info.path, graph.Bound{Op: o, Attrs: op.None{}, Type: ty.PkgPath() + "." + ty.Name(), Selector: info.selector})
		old = t.prog.mod.Bound(info.path)
	}
	n := t.prog.cur.Module(info.path, args...)
	c := &tensor.Call{Op: old.Op, Attrs: old.Attrs, Args: in}
	t.prog.Recorded(n, c)
	return t.rec.Opaque(n, c)
}

func callForward(forward reflect.Value, in []*tensor.Tensor) []*tensor.Tensor {
	for len(in) < forward.Type().NumIn() && !forward.Type().IsVariadic() {
		in = append(in, nil) // absent operands at the end of a call are left out
	}
	args := make([]reflect.Value, len(in))
	for i, x := range in {
		args[i] = reflect.ValueOf(x)
	}
	var out []*tensor.Tensor
	for _, r := range forward.Call(args) {
		if x, ok := r.Interface().(*tensor.Tensor); ok {
			out = append(out, x)
		}
	}
	return out
}
