package tensor

import (
	"reflect"
	"runtime"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
)

// Wrap returns fn as an opaque function: a trace records a call of it as one
// call_function node, named by import path and function name, instead of looking
// inside. fn takes and returns *Tensor values only (its last parameter may be
// variadic) and must be a named top-level function. Call Wrap from a
// package-level variable, so that saved graphs find it again. The call is taken
// to have effects, unless WrapPure is used. A type rule tells what it returns: plans
// for a machine, which lay out memory beforehand, run only calls that have one.
//
//	var nearest = tensor.Wrap(Nearest, tensor.Signature("f32[N], f32[K] -> i64[N]"))
func Wrap[F any](fn F, rule ...TypeRule) F { return wrap(fn, false, rule) }

// WrapPure is Wrap for a function without effects: calls may be removed when
// unused and merged when equal.
func WrapPure[F any](fn F, rule ...TypeRule) F { return wrap(fn, true, rule) }

var tensorType = reflect.TypeFor[*Tensor]()

func wrap[F any](fn F, pure bool, rules []TypeRule) F {
	v := reflect.ValueOf(fn)
	if v.Kind() != reflect.Func || v.IsNil() {
		panic((&diag.Error{Code: BadWrap, Op: "Wrap", Msg: "the argument is a " + reflect.TypeFor[F]().String() + " without code, expected a function"}).At(diag.Here()))
	}
	t := v.Type()
	path, name := FuncName(fn)
	if strings.Contains(name, ".") {
		panic((&diag.Error{Code: BadWrap, Op: name, Msg: "the function is a method or has no name of its own, expected a top-level function",
			Hint: "declare it with func at top level, so that saved graphs find it again"}).At(diag.Here()))
	}
	in := wrappedOperands(name, t)
	var rule TypeRule
	for _, r := range rules {
		if rule != nil || r == nil {
			panic((&diag.Error{Code: BadWrap, Op: name, Msg: strconv.Itoa(len(rules)) + " type rules are given, or one that is nil, expected at most one"}).At(diag.Here()))
		}
		rule = r
	}
	invoke := func(ts []*Tensor) []*Tensor {
		args := make([]reflect.Value, len(ts))
		for i, x := range ts {
			args[i] = reflect.ValueOf(x)
		}
		res := v.Call(args)
		out := make([]*Tensor, len(res))
		for i := range res {
			out[i] = res[i].Interface().(*Tensor)
		}
		return out
	}
	o := op.NewAdHoc(path, name, in, pure, true, func(arrays []*array.Array) ([]*array.Array, error) {
		return OnArrays(invoke, arrays)
	}, DeclareResults(t, rule))
	return reflect.MakeFunc(t, func(args []reflect.Value) []reflect.Value {
		ts := flatTensors(args, t.IsVariadic())
		var outs []*Tensor
		if e := engineOf(name, nil, ts); e != nil {
			outs = e.Call(&Call{Op: o, Attrs: op.None{}, Args: ts})
		} else {
			outs = invoke(ts)
		}
		res := make([]reflect.Value, len(outs))
		for i := range outs {
			res[i] = reflect.ValueOf(outs[i])
		}
		return res
	}).Interface().(F)
}

// wrappedOperands describes the parameters of a function of tensors, and panics when
// it is none.
func wrappedOperands(name string, t reflect.Type) []op.Operand {
	in := make([]op.Operand, t.NumIn())
	for i := range in {
		p := t.In(i)
		if t.IsVariadic() && i == t.NumIn()-1 {
			in[i].Variadic = true
			p = p.Elem()
		}
		if p != tensorType {
			panic((&diag.Error{Code: BadWrap, Op: name, Msg: "parameter " + strconv.Itoa(i) + " is a " + p.String() + ", expected *tensor.Tensor",
				Hint: "bind other values in a function of tensors alone"}).At(diag.Here()))
		}
		in[i].Name = "x" + strconv.Itoa(i)
		in[i].Optional = !in[i].Variadic
	}
	for i := range t.NumOut() {
		if t.Out(i) != tensorType {
			panic((&diag.Error{Code: BadWrap, Op: name, Msg: "result " + strconv.Itoa(i) + " is a " + t.Out(i).String() + ", expected *tensor.Tensor"}).At(diag.Here()))
		}
	}
	return in
}

func flatTensors(args []reflect.Value, variadic bool) []*Tensor {
	var ts []*Tensor
	for i, a := range args {
		if variadic && i == len(args)-1 {
			for k := range a.Len() {
				ts = append(ts, a.Index(k).Interface().(*Tensor))
			}
			continue
		}
		ts = append(ts, a.Interface().(*Tensor))
	}
	return ts
}

// OnArrays runs a function of tensors on arrays; a *diag.Error that it panics
// with is returned.
func OnArrays(f func([]*Tensor) []*Tensor, in []*array.Array) (out []*array.Array, err error) {
	defer diag.Catch(&err)
	ts := make([]*Tensor, len(in))
	for i, a := range in {
		if a != nil {
			ts[i] = New(a)
		}
	}
	for _, t := range f(ts) {
		out = append(out, t.Array())
	}
	return out, nil
}

// FuncName returns the import path and the name of a Go function; methods are
// named "Type.Method".
func FuncName(fn any) (path, name string) {
	full := runtime.FuncForPC(reflect.ValueOf(fn).Pointer()).Name()
	full = strings.TrimSuffix(full, "-fm")
	slash := strings.LastIndexByte(full, '/') + 1
	dot := strings.IndexByte(full[slash:], '.') + slash
	name = strings.NewReplacer("(*", "", "(", "", ")", "").Replace(full[dot+1:])
	if i := strings.IndexByte(name, '['); i > 0 {
		name = name[:i]
	}
	return full[:dot], name
}
