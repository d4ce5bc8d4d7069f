package api

import "strings"

// GoType returns the Go type of the parameter as package tensor writes it.
func (p Param) GoType() string {
	switch p.Kind {
	case Tensor:
		return "*Tensor"
	case Tensors:
		return p.list("*Tensor")
	case Bool:
		return "bool"
	case Int:
		return "int"
	case Float:
		return "float64"
	case String:
		return "string"
	case DType:
		return "array.DType"
	case Floats:
		return p.list("float64")
	case Ints:
		if p.Variadic {
			return "...int"
		}
	case Dims:
		if p.Variadic {
			return "...any"
		}
	}
	return "any" // a number, one size, or a list or one element of it
}

func (p Param) list(elem string) string {
	if p.Variadic {
		return "..." + elem
	}
	return "[]" + elem
}

// Signature returns the function as Go declares it, without func:
// "Relu(x *Tensor) *Tensor".
func (f *Func) Signature() string {
	var parts []string
	for i, p := range f.Params {
		s := p.Name
		if i+1 == len(f.Params) || f.Params[i+1].GoType() != p.GoType() || p.Variadic {
			s += " " + p.GoType()
		}
		parts = append(parts, s)
	}
	switch {
	case f.Form == With:
		parts = append(parts, "attrs "+f.AttrsType())
	case len(f.Options) > 0:
		parts = append(parts, "opts ..."+f.AttrsType())
	}
	result := "*Tensor"
	switch {
	case f.List:
		result = "[]*Tensor"
	case f.Results != nil:
		result = "(" + strings.Join(f.Results, ", ") + " *Tensor)"
	}
	return f.Name + "(" + strings.Join(parts, ", ") + ") " + result
}
