// Package opdoc describes operators for readers: docs/ops.md has a line for each, and
// `fxgen ops NAME` prints the whole reference of one. All of it follows from the
// operator's record and from package op/api.
package opdoc

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gofx-dev/gofx/internal/goname"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/api"
)

// Signature returns the call of an operator as docs/ops.md shows it: operands, after
// a semicolon the attributes, and after an arrow the results unless it is one tensor.
func Signature(o *op.Op) string {
	var b strings.Builder
	b.WriteString(o.Name + "(" + strings.Join(operands(o), ", "))
	for i, a := range attributes(o) {
		b.WriteString([...]string{"; ", ", "}[min(i, 1)] + a.name)
	}
	b.WriteString(")")
	switch {
	case list(o):
		b.WriteString(" → ...")
	case o.Results != nil:
		b.WriteString(" → " + strings.Join(o.Results, ", "))
	}
	return b.String()
}

// list reports whether the number of results follows from the attributes.
func list(o *op.Op) bool { return len(o.Results) == 1 && o.Results[0] == "..." }

// Made says how an operator gets its results.
func Made(o *op.Op) string {
	switch {
	case o.Structural():
		return "structural"
	case o.Scalar():
		return "expression"
	case o.Composite():
		return "composite"
	}
	return "kernel"
}

// Effects lists how a call differs from a function whose results are its own.
func Effects(o *op.Op) (out []string) {
	switch o.Effect {
	case op.Apart:
		out = append(out, "kept apart from its operand")
	case op.Random:
		out = append(out, "random")
	case op.Effectful:
		out = append(out, "acts on the world")
	}
	if o.ViewOf > 0 {
		out = append(out, "may share the data of "+o.In[o.ViewOf-1].Name)
	}
	return out
}

// Functions lists the Go functions of an operator: with a star where a method of
// the first tensor writes in place, with the package unless it is tensor.
func Functions(o *op.Op) (out []string) {
	if o.Structural() {
		return nil
	}
	if o.Path != "" {
		return []string{o.Path[strings.LastIndexByte(o.Path, '/')+1:] + "." + goname.Upper(o.Name)}
	}
	for _, f := range api.Of(o) {
		star := ""
		if f.InPlace != "" {
			star = "*"
		}
		out = append(out, f.Name+star)
	}
	return out
}

// Reference returns the whole reference of an operator as plain text.
func Reference(o *op.Op) string {
	var b strings.Builder
	b.WriteString(o.Doc + "\n\n")
	row := func(name, text string) {
		if text != "" {
			fmt.Fprintf(&b, "%-12s%s\n", name, text)
		}
	}
	row("operands", strings.Join(operands(o), ", "))
	var attrs []string
	for _, a := range attributes(o) {
		attrs = append(attrs, a.name+" ("+a.kind+")")
	}
	row("attributes", strings.Join(attrs, ", "))
	if list(o) {
		row("results", "as many as the attributes say")
	} else {
		row("results", strings.Join(o.Results, ", "))
	}
	row("made by", Made(o))
	row("effects", strings.Join(Effects(o), ", "))
	row("paper", o.Ref)
	if o.Path == "" && !o.Structural() { // others are not PyTorch's
		departures(&b, slices.Concat(o.Differences(), op.Everywhere()))
	}
	if !o.Structural() {
		functions(&b, o)
	}
	return b.String()
}

// departures writes how an operator departs from PyTorch's, by kind.
func departures(b *strings.Builder, all []op.NamedDifference) {
	for _, kind := range []op.Departure{op.Alters, op.Refuses, op.Extends} {
		head := kind.String() + ":\n"
		for _, d := range all {
			if d.Kind == kind {
				b.WriteString(head + "    " + d.Text + "\n")
				head = ""
			}
		}
	}
}

// functions writes the Go signatures of an operator.
func functions(b *strings.Builder, o *op.Op) {
	if o.Path != "" {
		fmt.Fprintf(b, "\n%s of package %s, with %s; tensor.CallOp calls it.\n", Functions(o)[0], o.Path, o.Codec().GoType())
		return
	}
	b.WriteString("\n")
	for _, f := range api.Of(o) {
		b.WriteString("func " + f.Signature() + "\n")
		if f.Method {
			b.WriteString("     and the method x." + f.Name)
			if f.InPlace != "" {
				b.WriteString("; x." + f.InPlace + " writes in place")
			}
			b.WriteString("\n")
		}
	}
}

// operands lists the operands of an operator: `?` marks one that may be absent, `...`
// one that stands for any number.
func operands(o *op.Op) []string {
	names := make([]string, len(o.In))
	for i, in := range o.In {
		names[i] = in.Name
		switch {
		case in.Optional:
			names[i] += "?"
		case in.Variadic:
			names[i] += "..."
		}
	}
	return names
}

type attribute struct{ name, kind string }

// attributes lists the attributes as the text form names them.
func attributes(o *op.Op) (out []attribute) {
	for _, a := range o.Codec().Fields(o.Codec().Zero()) {
		kind := [...]string{api.Bool: "bool", api.Int: "int", api.Float: "float", api.String: "string", api.DType: "element type", api.Ints: "ints",
			api.Floats: "floats", api.Scalar: "number", api.Dim: "size", api.Dims: "sizes"}[api.KindOf(a.Value)]
		if a.Enum != nil {
			kind = api.OneOf(a.Enum)
		}
		out = append(out, attribute{a.Name, kind})
	}
	return out
}
