package cpu

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/plan"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// step makes the kernel step of a call: by rule, else by the operator; reads is how
// many operands it reads. Its sizes that are symbols are those that it declares.
func (b *builder) step(n *graph.Node, types []shape.Type) (k kernel.Step, reads int, err error) {
	k, reads, err = b.makeStep(n, n.Attrs(), types)
	if err == nil && k == nil {
		return nil, 0, lowering.Refuse(n, name, "it has no kernel")
	}
	symbols := symbolsOf(n, types)
	if len(symbols) == 0 || errors.Is(err, diag.Internal) {
		return k, reads, err
	}
	why := ""
	if e, is := err.(*diag.Error); is {
		why = e.Msg // what the kernel says of sizes that are no numbers
	} else if err == nil {
		why = b.undeclared(n, types, symbols, k)
	}
	if why != "" {
		err = n.Error(lowering.SymbolUse, why).
			WithHint("pin the symbols (Options.Shapes); in the operator's Kernel, declare fields that are sizes (op.WithSizes) and leave what follows from sizes to Run")
	}
	return k, reads, err
}

func (b *builder) makeStep(n *graph.Node, attrs any, types []shape.Type) (kernel.Step, int, error) {
	if r, ok := find(n, b.opts.Exact); ok {
		if s, reads := r(n, attrs, types); s != nil {
			return s, reads, nil
		}
	}
	s, err := n.Op().Step(attrs, types)
	return s, len(types), err
}

// symbolsOf returns the symbols in the attributes and the types of the operands.
func symbolsOf(n *graph.Node, types []shape.Type) (names []string) {
	add := func(d shape.Dim) { names = append(names, d.Symbols()...) }
	n.Op().Codec().Symbols(n.Attrs(), add)
	for _, t := range types {
		for _, d := range t.Dims().Slice() {
			add(d)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// undeclared holds a step against the ones that the operator makes when it is
// told numbers, 1, small and large ones: k, with the sizes that it declares, must be each
// of them. It returns what differs: a Kernel that reads a size without declaring
// it would else compute garbage for symbols.
func (b *builder) undeclared(n *graph.Node, types []shape.Type, symbols []string, k kernel.Step) string {
	var st plan.Step
	st.Kernel, st.Sizes = sizedStep(k)
	for _, first := range []int{1, 3, 137, 9816} {
		env := map[string]int{}
		for i, s := range symbols {
			env[s] = first + min(first-1, 31)*i // which differ, except for 1
		}
		mine, fields, err := st.Instance()
		for i, f := range st.Sizes {
			if err == nil {
				*fields[i], err = f.Size.Eval(plan.Values(env))
			}
		}
		bound := func(s string) shape.Dim { return shape.Const(env[s]) }
		in := slices.Clone(types)
		for i := range in {
			if in[i].Kind() != shape.None {
				in[i] = in[i].Bind(bound)
			}
		}
		if err != nil {
			continue // sizes that cannot be
		}
		told, _, err := b.makeStep(n, n.Op().Codec().Bind(n.Attrs(), bound), in)
		if err != nil || told == nil {
			continue
		}
		told, _ = sizedStep(told)
		if what := difference(mine, told); what != "" {
			return what + " of the kernel depends on sizes that are symbols, without being declared as a size"
		}
	}
	return ""
}

// difference names what differs between two steps, "" for equal ones.
func difference(a, b kernel.Step) string {
	x, y := reflect.Indirect(reflect.ValueOf(a)), reflect.Indirect(reflect.ValueOf(b))
	if x.Type() != y.Type() {
		return "the type"
	}
	text := func(v reflect.Value) string { return fmt.Sprintf("%#v", v) }
	if x.Kind() != reflect.Struct {
		if text(x) != text(y) {
			return "the value"
		}
		return ""
	}
	for i := range x.NumField() {
		if text(x.Field(i)) != text(y.Field(i)) {
			return "field " + x.Type().Field(i).Name
		}
	}
	return ""
}

// sizedStep returns a step by pointer, and its sizes that are symbols.
func sizedStep(k kernel.Step) (kernel.Step, []op.SizeField) {
	if u, ok := k.(*op.Unsized); ok {
		return u.Step, u.Sizes
	}
	v := reflect.ValueOf(k)
	if v.Kind() == reflect.Pointer {
		return k, nil
	}
	p := reflect.New(v.Type())
	p.Elem().Set(v)
	return p.Interface().(kernel.Step), nil
}
