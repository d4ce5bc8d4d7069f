package tensor

import (
	"reflect"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// TypeRule tells the types of what an opaque function returns, one for each result,
// from those of its operands, the zero Type for absent ones. What the function needs
// of sizes is asked of c (c.Equal, c.AtLeast), so that it becomes a guard where
// symbols decide. Parts that are not known stay unknown. Signature writes the common
// rules; plans for a machine run functions that have one.
type TypeRule func(c *op.Infer, in []shape.Type) ([]shape.Type, error)

// Typed is a module that tells the types of its results when it is kept as a leaf of
// the user's own.
type Typed interface {
	TypeRule() TypeRule
}

// Signature returns the type rule of "f32[N,K], f32[K] -> f32[N,2*K]": types of the
// operands, "..." after the last one of a variadic function, and types of the
// results. A symbol is the same size wherever it occurs, and says what the sizes of
// results are made of. The element type ? stands for any, in a result for that of
// the first operand that has it. Signature panics when the text is no such list, or
// a result has a symbol that no operand has alone on an axis.
func Signature(text string) TypeRule {
	s := &signature{text: text}
	if problem := s.parse(); problem != "" {
		panic((&diag.Error{Code: BadWrap, Op: "Signature", Msg: strconv.Quote(text) + ": " + problem,
			Hint: "write it as \"f32[N,K], f32[K] -> f32[N]\""}).At(diag.Here()))
	}
	return s.infer
}

// signature is a parsed Signature.
type signature struct {
	text     string
	in, out  []shape.Type
	variadic bool
}

func (s *signature) parse() (problem string) {
	left, right, ok := strings.Cut(s.text, "->")
	if !ok {
		return "there is no ->"
	}
	if s.in, s.variadic, problem = typeList(left); problem != "" {
		return problem
	}
	var dots bool
	if s.out, dots, problem = typeList(right); problem != "" {
		return problem
	}
	if dots || len(s.out) == 0 {
		return "there is no list of results"
	}
	bound := map[string]bool{}
	for _, t := range s.in {
		for _, d := range t.Dims().Slice() {
			if name, ok := d.IsSymbol(); ok {
				bound[name] = true
			}
		}
	}
	for _, t := range append(s.in, s.out...) {
		for _, d := range t.Dims().Slice() {
			for _, name := range d.Symbols() {
				if !bound[name] {
					return "no operand has " + name + " as the size of an axis"
				}
			}
		}
	}
	return ""
}

// typeList parses types separated by commas; dots tells that "..." ends it.
func typeList(s string) (list []shape.Type, dots bool, problem string) {
	s = strings.TrimSpace(s)
	for s != "" {
		t, n, err := shape.ScanType(s)
		switch {
		case err != nil:
			return nil, false, err.Error()
		case t.Kind() == shape.Tuple:
			return nil, false, t.String() + " is a tuple, expected types of tensors"
		}
		list, s = append(list, t), strings.TrimSpace(s[n:])
		if s == "..." {
			return list, true, ""
		}
		rest, comma := strings.CutPrefix(s, ",")
		if s = strings.TrimSpace(rest); comma == (s == "") {
			return nil, false, "there is no , or nothing behind one"
		}
	}
	return list, false, ""
}

// of returns what is said of operand i.
func (s *signature) of(i int) shape.Type { return s.in[min(i, len(s.in)-1)] }

// infer is the TypeRule.
func (s *signature) infer(c *op.Infer, in []shape.Type) ([]shape.Type, error) {
	if len(in) > len(s.in) && !s.variadic {
		return nil, diag.New(op.OperandCount, strconv.Itoa(len(in))+" operands, the signature "+s.text+" has "+strconv.Itoa(len(s.in)))
	}
	sizes, element := map[string]shape.Dim{}, array.Invalid
	for i, t := range in {
		if err := s.operand(i, t); err != nil {
			return nil, err
		}
		if element == array.Invalid && s.of(i).DType() == array.Invalid {
			element = t.DType()
		}
	}
	env := func(name string) shape.Dim {
		if d, ok := sizes[name]; ok {
			return d
		}
		return shape.Unknown
	}
	// Expressions come after the symbols that they are made of.
	for _, expressions := range []bool{false, true} {
		for i, t := range in {
			for axis, want := range s.of(i).Dims().Slice() {
				name, symbol := want.IsSymbol()
				if symbol == expressions || !t.Ranked() {
					continue
				}
				d, err := c.Equal(want.Bind(env), t.Dim(axis), op.ShapeMismatch, func() string {
					return "operand " + strconv.Itoa(i) + " is " + t.String() + ", the signature " + s.text + " needs size " +
						want.Bind(env).String() + " on axis " + strconv.Itoa(axis)
				})
				if err != nil {
					return nil, err
				}
				if symbol {
					sizes[name] = d
				}
			}
		}
	}
	out := make([]shape.Type, len(s.out))
	for i, t := range s.out {
		if out[i] = t.Bind(env); t.DType() == array.Invalid {
			out[i] = out[i].WithDType(element)
		}
	}
	return out, nil
}

// operand checks element type and rank.
func (s *signature) operand(i int, t shape.Type) error {
	want := s.of(i)
	switch d := want.DType(); {
	case t.Kind() != shape.Tensor:
		return nil
	case d != array.Invalid && t.DType() != array.Invalid && d != t.DType():
		return diag.New(op.DTypeMismatch, "operand "+strconv.Itoa(i)+" is "+t.String()+", the signature says "+want.String())
	case want.Ranked() && t.Ranked() && want.Rank() != t.Rank():
		return diag.New(op.RankMismatch, "operand "+strconv.Itoa(i)+" is "+t.String()+", the signature says "+want.String())
	}
	return nil
}

// DeclareResults is what an engine knows of the results of a function of tensors: as
// many as its Go type has, of types by a rule, nil for unknown ones.
func DeclareResults(fn reflect.Type, rule TypeRule) op.Declared {
	d := op.Declared{Infer: rule}
	if n := fn.NumOut(); n != 1 {
		d.Results = make([]string, n)
		for i := range d.Results {
			d.Results[i] = "r" + strconv.Itoa(i)
		}
		if n == 0 && rule == nil {
			d.Infer = func(*op.Infer, []shape.Type) ([]shape.Type, error) { return nil, nil }
		}
	}
	return d
}
