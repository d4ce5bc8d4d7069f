package codegen

import (
	"reflect"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/gofx-dev/gofx/lowering/plan"
	"github.com/gofx-dev/gofx/shape"
)

// stepCode is a step made ready to print.
type stepCode struct {
	literal string // the kernel's struct
	expr    string // how the step's code reaches its kernel
	field   string // the kernel's field in the state, when it depends on sizes
}

// kernelText prints the kernel of a step as a Go literal.
func kernelText(s *plan.Step) string {
	v := structOf(s)
	code := literal(v, func(d shape.Dim) jen.Code { return jen.Lit(d.String()) })
	return (&jen.Statement{code}).GoString()
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
		c.literal = kernelText(s)
		hint := s.Op
		if hint == "" {
			hint = structOf(s).Type().Name()
		}
		switch {
		case len(s.Fields) > 0:
			key := c.literal
			for _, f := range s.Fields {
				key += " " + f.Name + "=" + f.Expr.String()
			}
			if g.vars[key] == "" {
				g.vars[key] = g.fields.add(camel(hint) + "Kernel")
			}
			c.field = g.vars[key]
			c.expr = "s." + c.field
		case len(c.literal) <= shortLiteral && !strings.Contains(c.literal, "[]"):
			c.expr = c.literal
		default:
			if g.vars[c.literal] == "" {
				name := g.top.add(g.prefix + exported(hint))
				g.vars[c.literal] = name
				what := " is the kernel of "
				if structOf(s).Type().Name() == "Elementwise" {
					what = " computes each element of "
				}
				g.kernels = append(g.kernels, "// "+name+what+comment(hint)+".\nvar "+name+" = "+c.literal)
			}
			c.expr = g.vars[c.literal]
		}
	}
}

// statement prints a step's call. ref tells how the code reaches a buffer.
func (g *kernelGen) statement(i int, name string, ref func(int) string) string {
	s := &g.p.Steps[i]
	list := func(bufs []int) string {
		parts := make([]string, len(bufs))
		for k, b := range bufs {
			parts[k] = "nil"
			if b >= 0 {
				parts[k] = ref(b)
			}
		}
		return strings.Join(parts, ", ")
	}
	q := strconv.QuoteToASCII(name)
	expr := g.steps[i].expr
	if s.View {
		return "s.viewed(" + q + ", " + expr + ".View(" + ref(s.Out[0]) + ", s.ins(" + list(s.In) + ")))"
	}
	return expr + ".Run(s.at(" + q + "), s.outs(" + list(s.Out) + "), s.ins(" + list(s.In) + "))"
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
	if s.View {
		types[0] += ", a view"
	}
	return "// " + comment(strings.TrimSpace(text)+" "+strings.Join(types, ", "))
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
func (g *kernelGen) fieldLines(i int, target string) []string {
	s := &g.p.Steps[i]
	lines := []string{target + " = " + g.steps[i].literal}
	for _, f := range s.Fields {
		value := g.dim(f.Expr)
		if t := fieldType(structOf(s), f.Name); t != "int" && t != "" {
			value = t + "(" + value + ")"
		}
		lines = append(lines, target+"."+f.Name+" = "+value)
	}
	return lines
}

// fieldType returns the basic type of an integer that a selector reaches.
func fieldType(v reflect.Value, path string) string {
	for _, part := range strings.Split(path, ".") {
		name, index, _ := strings.Cut(part, "[")
		if v.Kind() != reflect.Struct {
			return ""
		}
		if v = v.FieldByName(name); !v.IsValid() {
			return ""
		}
		for index != "" {
			digits, rest, _ := strings.Cut(index, "]")
			k, err := strconv.Atoi(digits)
			if err != nil || k < 0 || v.Kind() != reflect.Slice && v.Kind() != reflect.Array || k >= v.Len() {
				return ""
			}
			v = v.Index(k)
			index = strings.TrimPrefix(rest, "[")
		}
	}
	return v.Kind().String()
}
