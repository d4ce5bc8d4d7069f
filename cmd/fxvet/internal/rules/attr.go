package rules

import (
	"errors"
	"go/ast"
	"go/constant"
	"go/types"
	"reflect"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/cmd/fxvet/internal/flow"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
)

// Attr reports calls of operators that no tensors can make right. It makes the call itself, on
// tensors of which nothing is known, so that each operator's own rule judges.
var Attr = rule("fxattr", "reports attributes that an operator refuses, operands that are nil, sizes of other types and several options", attr)

func attr(c *check) {
	c.calls(func(call *ast.CallExpr, fn *types.Func) {
		o := flow.Operator(fn)
		if o == nil || !o.Method || call.Ellipsis.IsValid() {
			return
		}
		args := call.Args
		if fn.Signature().Recv() == nil && fn.Name() != o.InPlace {
			if len(args) == 0 || c.isNil(args[0]) {
				return
			}
			args = args[1:]
		}
		if e := c.rehearsed(fn.Name(), args); e != nil {
			c.report(call, e.Code, e.Msg)
		}
	})
}

func (c *check) isNil(e ast.Expr) bool { return c.TypesInfo.Types[e].IsNil() }

// rehearsed makes a call of a method and returns why it is refused, nil when it is not or
// only a run can tell.
func (c *check) rehearsed(name string, args []ast.Expr) *diag.Error {
	method := reflect.ValueOf(unknown()).MethodByName(name)
	if !method.IsValid() {
		return nil
	}
	t := method.Type()
	in := make([]reflect.Value, len(args))
	sure := true
	for i, a := range args {
		want, ok := parameter(t, i)
		if !ok {
			return nil
		}
		v, known, ok := c.value(a, want)
		if !ok {
			return nil
		}
		in[i], sure = v, sure && known
	}
	if len(in) < t.NumIn()-1 || len(in) < t.NumIn() && !t.IsVariadic() {
		return nil
	}
	e := refused(func() { method.Call(in) })
	switch {
	case e == nil:
		return nil
	case e.Code == tensor.BadSize, e.Code == op.OperandCount, e.Code == op.BadAttr && sure:
		return e
	}
	return nil
}

// parameter returns the type of what a call gives at a place.
func parameter(t reflect.Type, i int) (reflect.Type, bool) {
	if last := t.NumIn() - 1; t.IsVariadic() && i >= last {
		return t.In(last).Elem(), true
	}
	if i >= t.NumIn() {
		return nil, false
	}
	return t.In(i), true
}

// refused runs a call and returns the mistake that it ends with.
func refused(f func()) (e *diag.Error) {
	defer func() {
		if err, ok := recover().(error); ok && !errors.As(err, &e) {
			e = nil
		}
	}()
	f()
	return nil
}

var tensorType = reflect.TypeFor[*tensor.Tensor]()

// value returns the value of an argument. known is false for one of the right type that
// stands for a value that only a run has; ok is false where that is not possible.
func (c *check) value(e ast.Expr, want reflect.Type) (v reflect.Value, known, ok bool) {
	e = ast.Unparen(e)
	tv := c.TypesInfo.Types[e]
	switch {
	case tv.IsNil():
		return reflect.Zero(want), true, true
	case want == tensorType:
		return reflect.ValueOf(unknown()), true, true
	case tv.Value != nil:
		v, ok = converted(tv, want)
		return v, true, ok
	}
	if call, isCall := e.(*ast.CallExpr); isCall {
		if v, ok := c.list(call, want); ok {
			return v, true, true
		}
	}
	if lit, isLit := e.(*ast.CompositeLit); isLit && want.Kind() == reflect.Struct {
		return c.options(lit, want)
	}
	if want.Kind() != reflect.Interface {
		return reflect.Value{}, false, false
	}
	b, isBasic := tv.Type.Underlying().(*types.Basic)
	kind := basics[kindOf(b, isBasic)]
	if kind == nil {
		return reflect.Value{}, false, false
	}
	if _, named := types.Unalias(tv.Type).(*types.Named); named {
		return reflect.Value{}, false, false
	}
	return reflect.Zero(kind), false, true
}

func kindOf(b *types.Basic, ok bool) types.BasicKind {
	if !ok {
		return types.Invalid
	}
	return b.Kind()
}

// basics are the types of Go values by the kind of their type.
var basics = map[types.BasicKind]reflect.Type{
	types.Bool: reflect.TypeFor[bool](), types.String: reflect.TypeFor[string](), types.UntypedBool: reflect.TypeFor[bool](), types.UntypedString: reflect.TypeFor[string](),
	types.Int: reflect.TypeFor[int](), types.Int8: reflect.TypeFor[int8](), types.Int16: reflect.TypeFor[int16](), types.Int32: reflect.TypeFor[int32](), types.Int64: reflect.TypeFor[int64](),
	types.Uint: reflect.TypeFor[uint](), types.Uint8: reflect.TypeFor[uint8](), types.Uint16: reflect.TypeFor[uint16](), types.Uint32: reflect.TypeFor[uint32](), types.Uint64: reflect.TypeFor[uint64](),
	types.Float32: reflect.TypeFor[float32](), types.Float64: reflect.TypeFor[float64](), types.UntypedInt: reflect.TypeFor[int](), types.UntypedFloat: reflect.TypeFor[float64](), types.UntypedRune: reflect.TypeFor[int32](),
}

// converted returns a constant as a Go value of a type; of an interface it has the constant's own.
func converted(tv types.TypeAndValue, want reflect.Type) (reflect.Value, bool) {
	if want.Kind() == reflect.Interface {
		b, ok := tv.Type.Underlying().(*types.Basic)
		if _, named := types.Unalias(tv.Type).(*types.Named); named || !ok || basics[b.Kind()] == nil {
			return reflect.Value{}, false
		}
		want = basics[b.Kind()]
	}
	out := reflect.New(want).Elem()
	switch k := tv.Value.Kind(); {
	case out.CanInt():
		i, ok := constant.Int64Val(constant.ToInt(tv.Value))
		if !ok || out.OverflowInt(i) {
			return out, false
		}
		out.SetInt(i)
	case out.CanUint():
		i, ok := constant.Uint64Val(constant.ToInt(tv.Value))
		if !ok || out.OverflowUint(i) {
			return out, false
		}
		out.SetUint(i)
	case out.CanFloat() && (k == constant.Int || k == constant.Float):
		x, _ := constant.Float64Val(tv.Value)
		out.SetFloat(x)
	case want.Kind() == reflect.Bool && k == constant.Bool:
		out.SetBool(constant.BoolVal(tv.Value))
	case want.Kind() == reflect.String && k == constant.String:
		out.SetString(constant.StringVal(tv.Value))
	default:
		return out, false
	}
	return out, true
}

// lists are the functions of package tensor that make attributes of constants.
var lists = map[string]any{"tensor.Ints": tensor.Ints, "tensor.Floats": tensor.Floats, "tensor.Number": tensor.Number}

// list evaluates a call of one of lists with constants.
func (c *check) list(call *ast.CallExpr, want reflect.Type) (v reflect.Value, ok bool) {
	fn, ok := c.flow.Callee(call)
	if !ok || call.Ellipsis.IsValid() {
		return v, false
	}
	for name, f := range lists {
		if !flow.Is(fn, name) {
			continue
		}
		made := reflect.ValueOf(f)
		in := make([]reflect.Value, len(call.Args))
		for i, a := range call.Args {
			p, ok := parameter(made.Type(), i)
			if !ok {
				return v, false
			}
			known := false
			if in[i], known, ok = c.value(a, p); !ok || !known {
				return v, false
			}
		}
		e := refused(func() { v = made.Call(in)[0] })
		return v, e == nil && v.IsValid() && v.Type().AssignableTo(want)
	}
	return v, false
}

// options evaluates options that are written out.
func (c *check) options(lit *ast.CompositeLit, want reflect.Type) (v reflect.Value, known, ok bool) {
	t, isNamed := types.Unalias(c.TypesInfo.TypeOf(lit)).(*types.Named)
	v = reflect.New(want).Elem()
	if !isNamed || t.Obj().Name() != want.Name() {
		return v, false, false
	}
	known = true
	for _, e := range lit.Elts {
		kv, isPair := e.(*ast.KeyValueExpr)
		if !isPair {
			return v, false, false
		}
		key, isName := kv.Key.(*ast.Ident)
		if !isName {
			return v, false, false
		}
		field := v.FieldByName(key.Name)
		if !field.IsValid() {
			return v, false, false
		}
		of, sure, ok := c.value(kv.Value, field.Type())
		if !ok || !of.Type().AssignableTo(field.Type()) {
			known = false // a field of unknown value stays zero, of which nothing is reported
			continue
		}
		field.Set(of)
		known = known && sure
	}
	return v, known, true
}

// unknown returns a tensor of which nothing is known.
func unknown() *tensor.Tensor { return tensor.NewProxy(rehearsal{}, shape.Unranked(array.Invalid)) }

// rehearsal is the engine of calls that are made for what their operators refuse.
type rehearsal struct{}

// Call applies the type rule of the operator.
func (rehearsal) Call(c *tensor.Call) []*tensor.Tensor {
	in := make([]shape.Type, len(c.Args))
	for i, a := range c.Args {
		if a != nil {
			in[i] = a.Type()
		}
	}
	if _, err := c.Op.Type(&op.Infer{}, c.Attrs, in); err != nil {
		panic(err)
	}
	n, _ := c.Op.NumResults(c.Attrs)
	out := make([]*tensor.Tensor, n)
	for i := range out {
		out[i] = unknown()
	}
	return out
}

// Type returns that nothing is known.
func (rehearsal) Type(x *tensor.Tensor) shape.Type { return x.Value().(shape.Type) }

// Observe ends a rehearsal that needs data.
func (rehearsal) Observe(_ *tensor.Tensor, what string) *array.Array { panic(what) }

// Assign writes nothing.
func (rehearsal) Assign(_, _ *tensor.Tensor, _ string) {}

// Gradient returns tensors of which nothing is known.
func (rehearsal) Gradient(_ *tensor.Tensor, by []*tensor.Tensor, _ tensor.GradOptions) []*tensor.Tensor {
	out := make([]*tensor.Tensor, len(by))
	for i := range out {
		out[i] = unknown()
	}
	return out
}
