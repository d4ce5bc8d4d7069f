package effects

import (
	"go/types"
	"strconv"
	"strings"
)

// TypeName is a type's name as package reflect has it, with full package paths; the path of a program is main.
func TypeName(t types.Type) string {
	var b strings.Builder
	writeType(&b, t)
	return b.String()
}

func writeType(b *strings.Builder, t types.Type) {
	switch t := types.Unalias(t).(type) {
	case *types.Basic:
		b.WriteString(types.Typ[t.Kind()].Name()) // uint8 for byte
	case *types.Named:
		if p := t.Obj().Pkg(); p != nil && p.Name() == "main" {
			b.WriteString("main.")
		} else if p != nil {
			b.WriteString(p.Path() + ".")
		}
		b.WriteString(t.Obj().Name())
		for i := range t.TypeArgs().Len() {
			b.WriteByte("[,"[min(i, 1)])
			writeType(b, t.TypeArgs().At(i))
		}
		if t.TypeArgs().Len() > 0 {
			b.WriteByte(']')
		}
	case *types.Pointer:
		b.WriteByte('*')
		writeType(b, t.Elem())
	case *types.Slice:
		b.WriteString("[]")
		writeType(b, t.Elem())
	case *types.Array:
		b.WriteString("[" + strconv.FormatInt(t.Len(), 10) + "]")
		writeType(b, t.Elem())
	case *types.Map:
		b.WriteString("map[")
		writeType(b, t.Key())
		b.WriteByte(']')
		writeType(b, t.Elem())
	case *types.Signature:
		b.WriteString("func")
		writeSignature(b, t)
	case *types.Struct:
		writeStruct(b, t)
	case *types.Interface:
		writeInterface(b, t)
	case *types.Chan:
		b.WriteString(map[types.ChanDir]string{types.RecvOnly: "<-chan ", types.SendOnly: "chan<- ", types.SendRecv: "chan "}[t.Dir()])
		writeType(b, t.Elem())
	default: // type parameters, which no instance has
		b.WriteString(types.TypeString(t, func(p *types.Package) string { return p.Path() }))
	}
}

func writeSignature(b *strings.Builder, t *types.Signature) {
	writeTuple := func(list *types.Tuple, variadic bool) {
		for i := range list.Len() {
			if i > 0 {
				b.WriteString(", ")
			}
			v := list.At(i).Type()
			if s, ok := v.(*types.Slice); ok && variadic && i == list.Len()-1 {
				b.WriteString("...")
				v = s.Elem()
			}
			writeType(b, v)
		}
	}
	b.WriteByte('(')
	writeTuple(t.Params(), t.Variadic())
	b.WriteByte(')')
	switch t.Results().Len() {
	case 0:
	case 1:
		b.WriteByte(' ')
		writeTuple(t.Results(), false)
	default:
		b.WriteString(" (")
		writeTuple(t.Results(), false)
		b.WriteByte(')')
	}
}

func writeStruct(b *strings.Builder, t *types.Struct) {
	b.WriteString("struct {")
	for i := range t.NumFields() {
		b.WriteString([]string{" ", "; "}[min(i, 1)])
		f := t.Field(i)
		if !f.Embedded() {
			b.WriteString(f.Name() + " ")
		}
		writeType(b, f.Type())
		if tag := t.Tag(i); tag != "" {
			b.WriteString(" " + strconv.Quote(tag))
		}
	}
	if t.NumFields() > 0 {
		b.WriteByte(' ')
	}
	b.WriteByte('}')
}

func writeInterface(b *strings.Builder, t *types.Interface) {
	b.WriteString("interface {")
	for i := range t.NumMethods() {
		b.WriteString([]string{" ", "; "}[min(i, 1)])
		m := t.Method(i)
		if !m.Exported() && m.Pkg() != nil {
			b.WriteString(m.Pkg().Path() + ".")
		}
		b.WriteString(m.Name())
		writeSignature(b, m.Type().(*types.Signature))
	}
	if t.NumMethods() > 0 {
		b.WriteByte(' ')
	}
	b.WriteByte('}')
}

// local finds a type declared in a function among the parts of t: two of them may have one
// name at run time. It returns "" where there is none.
func local(t types.Type) string { return localIn(t, map[types.Type]bool{}) }

func localIn(t types.Type, seen map[types.Type]bool) string {
	if seen[t] {
		return ""
	}
	seen[t] = true
	switch t := types.Unalias(t).(type) {
	case *types.Named:
		if o := t.Origin().Obj(); o.Pkg() != nil && o.Parent() != o.Pkg().Scope() {
			return o.Name()
		}
		for i := range t.TypeArgs().Len() {
			if s := localIn(t.TypeArgs().At(i), seen); s != "" {
				return s
			}
		}
	case interface{ Elem() types.Type }:
		if m, ok := t.(*types.Map); ok {
			if s := localIn(m.Key(), seen); s != "" {
				return s
			}
		}
		return localIn(t.Elem(), seen)
	}
	return ""
}

// Within adds to a set the names of a type and of those that lie in its values or that these point to, without what only
// interfaces, function values and tensors hold.
func Within(t types.Type, names map[string]bool) {
	t = types.Unalias(t)
	k := TypeName(t)
	if names[k] {
		return
	}
	names[k] = true
	switch u := t.Underlying().(type) {
	case *types.Pointer:
		Within(u.Elem(), names)
	case *types.Slice:
		Within(u.Elem(), names)
	case *types.Array:
		Within(u.Elem(), names)
	case *types.Chan:
		Within(u.Elem(), names)
	case *types.Map:
		Within(u.Key(), names)
		Within(u.Elem(), names)
	case *types.Struct:
		if isNamed(t, tensorPath, "Tensor") {
			return
		}
		for v := range u.Fields() {
			Within(v.Type(), names)
		}
	}
}
