package kernelstyle

import (
	"reflect"
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
		case len(s.Sizes) > 0:
			key := text
			for _, f := range s.Sizes {
				key += " " + f.Path.Selector(s.Kernel) + "=" + f.Size.String()
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

// fieldLines sets the fields of a kernel that are sizes.
func (g *kernels) fieldLines(i int, target *jen.Statement, sizes *sizes) []jen.Code {
	s := &g.Steps[i]
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
		lines = append(lines, field.Op("=").Add(sizes.dim(f.Size)))
	}
	return lines
}
