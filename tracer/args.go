package tracer

import (
	"fmt"
	"reflect"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
)

// Meta returns a tensor that has a type and no data: an example for Tracer.Args.
func Meta(t shape.Type) *tensor.Tensor { return tensor.NewProxy(metaEngine{}, t) }

type metaEngine struct{}

func (metaEngine) Call(c *tensor.Call) []*tensor.Tensor {
	panic((&diag.Error{Code: BadArgument, Op: c.Op.Name, Msg: "a Meta tensor has no data", Hint: "pass it to Trace only"}).At(diag.Here()))
}
func (metaEngine) Type(x *tensor.Tensor) shape.Type { return x.Value().(shape.Type) }
func (metaEngine) Observe(_ *tensor.Tensor, what string) *array.Array {
	panic((&diag.Error{Code: BadArgument, Op: what, Msg: "a Meta tensor has no data", Hint: "pass it to Trace only"}).At(diag.Here()))
}
func (metaEngine) Assign(_, _ *tensor.Tensor, what string) {
	panic((&diag.Error{Code: BadArgument, Op: what, Msg: "a Meta tensor has no data", Hint: "pass it to Trace only"}).At(diag.Here()))
}

func (metaEngine) Gradient(*tensor.Tensor, []*tensor.Tensor, tensor.GradOptions) []*tensor.Tensor {
	panic((&diag.Error{Code: tensor.NotRecorded, Op: "grad", Msg: "a Meta tensor is no result of a computation", Hint: "pass it to Trace only"}).At(diag.Here()))
}

// arguments builds the proxies that the function is called with.
func (t *trace) arguments(callee *target) ([]reflect.Value, bool) {
	b := inputs{t: t, total: countTensors(t.p, callee)}
	args := make([]reflect.Value, len(callee.params))
	given := len(args)
	for i, pt := range callee.params {
		hint := ""
		if len(callee.params) > 1 {
			hint = "arg" + strconv.Itoa(i)
		}
		if i == len(args)-1 && callee.fn.Type().IsVariadic() && !t.p.spread(i, pt) {
			args[i], given = b.variadic(pt, t.p.Args[min(i, len(t.p.Args)):], hint), len(t.p.Args)
			continue
		}
		args[i] = b.argument(pt, t.p.example(i), hint)
	}
	if len(t.p.Args) > given {
		t.reportEntry(diag.New(BadArgument, strconv.Itoa(len(t.p.Args))+" example arguments for "+strconv.Itoa(len(callee.params))+" parameters"))
	}
	if b.next < len(t.p.Inputs) && t.errs.Err() == nil {
		t.reportEntry(diag.New(BadArgument, strconv.Itoa(len(t.p.Inputs))+" inputs are described, the function takes "+strconv.Itoa(b.next)).
			WithHint("describe each tensor input once, in order"))
	}
	return args, t.errs.Err() == nil
}

// example returns the example argument at a position, the zero Value for none.
func (p *Tracer) example(i int) reflect.Value {
	if i >= len(p.Args) || p.Args[i] == nil {
		return reflect.Value{}
	}
	return reflect.ValueOf(p.Args[i])
}

// spread reports whether the last example is the list of a variadic parameter's
// values, as in f(xs...).
func (p *Tracer) spread(i int, list reflect.Type) bool {
	ex := p.example(i)
	return i == len(p.Args)-1 && ex.IsValid() && ex.Type().AssignableTo(list)
}

// variadic builds the values of a variadic parameter, one for each example. Without
// examples there are none, which is a call too, unless they would be inputs: how many
// has to be said.
func (b *inputs) variadic(list reflect.Type, examples []any, hint string) reflect.Value {
	if len(examples) == 0 && (holdsTensor(list, 0) || b.t.p.Flatten[list.Elem()].Tensors != nil) {
		b.bad("how many values the parameter ..."+list.Elem().String()+" has is not known", "give an example of each with Args, of tracer.Meta tensors for instance")
	}
	v := reflect.MakeSlice(list, len(examples), len(examples))
	for i, x := range examples {
		v.Index(i).Set(b.argument(list.Elem(), reflect.ValueOf(x), under(hint, strconv.Itoa(i))))
	}
	return v
}

// inputs makes placeholders.
type inputs struct {
	t     *trace
	next  int // of Tracer.Inputs
	total int
}

func countTensors(p *Tracer, c *target) int {
	n := len(p.Inputs)
	for _, t := range c.params {
		if t == tensorType {
			n++
		} else if holdsTensor(t, 0) {
			n += 2
		}
	}
	return n
}

func (b *inputs) bad(msg, hint string) {
	b.t.reportEntry(diag.New(BadArgument, msg).WithHint(hint))
}

func (b *inputs) argument(pt reflect.Type, example reflect.Value, hint string) reflect.Value {
	if pt == contextType {
		return reflect.ValueOf(&b.t.ctx).Elem()
	}
	if example.IsValid() && example.Type() == tensorType && example.IsNil() {
		b.bad("the example argument is a nil tensor", "give untyped nil for a tensor of which nothing is known; trace a function that passes nil on to fix an absent one")
		return reflect.Zero(pt)
	}
	if example.IsValid() && !example.Type().AssignableTo(pt) {
		if spec, ok := example.Interface().(shape.Type); ok && pt == tensorType {
			example = reflect.ValueOf(Meta(spec))
		} else if example.CanConvert(pt) && example.Kind() == pt.Kind() {
			example = example.Convert(pt)
		} else {
			b.bad("the example argument is a "+example.Type().String()+", the parameter a "+pt.String(), "")
			return reflect.Zero(pt)
		}
	}
	if !holdsTensor(pt, 0) && b.t.p.Flatten[pt].Tensors == nil && !(pt.Kind() == reflect.Interface && example.IsValid()) {
		for t := pt; t.Kind() == reflect.Struct || t.Kind() == reflect.Pointer; t = t.Elem() {
			for i := 0; t.Kind() == reflect.Struct && i < t.NumField(); i++ {
				b.hidden(t, t.Field(i))
			}
			if t.Kind() == reflect.Struct {
				break
			}
		}
		if !example.IsValid() {
			b.bad("the parameter of type "+pt.String()+" is not a tensor and has no value", "give it a value with Args, or capture a function that calls this one with a value")
			return reflect.Zero(pt)
		}
		b.note(hint, example)
		return example
	}
	return b.value(pt, example, hint, 0)
}

// hidden refuses tensors in unexported fields of an argument, which would be fixed
// instead of becoming inputs. Modules keep their state there.
func (b *inputs) hidden(t reflect.Type, f reflect.StructField) {
	if _, module := reflect.PointerTo(t).MethodByName("Forward"); !module && !f.IsExported() && holdsTensor(f.Type, 0) {
		b.bad("field "+f.Name+" of an argument of type "+t.String()+" holds tensors and is not exported: they would be no inputs", "export the field, or pass its tensors as arguments")
	}
}

// note lists a concrete argument as fixed.
func (b *inputs) note(name string, v reflect.Value) {
	if name == "" {
		name = "arg0"
	}
	b.t.prog.cur.Graph().NoteSpecialisation(graph.Specialisation{What: name + " = " + fmt.Sprint(v.Interface())})
}

func (b *inputs) value(pt reflect.Type, ex reflect.Value, name string, depth int) reflect.Value {
	if depth > maxNesting {
		b.bad("the argument is nested more than "+strconv.Itoa(maxNesting)+" deep", "")
		return reflect.Zero(pt)
	}
	if f, ok := b.t.p.Flatten[pt]; ok {
		return b.flattened(pt, f, ex, name)
	}
	switch pt.Kind() {
	case reflect.Pointer:
		switch {
		case pt == tensorType && ex.IsValid() && ex.IsNil():
			b.note(name, ex)
			return ex // absent in the example, absent in the trace
		case pt == tensorType:
			return b.placeholder(ex, name)
		}
		v := reflect.New(pt.Elem())
		inner := reflect.Value{}
		if ex.IsValid() {
			if ex.IsNil() {
				return reflect.Zero(pt)
			}
			inner = ex.Elem()
		}
		v.Elem().Set(b.value(pt.Elem(), inner, name, depth+1))
		return v
	case reflect.Interface:
		if ex.IsValid() && ex.Kind() == reflect.Interface {
			ex = ex.Elem()
		}
		if ex.IsValid() {
			return b.value(ex.Type(), ex, name, depth+1)
		}
		b.bad("the argument of type "+pt.String()+" has no value", "give an example with Args")
		return reflect.Zero(pt)
	case reflect.Struct:
		return b.structure(pt, ex, name, depth)
	case reflect.Slice, reflect.Array, reflect.Map:
		if !ex.IsValid() {
			b.bad("how many tensors a "+pt.String()+" holds is not known", "give an example of it with Args, made of fx.Meta tensors, or capture a function that takes the tensors one by one")
			return reflect.Zero(pt)
		}
		return b.container(pt, ex, name, depth)
	}
	if ex.IsValid() {
		b.note(name, ex)
		return ex
	}
	return reflect.Zero(pt)
}

func (b *inputs) flattened(pt reflect.Type, f Flattener, ex reflect.Value, name string) reflect.Value {
	if !ex.IsValid() {
		ex = reflect.Zero(pt)
	}
	ts := f.Tensors(ex.Interface())
	var names []string
	if f.Names != nil {
		names = f.Names(ex.Interface())
	}
	proxies := make([]*tensor.Tensor, len(ts))
	for i, x := range ts {
		n := strconv.Itoa(i)
		if i < len(names) {
			n = names[i]
		}
		proxies[i] = b.placeholder(reflect.ValueOf(x), under(name, n)).Interface().(*tensor.Tensor)
	}
	return reflect.ValueOf(f.With(ex.Interface(), proxies))
}

func (b *inputs) structure(pt reflect.Type, ex reflect.Value, name string, depth int) reflect.Value {
	val := reflect.New(pt).Elem()
	if ex.IsValid() {
		val.Set(ex)
	}
	for i := range pt.NumField() {
		f := pt.Field(i)
		if !f.IsExported() {
			b.hidden(pt, f)
			continue
		}
		if !holdsTensor(f.Type, 0) {
			if ex.IsValid() && !ex.Field(i).IsZero() {
				b.note(under(name, tensor.FieldName(f.Name)), ex.Field(i))
			}
			continue
		}
		var e reflect.Value
		if ex.IsValid() {
			if e = ex.Field(i); e.IsZero() {
				continue // absent in the example, absent in the trace
			}
		}
		val.Field(i).Set(b.value(f.Type, e, under(name, tensor.FieldName(f.Name)), depth+1))
	}
	return val
}

func (b *inputs) container(pt reflect.Type, ex reflect.Value, name string, depth int) reflect.Value {
	switch pt.Kind() {
	case reflect.Slice:
		v := reflect.MakeSlice(pt, ex.Len(), ex.Len())
		for i := range ex.Len() {
			v.Index(i).Set(b.value(pt.Elem(), ex.Index(i), under(name, strconv.Itoa(i)), depth+1))
		}
		return v
	case reflect.Array:
		v := reflect.New(pt).Elem()
		for i := range ex.Len() {
			v.Index(i).Set(b.value(pt.Elem(), ex.Index(i), under(name, strconv.Itoa(i)), depth+1))
		}
		return v
	}
	if k := pt.Key().Kind(); k != reflect.String && (k < reflect.Int || k > reflect.Uintptr) {
		b.bad("a map with keys of type "+pt.Key().String()+", expected strings or integers", "")
		return reflect.Zero(pt)
	}
	v := reflect.MakeMap(pt)
	for _, k := range tensor.SortedKeys(ex) {
		v.SetMapIndex(k, b.value(pt.Elem(), ex.MapIndex(k), under(name, keyText(k)), depth+1))
	}
	return v
}

func under(name, field string) string {
	if name == "" {
		return field
	}
	return name + "_" + field
}

// placeholder makes one input: named and typed by Tracer.Inputs, else by the
// example tensor, else unknown.
func (b *inputs) placeholder(ex reflect.Value, hint string) reflect.Value {
	in := Input{Name: hint}
	if ex.IsValid() {
		if x := ex.Interface().(*tensor.Tensor); x != nil {
			in.Type = x.Type()
		}
	}
	if b.next < len(b.t.p.Inputs) {
		spec := b.t.p.Inputs[b.next]
		in.Default = spec.Default
		if spec.Name != "" {
			in.Name = spec.Name
		}
		if spec.Type.Kind() != shape.None {
			in.Type = spec.Type
		}
	}
	b.next++
	if in.Name == "" {
		in.Name = "x"
	}
	g := b.t.prog.cur.Graph()
	for _, p := range g.Inputs() {
		if p.Target() == in.Name {
			in.Name += "_" + strconv.Itoa(b.next)
		}
	}
	var def any
	if in.Default != nil {
		def = in.Default
	}
	n := b.t.prog.cur.Placeholder(in.Name, in.Type, def)
	for axis, d := range n.Type().Dims().Slice() {
		b.symbol(n, axis, d)
	}
	return reflect.ValueOf(tensor.NewProxy(b.t, n))
}

// symbol enters the symbols of an input's type: a plain one is defined by the
// first size that it names; further sizes, and expressions, are guarded.
func (b *inputs) symbol(node *graph.Node, axis int, size shape.Dim) {
	syms := size.Symbols()
	if len(syms) == 0 {
		return
	}
	g := node.Graph()
	if len(syms) == 1 && size.Equal(shape.Sym(syms[0])) {
		if s, defined := g.Symbol(syms[0]); !defined || (s.Node == node && s.Axis == axis) {
			g.DefineSymbol(syms[0], node, axis)
			return
		}
	}
	for _, s := range syms {
		if _, defined := g.Symbol(s); !defined {
			b.bad("the input type "+node.Type().String()+" uses the symbol "+s+" only inside an expression",
				"make it the whole size of one input's axis, before it is used in expressions")
			return
		}
	}
	fresh := g.NewSymbolFor(node, axis)
	g.AddGuard(fresh, size, node)
}

// holdsTensor reports whether values of a type can hold tensors.
func holdsTensor(t reflect.Type, depth int) bool {
	if depth > 8 {
		return false
	}
	switch t.Kind() {
	case reflect.Pointer:
		return t == tensorType || holdsTensor(t.Elem(), depth+1)
	case reflect.Slice, reflect.Array, reflect.Map:
		return holdsTensor(t.Elem(), depth+1)
	case reflect.Struct:
		for i := range t.NumField() {
			if t.Field(i).IsExported() && holdsTensor(t.Field(i).Type, depth+1) {
				return true
			}
		}
	}
	return false
}

// keyText is a key of a map in the name of an input.
func keyText(k reflect.Value) string {
	switch {
	case k.CanInt():
		return strconv.FormatInt(k.Int(), 10)
	case k.CanUint():
		return strconv.FormatUint(k.Uint(), 10)
	}
	return k.String()
}
