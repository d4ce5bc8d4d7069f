package op

import (
	"reflect"
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/shape"
)

// Declared is what is known of the results of an opaque Go function. The zero value
// is one tensor of which nothing is known.
type Declared struct {
	// Results names the results when there is another number than one.
	Results []string
	// Infer is the type rule: from the operands' types, the zero Type for absent ones,
	// to one type for each result. What it asks of sizes goes through c, so that it
	// becomes a guard where symbols decide. nil: the types are not known.
	Infer func(c *Infer, in []shape.Type) ([]shape.Type, error)
}

// NewAdHoc makes the operator of an opaque Go function, named by import path and
// function name. It is effectful unless pure is set, and is entered into the
// parser's table only when registered is set: the same function again is the same
// operator then, and the first type rule stays.
func NewAdHoc(path, name string, in []Operand, pure, registered bool, host func([]*array.Array) ([]*array.Array, error), known ...Declared) *Op {
	o := &Op{Name: name, Path: path, Doc: name + " is an opaque Go function.", In: in, AdHoc: true, Host: host,
		Effect: Effectful, codec: codecOf(reflect.TypeFor[None]()), Func: path + "." + name}
	if pure {
		o.Effect = Pure
	}
	for _, d := range known {
		o.Results = d.Results
		o.declare(d)
	}
	if registered {
		registry.Lock()
		defer registry.Unlock()
		if old := registry.ops[o.Key()]; old != nil {
			// Generated code may wrap a function before the package that declares its types.
			if old.infer == nil {
				old.infer = o.infer
			}
			return old
		}
		registry.ops[o.Key()] = o
	}
	return o
}

// declare makes the type rule of an opaque function one of an operator.
func (o *Op) declare(d Declared) {
	if d.Infer == nil {
		return
	}
	o.infer = func(c *Infer, _ any, in []shape.Type) (shape.Type, error) {
		types, err := d.Infer(c, in)
		if err != nil {
			return shape.Type{}, err
		}
		n, tuple := o.NumResults(None{})
		if len(types) != n {
			return shape.Type{}, diag.New(OperandCount, "the type rule of the Go function gives "+strconv.Itoa(len(types))+" types, the function "+strconv.Itoa(n)+" results")
		}
		if tuple {
			return shape.TupleType(types...), nil
		}
		return types[0], nil
	}
}

// call runs an opaque Go function and holds its results to what is declared.
func (o *Op) call(in []*array.Array) ([]*array.Array, error) {
	if o.Host == nil {
		return nil, diag.New(NoMeaning, "the opaque function "+o.Key()+" cannot run here")
	}
	out, err := o.Host(in)
	if err != nil {
		return out, err
	}
	if n, _ := o.NumResults(None{}); len(out) != n || slices.Contains(out, nil) {
		return nil, diag.New(OperandCount, "the Go function returned "+strconv.Itoa(len(out))+" values, expected "+strconv.Itoa(n)+", none of them nil")
	}
	if o.infer == nil {
		return out, nil
	}
	types := shape.TypesOf(in...)
	want, err := o.Type(nil, None{}, types)
	if err != nil {
		return nil, err
	}
	for i, a := range out {
		t := want
		if want.Kind() == shape.Tuple {
			t = want.Member(i)
		}
		if got := shape.TypeOf(a); !t.Compatible(got) {
			return nil, diag.New(ShapeMismatch, "value "+strconv.Itoa(i)+" of the Go function is "+got.String()+", its type rule says "+t.String()).
				WithHint("make the type rule tell what the function returns")
		}
	}
	return out, nil
}
