package codegen

import (
	"reflect"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering/plan"
	"github.com/gofx-dev/gofx/shape"
)

// stepCode is a step made ready to print.
type stepCode struct {
	literal jen.Code       // the kernel's struct
	expr    *jen.Statement // how the step's code reaches its kernel
	text    string         // expr as text
	field   string         // the kernel's field in the state, when it depends on sizes
}

// kernelVar is a kernel that steps share.
type kernelVar struct {
	name, doc string
	lines     int
	literal   jen.Code
}

// shortLiteral is the longest literal printed at the call itself.
const shortLiteral = 64

// prepareSteps decides for each step how its kernel is reached: a short literal
// without lists stands at the call, which costs nothing; others are variables
// that equal steps share; those that depend on sizes are kept in the state.
func (g *kernelGen) prepareSteps() {
	g.steps = make([]stepCode, len(g.p.Steps))
	for i := range g.p.Steps {
		s := &g.p.Steps[i]
		c := &g.steps[i]
		c.literal = literal(structOf(s), func(d shape.Dim) jen.Code { return jen.Lit(d.String()) })
		text := (&jen.Statement{c.literal}).GoString()
		hint := s.Op
		if hint == "" {
			hint = structOf(s).Type().Name()
		}
		switch {
		case len(s.Sizes) > 0:
			key := text
			for _, f := range s.Sizes {
				key += " " + f.Path.Selector(s.Kernel) + "=" + f.Size.String()
			}
			if g.vars[key] == "" {
				g.vars[key] = g.fields.add(camel(hint) + "Kernel")
			}
			c.field = g.vars[key]
			c.expr, c.text = jen.Id("s").Dot(c.field), "s."+c.field
		case len(text) <= shortLiteral && !strings.Contains(text, "[]"):
			c.expr, c.text = jen.Add(c.literal), text
		default:
			if g.vars[text] == "" {
				g.vars[text] = g.top.add(g.prefix + exported(hint))
				what := " is the kernel of "
				if structOf(s).Type().Name() == "Elementwise" {
					what = " computes each element of "
				}
				g.kernels = append(g.kernels, kernelVar{g.vars[text], g.vars[text] + what + comment(hint) + ".", strings.Count(text, "\n") + 1, c.literal})
			}
			c.expr, c.text = jen.Id(g.vars[text]), g.vars[text]
		}
	}
}

// operandList prints the arrays of a step. ref tells how the code reaches a buffer.
func operandList(list []int, ref func(int) *jen.Statement) []jen.Code {
	out := make([]jen.Code, len(list))
	for i, k := range list {
		if out[i] = jen.Nil(); k >= 0 {
			out[i] = ref(k)
		}
	}
	return out
}

// statement prints a step's call.
func (g *kernelGen) statement(i int, name string, ref func(int) *jen.Statement) *jen.Statement {
	s := &g.p.Steps[i]
	frame := func(method string, args ...jen.Code) *jen.Statement { return jen.Id("s").Dot(method).Call(args...) }
	out, in := frame("Outs", operandList(s.Out, ref)...), frame("Ins", operandList(s.In, ref)...)
	if s.View {
		if _, partial := s.Kernel.(kernel.PartialViewer); partial {
			return frame("ViewOrCopy", quoted(name), g.steps[i].expr, out, in)
		}
		return frame("Viewed", quoted(name), jen.Add(g.steps[i].expr).Dot("View").Call(out, in))
	}
	return jen.Add(g.steps[i].expr).Dot("Run").Call(frame("At", quoted(name)), out, in)
}

// layView prints how the result of a view step is laid out, before there is any
// memory.
func (g *kernelGen) layView(i int, ref func(int) *jen.Statement) *jen.Statement {
	s := &g.p.Steps[i]
	if _, partial := s.Kernel.(kernel.PartialViewer); !partial {
		return g.statement(i, g.stepName(i), ref)
	}
	out, in := jen.Id("s").Dot("Outs").Call(operandList(s.Out, ref)...), jen.Id("s").Dot("Ins").Call(operandList(s.In, ref)...)
	return jen.Id("s").Dot("ViewOrDense").Call(g.steps[i].expr, out, in)
}

// place returns the module path and type that a step belongs to: its scope, or
// the module whose tensors it reads where that says more.
func (g *kernelGen) place(i int) (path, typ string) {
	s := &g.p.Steps[i]
	path, typ = s.Scope.Path, s.Scope.Type
	common, any := "", false
	for _, k := range s.In {
		if k < 0 || g.p.Buffers[k].Kind != plan.Weight {
			continue
		}
		p := g.p.Buffers[k].Path
		owner := p[:max(0, strings.LastIndexByte(p, '.'))]
		if any && owner != common {
			return path, typ
		}
		common, any = owner, true
	}
	if len(common) > len(path) && (path == "" || strings.HasPrefix(common, path+".")) {
		return common, ""
	}
	return path, typ
}

// stepComment describes a step: scope, type of the module, result type. base is
// the scope of the enclosing function, which is left out.
func (g *kernelGen) stepComment(i int, base string) string {
	s := &g.p.Steps[i]
	path, typ := g.place(i)
	if base != "" && path != base {
		path = strings.TrimPrefix(path, base+".")
	}
	typ = typ[strings.LastIndexByte(typ, '/')+1:]
	text := path
	switch {
	case base != "" && path == base:
		text = typ
	case typ != "":
		text += " (" + typ + ")"
	}
	// A module that is named after what it does says enough: BatchNorm2d.
	if !strings.HasPrefix(strings.ToLower(typ[strings.LastIndexByte(typ, '.')+1:]), strings.ReplaceAll(s.Op, "_", "")) {
		if text != "" {
			text += ": "
		}
		text += s.Op
	}
	var types []string
	for _, k := range s.Out {
		if k >= 0 {
			types = append(types, g.p.Buffers[k].Type.String())
		}
	}
	switch {
	case s.View && len(types) == 1:
		types[0] += ", a view"
	case s.View:
		types[0] = "views " + types[0]
	}
	return comment(strings.TrimSpace(text) + " " + strings.Join(types, ", "))
}

// stepName is the name by which errors call a step.
func (g *kernelGen) stepName(i int) string {
	s := &g.p.Steps[i]
	if len(s.Nodes) > 0 && s.Nodes[0] != "" {
		return s.Nodes[0]
	}
	for _, k := range s.Out {
		if k >= 0 {
			return g.p.Buffers[k].Name
		}
	}
	return s.Op
}

// fieldLines sets the integers of a kernel that depend on sizes.
func (g *kernelGen) fieldLines(i int, target *jen.Statement) []jen.Code {
	s := &g.p.Steps[i]
	lines := []jen.Code{jen.Add(target).Op("=").Add(g.steps[i].literal)}
	for _, f := range s.Sizes {
		field := jen.Add(target)
		f.Path.Walk(structOf(s), func(part reflect.Value, next int) {
			if part.Kind() == reflect.Struct {
				field.Dot(part.Type().Field(next).Name)
			} else {
				field.Index(jen.Lit(next))
			}
		})
		lines = append(lines, field.Op("=").Add(g.dim(f.Size)))
	}
	return lines
}
