package kernelstyle

import (
	"reflect"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/gofx-dev/gofx/codegen/gosrc"
	"github.com/gofx-dev/gofx/internal/goname"
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

// kernels decides for each step how its kernel is reached: a short literal
// without lists stands at the call, which costs nothing; others are variables
// that equal steps share; those that depend on sizes are kept in the state.
type kernels struct {
	*model
	steps  []stepCode
	shared []kernelVar
	sized  []int // the first step of each kernel that is kept in the state
}

func newKernels(m *model, top, fields *goname.Set) *kernels {
	prefix := goname.Lower(m.opts.Type)
	g := &kernels{model: m, steps: make([]stepCode, len(m.Steps))}
	vars := map[string]string{} // by literal and sizes
	for i := range m.Steps {
		s := &m.Steps[i]
		c := &g.steps[i]
		c.literal = gosrc.Literal(structOf(s), func(d shape.Dim) jen.Code { return jen.Lit(d.String()) })
		text := (&jen.Statement{c.literal}).GoString()
		hint := s.Op
		if hint == "" {
			hint = structOf(s).Type().Name()
		}
		switch {
		case len(s.Fields) > 0:
			key := text
			for _, f := range s.Fields {
				key += " " + f.Name + "=" + f.Expr.String()
			}
			if vars[key] == "" {
				vars[key] = fields.Unique(goname.Lower(hint) + "Kernel")
				g.sized = append(g.sized, i)
			}
			c.field = vars[key]
			c.expr, c.text = jen.Id("s").Dot(c.field), "s."+c.field
		case len(text) <= shortLiteral && !strings.Contains(text, "[]"):
			c.expr, c.text = jen.Add(c.literal), text
		default:
			if vars[text] == "" {
				vars[text] = top.Unique(prefix + goname.Upper(hint))
				what := " is the kernel of "
				if structOf(s).Type().Name() == "Elementwise" {
					what = " computes each element of "
				}
				g.shared = append(g.shared, kernelVar{vars[text], vars[text] + what + gosrc.Comment(hint) + ".", strings.Count(text, "\n") + 1, c.literal})
			}
			c.expr, c.text = jen.Id(vars[text]), vars[text]
		}
	}
	return g
}

// structOf returns the kernel's struct.
func structOf(s *plan.Step) reflect.Value { return reflect.Indirect(reflect.ValueOf(s.Kernel)) }

// fieldLines sets the integers of a kernel that depend on sizes.
func (g *kernels) fieldLines(i int, target *jen.Statement, sizes *sizes) []jen.Code {
	s := &g.Steps[i]
	lines := []jen.Code{jen.Add(target).Op("=").Add(g.steps[i].literal)}
	for _, f := range s.Fields {
		value := sizes.dim(f.Expr)
		if t := fieldType(structOf(s), f.Name); t != "int" && t != "" {
			value = jen.Id(t).Call(value)
		}
		lines = append(lines, selectField(target, f.Name).Op("=").Add(value))
	}
	return lines
}

// selectField prints a selector such as "Dims[1]" or "Slice.Stop" of a value.
func selectField(of jen.Code, path string) *jen.Statement {
	out := jen.Add(of)
	for _, part := range strings.Split(path, ".") {
		name, index, _ := strings.Cut(part, "[")
		out.Dot(name)
		for index != "" {
			digits, rest, _ := strings.Cut(index, "]")
			k, _ := strconv.Atoi(digits) // a selector holds numbers alone
			out.Index(jen.Lit(k))
			index = strings.TrimPrefix(rest, "[")
		}
	}
	return out
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
