package plan

import (
	"reflect"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/kernel"
)

// String returns a listing for people and golden tests: symbols, guards, buffers
// with their memory and lifetimes, and the steps.
func (p *Plan) String() string {
	var b strings.Builder
	b.WriteString("plan " + p.Name)
	if p.Stateful {
		b.WriteString(" stateful")
	}
	b.WriteString("\n")
	for _, s := range p.Symbols {
		b.WriteString("  symbol " + s.Name + " = dim(" + p.Buffers[p.Inputs[s.Input]].Name + ", " + strconv.Itoa(s.Axis) + ")\n")
	}
	for _, s := range p.Same {
		b.WriteString("  same " + s.Name + " = dim(" + p.Buffers[p.Inputs[s.Input]].Name + ", " + strconv.Itoa(s.Axis) + ")\n")
	}
	for _, g := range p.Guards {
		b.WriteString("  guard " + g.Relation.String() + "\n")
	}
	for i := range p.Buffers {
		b.WriteString("  " + p.bufferLine(&p.Buffers[i]) + "\n")
	}
	b.WriteString("  arena " + p.Arena.String() + " bytes\n")
	for i := range p.Steps {
		b.WriteString("  " + strconv.Itoa(i) + ": " + p.stepLine(&p.Steps[i]) + "\n")
		for _, r := range p.Steps[i].Regions {
			b.WriteString("    " + strings.ReplaceAll(strings.TrimSuffix(r.String(), "\n"), "\n", "\n    ") + "\n")
		}
	}
	b.WriteString("  return " + p.names(p.Outputs) + "\n")
	return b.String()
}

func (p *Plan) bufferLine(b *Buffer) string {
	s := b.Kind.String() + " " + b.Name + " : " + b.Type.String()
	switch b.Kind {
	case Input:
		if b.Donated {
			s += " donated"
		}
		if b.Updated {
			s += " updated"
		}
	case Weight:
		s += " from " + strconv.Quote(b.Path)
		if b.Pack != nil {
			s += " packed by " + KernelName(b.Pack)
		}
	case Temp:
		if b.Within {
			s += " in " + p.Buffers[b.Of].Name
		}
		s += " at " + b.Offset.String() + ", " + b.Bytes.String() + " bytes"
	case View:
		s += " in " + p.Buffers[b.Of].Name
	}
	if b.Kind == Temp || b.Kind == View {
		s += ", steps " + strconv.Itoa(b.First) + "-" + strconv.Itoa(b.Last)
	}
	return s
}

func (p *Plan) names(list []int) string {
	parts := make([]string, len(list))
	for i, k := range list {
		parts[i] = "_"
		if k >= 0 {
			parts[i] = p.Buffers[k].Name
		}
	}
	return strings.Join(parts, ", ")
}

func (p *Plan) stepLine(s *Step) string {
	out := p.names(s.Out) + " = "
	if s.View {
		out += "view "
	}
	if s.Joined {
		out += "joined "
	}
	out += KernelName(s.Kernel)
	var set []string
	for _, f := range s.Sizes {
		set = append(set, f.Path.Selector(s.Kernel)+" = "+f.Size.String())
	}
	if set != nil {
		out += " with " + strings.Join(set, ", ")
	}
	out += " (" + p.names(s.In) + ")"
	if s.Spare != nil {
		out += " by way of " + p.names(s.Spare)
	}
	if s.Op != "" {
		out += " # " + s.Op
	}
	if at := s.Pos.String(); at != "" {
		out += " at " + at
	}
	return out
}

// KernelName returns the kernel's type and its simple fields that are not zero:
// "Permute{Dims: [1 0]}".
func KernelName(k kernel.Step) string {
	v := reflect.Indirect(reflect.ValueOf(k))
	name := v.Type().Name()
	if v.Kind() != reflect.Struct {
		return name
	}
	switch e := v.Interface().(type) {
	case kernel.Elementwise:
		return name + "{" + programText(&e.Program) + "}"
	case kernel.ElementwiseReduce:
		return name + "{" + programText(&e.Program) + " " + strings.Join(fields(v, nil), ", ") + "}"
	}
	return name + "{" + strings.Join(fields(v, nil), ", ") + "}"
}

// fields appends the simple fields that are not zero, those of embedded structs
// among them.
func fields(v reflect.Value, parts []string) []string {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if !f.IsExported() || v.Field(i).IsZero() {
			continue
		}
		if f.Anonymous && f.Type.Kind() == reflect.Struct {
			parts = fields(v.Field(i), parts)
		} else if text, ok := literal(v.Field(i)); ok {
			parts = append(parts, f.Name+": "+text)
		}
	}
	return parts
}

func literal(v reflect.Value) (string, bool) {
	if p, ok := v.Interface().(*kernel.Program); ok {
		return "{" + programText(p) + "}", true
	}
	if p, ok := v.Interface().(kernel.Prologue); ok {
		return "{" + strings.Join(fields(reflect.ValueOf(p), nil), ", ") + "}", true
	}
	switch v.Kind() {
	case reflect.Bool:
		return strconv.FormatBool(v.Bool()), true
	case reflect.Int, reflect.Int64, reflect.Int32:
		return strconv.FormatInt(v.Int(), 10), true
	case reflect.Uint8, reflect.Uint32, reflect.Uint64:
		if s, ok := v.Interface().(interface{ String() string }); ok {
			return s.String(), true
		}
		return strconv.FormatUint(v.Uint(), 10), true
	case reflect.Float64, reflect.Float32:
		return strconv.FormatFloat(v.Float(), 'g', -1, 64), true
	case reflect.String:
		return strconv.Quote(v.String()), true
	case reflect.Slice:
		parts := make([]string, v.Len())
		for i := range parts {
			t, ok := literal(v.Index(i))
			if !ok {
				return "", false
			}
			parts[i] = t
		}
		return "[" + strings.Join(parts, " ") + "]", true
	}
	return "", false
}

// programText names the operations of an elementwise program, in order.
func programText(p *kernel.Program) string {
	var ops []string
	for _, in := range p.Code {
		if name := in.Op.String(); in.Op != kernel.OpInput && in.Op != kernel.OpOutput {
			ops = append(ops, name)
		}
	}
	return strings.Join(ops, " ")
}
