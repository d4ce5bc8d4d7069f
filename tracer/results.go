package tracer

import (
	"context"
	"reflect"
	"strconv"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/tensor"
)

// outputs flattens results into operands of the output node.
type outputs struct {
	t     *trace
	nodes []*graph.Node
}

func (b *outputs) results(res []reflect.Value) *graph.Structure {
	if n := len(res); n > 0 && res[n-1].Type() == errorType {
		if !res[n-1].IsNil() {
			b.t.reportEntry(&diag.Error{Code: UserPanic, Msg: "the model returned an error", Err: res[n-1].Interface().(error)})
		}
		res = res[:n-1]
	}
	fields := make([]*graph.Structure, len(res))
	for i, r := range res {
		fields[i] = b.value(r, 0)
	}
	if len(fields) == 1 {
		if fields[0].Kind == graph.LeafValue {
			return nil
		}
		return fields[0]
	}
	return &graph.Structure{Kind: graph.Results, Fields: fields}
}

var (
	errorType   = reflect.TypeFor[error]()
	contextType = reflect.TypeFor[context.Context]()
	tensorType  = reflect.TypeFor[*tensor.Tensor]()
)

const maxNesting = 32

func (b *outputs) value(val reflect.Value, depth int) *graph.Structure {
	if depth > maxNesting {
		b.t.reportEntry(diag.New(BadResult, "the result is nested more than "+strconv.Itoa(maxNesting)+" deep"))
		return &graph.Structure{Kind: graph.NoValue}
	}
	if f, ok := b.t.p.Flatten[val.Type()]; ok {
		s := &graph.Structure{Kind: graph.SliceOf, Type: val.Type().String()}
		for _, x := range f.Tensors(val.Interface()) {
			s.Fields = append(s.Fields, b.tensor(x))
		}
		return s
	}
	switch val.Kind() {
	case reflect.Pointer:
		switch {
		case val.Type() == tensorType:
			return b.tensor(val.Interface().(*tensor.Tensor))
		case val.IsNil():
			return &graph.Structure{Kind: graph.NoValue}
		}
		return b.value(val.Elem(), depth+1)
	case reflect.Interface:
		if val.IsNil() {
			return &graph.Structure{Kind: graph.NoValue}
		}
		return b.value(val.Elem(), depth+1)
	case reflect.Slice, reflect.Array:
		s := &graph.Structure{Kind: graph.SliceOf}
		for i := range val.Len() {
			s.Fields = append(s.Fields, b.value(val.Index(i), depth+1))
		}
		return s
	case reflect.Map:
		return b.mapping(val, depth)
	case reflect.Struct:
		t := val.Type()
		s := &graph.Structure{Kind: graph.StructOf, Type: t.PkgPath() + "." + t.Name()}
		for i := range t.NumField() {
			switch f := t.Field(i); {
			case !holdsTensor(f.Type, 0):
			case f.IsExported():
				s.Keys = append(s.Keys, f.Name)
				s.Fields = append(s.Fields, b.value(val.Field(i), depth+1))
			case !val.Field(i).IsZero():
				b.t.reportEntry(diag.New(BadResult, "field "+f.Name+" of a result of type "+t.String()+" holds tensors and is not exported: they would be lost").
					WithHint("export the field"))
			}
		}
		return s
	}
	b.t.reportEntry(diag.New(BadResult, "a result of type "+val.Type().String()+" is not made of tensors").
		WithHint("return tensors, or slices, maps and structs of them"))
	return &graph.Structure{Kind: graph.NoValue}
}

func (b *outputs) mapping(v reflect.Value, depth int) *graph.Structure {
	s := &graph.Structure{Kind: graph.MapOf}
	if v.Type().Key().Kind() != reflect.String {
		b.t.reportEntry(diag.New(BadResult, "a map with keys of type "+v.Type().Key().String()+", expected strings"))
		return s
	}
	for _, k := range tensor.SortedKeys(v) {
		s.Keys = append(s.Keys, k.String())
		s.Fields = append(s.Fields, b.value(v.MapIndex(k), depth+1))
	}
	return s
}

func (b *outputs) tensor(x *tensor.Tensor) *graph.Structure {
	if x == nil {
		return &graph.Structure{Kind: graph.NoValue}
	}
	n := b.t.node(x, "output")
	if n == nil {
		return &graph.Structure{Kind: graph.NoValue}
	}
	b.nodes = append(b.nodes, n)
	return graph.Leaf(len(b.nodes) - 1)
}
