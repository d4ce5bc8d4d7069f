package op

import (
	"reflect"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/shape"
)

// FieldSize says which size an integer of a step is; see WithSizes.
type FieldSize struct {
	field *int
	size  shape.Dim
}

// Size says that a field of a step is a size.
func Size(field *int, size shape.Dim) FieldSize { return FieldSize{field, size} }

// WithSizes gives a step the sizes that its fields hold. Known ones are stored at
// once; when all are, the result is the step itself, else an *Unsized, to which an
// engine gives the others when it knows them.
func WithSizes[T any, P interface {
	*T
	kernel.Step
}](step P, sizes ...FieldSize) kernel.Step {
	known := true
	for _, s := range sizes {
		n, ok := s.size.Int()
		if ok {
			*s.field = n
		}
		known = known && ok
	}
	if known {
		return step
	}
	u := &Unsized{Step: step}
	for _, s := range sizes {
		if _, ok := s.size.Int(); ok {
			continue
		}
		path, ok := pathTo(reflect.ValueOf(step).Elem(), s.field)
		if !ok {
			panic(diag.Bug("op.Size: " + reflect.TypeFor[T]().String() + " has no such field: it must be an exported int of the step that WithSizes gets"))
		}
		u.Sizes = append(u.Sizes, SizeField{path, s.size})
	}
	return u
}

// Unsized is a step of which some fields are sizes that are not known yet.
type Unsized struct {
	Step  kernel.Step // a pointer to a struct whose sizes are 0
	Sizes []SizeField
}

// Run panics: engines that know only numbers are told what is missing.
func (u *Unsized) Run(*kernel.Workspace, []*array.Array, []*array.Array) {
	s := u.Sizes[0]
	panic(diag.New(NoMeaning, s.Path.Selector(u.Step)+" is "+s.Size.String()+", expected a number").
		WithHint("bind the symbols of the attributes before running the operator"))
}

// SizeField is an int of a step that holds a size.
type SizeField struct {
	Path Path
	Size shape.Dim
}

// Path leads from the struct of a step to one of its ints: the index of a field, and
// on through nested structs, of the element of a list or a field again.
type Path []int

// pathTo returns the path to the int at p.
func pathTo(v reflect.Value, p *int) (Path, bool) {
	if v.Kind() == reflect.Int {
		q, ok := v.Addr().Interface().(*int)
		return nil, ok && p == q
	}
	for i := range children(v) {
		in := child(v, i)
		if !in.CanInterface() {
			continue // not exported
		}
		if rest, ok := pathTo(in, p); ok {
			return append(Path{i}, rest...), true
		}
	}
	return nil, false
}

// children is how many fields or elements a part of a step has.
func children(v reflect.Value) int {
	switch v.Kind() {
	case reflect.Struct:
		return v.NumField()
	case reflect.Slice, reflect.Array:
		return v.Len()
	}
	return 0
}

func child(v reflect.Value, i int) reflect.Value {
	if v.Kind() == reflect.Struct {
		return v.Field(i)
	}
	return v.Index(i)
}

// Walk goes along the path in a step's struct and returns the int at its end; ok is
// false when it leads to none. enter is told each part and which of its fields or
// elements comes next.
func (p Path) Walk(v reflect.Value, enter func(part reflect.Value, next int)) (field reflect.Value, ok bool) {
	for _, i := range p {
		if i < 0 || i >= children(v) {
			return v, false
		}
		enter(v, i)
		if v = child(v, i); !v.CanInterface() {
			return v, false
		}
	}
	return v, v.Type() == reflect.TypeFor[int]()
}

// Selector returns the Go selector of the path in a step, without the step in
// front: "Stop", "Output[1]".
func (p Path) Selector(step kernel.Step) string {
	text := ""
	p.Walk(reflect.Indirect(reflect.ValueOf(step)), func(part reflect.Value, next int) {
		switch {
		case part.Kind() != reflect.Struct:
			text += "[" + strconv.Itoa(next) + "]"
		case text != "":
			text += "."
			fallthrough
		default:
			text += part.Type().Field(next).Name
		}
	})
	return text
}
