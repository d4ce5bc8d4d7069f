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

// kernelVars are the variables that kernels have, by their literals.
type kernelVars map[string]string

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

// newKernels decides for each step how code reaches its kernel: as a field of the
// state if it has sizes to be set, as a literal where it is called if that is
// short, else as a variable that all steps with the same literal share. Two steps
// have the same text exactly if they have the same kernel, which is also what
// outline compares.
func newKernels(m *model, n *names, fields *goname.Set) *kernels {
	prefix := goname.Lower(m.opts.Type)
	made := &kernels{model: m, steps: make([]stepCode, len(m.Steps))}
	sized := map[string]string{} // fields, by literal and sizes
	for step := range m.Steps {
		planned := &m.Steps[step]
		code := &made.steps[step]
		if planned.Control() != nil {
			code.text = "flow " + strconv.Itoa(step) // like no other
			continue
		}
		code.literal = gosrc.Literal(structOf(planned), func(d shape.Dim) jen.Code { return jen.Lit(d.String()) })
		text := (&jen.Statement{code.literal}).GoString()
		hint := planned.Op
		if hint == "" {
			hint = structOf(planned).Type().Name()
		}
		switch {
		case len(planned.Sizes) > 0:
			key := text
			for _, f := range planned.Sizes {
				key += " " + f.Path.Selector(planned.Kernel) + "=" + f.Size.String()
			}
			if sized[key] == "" {
				sized[key] = fields.Unique(goname.Lower(hint) + "Kernel")
				made.sized = append(made.sized, step)
			}
			code.field = sized[key]
			code.expr, code.text = jen.Id("s").Dot(code.field), "s."+code.field
		case len(text) <= shortLiteral && !strings.Contains(text, "[]"):
			code.expr, code.text = jen.Add(code.literal), text
		default:
			vars := n.kernelVars
			if vars[text] == "" {
				vars[text] = n.top.Unique(prefix + goname.Upper(hint))
				what := " is the kernel of "
				if structOf(planned).Type().Name() == "Elementwise" {
					what = " computes each element of "
				}
				made.shared = append(made.shared, kernelVar{vars[text], vars[text] + what + gosrc.Comment(hint) + ".", strings.Count(text, "\n") + 1, code.literal})
			}
			code.expr, code.text = jen.Id(vars[text]), vars[text]
		}
	}
	return made
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
