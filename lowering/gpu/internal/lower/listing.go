package lower

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/op"
)

// Listing says what is launched, in comments: bodies of control flow are indented below it.
func (b *Builder) Listing(library string) string {
	l := &listing{arena: b.Arena(256), names: b.names()}
	l.list(b.Steps, "")
	return fmt.Sprintf("// Kernels of %s for %s: %d launches, %d of them once; %d bytes of values.\n", onLine(b.m.Graph.Name), library, l.launches, l.once, l.arena) + l.out.String()
}

// onLine is a name as a comment can have it: what would end one, or join the line after it, is escaped.
func onLine(name string) string {
	if quoted := strconv.Quote(name); quoted != `"`+name+`"` {
		return quoted
	}
	return name
}

type listing struct {
	out            strings.Builder
	names          []string // of buffers
	arena          int
	launches, once int
}

func (l *listing) list(steps []Step, indent string) {
	for _, s := range steps {
		of := ""
		if s.Node != nil {
			of = " # " + onLine(lowering.SourceOf(s.Node).Node)
		}
		if s.Flow != nil {
			l.flow(s.Flow, indent, of)
			continue
		}
		l.launches++
		when := ""
		if s.Setup {
			l.once++
			when = "once: "
		}
		var to, from []string
		for i, k := range s.Args {
			if i < s.Outs {
				to = append(to, l.names[k])
			} else {
				from = append(from, l.names[k])
			}
		}
		for i, n := range s.Kernel.Numbers {
			if i == 0 && s.Shift != nil {
				from = append(from, fmt.Sprintf("%d + %d * round", s.Shift.start, s.Shift.stride))
			} else {
				from = append(from, fmt.Sprint(n))
			}
		}
		fmt.Fprintf(&l.out, "//   %s%s%s = %s<%v groups of %v>(%s)%s\n", indent, when, strings.Join(to, ", "), s.Kernel.Name, s.Kernel.Groups, s.Kernel.Group, strings.Join(from, ", "), of)
	}
}

// flow lists control flow: what the host looks at, and bodies.
func (l *listing) flow(f *Flow, indent, of string) {
	line := func(text string) { l.out.WriteString("//   " + indent + text + "\n") }
	inner := indent + "  "
	switch f.Op {
	case op.Cond:
		line("if " + l.names[f.Test] + of)
		l.list(f.Bodies[0], inner)
		line("else")
		l.list(f.Bodies[1], inner)
	case op.While:
		line("while" + of)
		l.list(f.Bodies[0], inner)
		line("is " + l.names[f.Test])
		l.list(f.Bodies[1], inner)
	default:
		line(fmt.Sprintf("%d rounds", f.Rounds) + of)
		l.list(f.Bodies[0], inner)
	}
}

// names calls buffers by what they are: inputs, weights, results, places in the arena.
func (b *Builder) names() []string {
	names := make([]string, len(b.Buffers))
	inputs := b.m.Graph.Inputs()
	for k, f := range b.Buffers {
		result := slices.IndexFunc(b.Outputs, func(v *Operand) bool { return v.Buf == k })
		switch {
		case f.Kind == Input:
			names[k] = onLine(inputs[f.Input].Target())
		case f.Path != "":
			names[k] = fmt.Sprintf("%q", f.Path)
		case f.Kind == Weight:
			names[k] = fmt.Sprintf("constant%d", k)
		case result >= 0:
			names[k] = fmt.Sprintf("result%d", result)
		case f.Setup:
			names[k] = fmt.Sprintf("packed%d", k)
		default:
			names[k] = fmt.Sprintf("arena+%d", f.Off)
		}
	}
	return names
}
