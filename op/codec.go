package op

import (
	"math"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/internal/goname"
	"github.com/gofx-dev/gofx/shape"
)

// Codec is what the IR needs to know about one attributes struct: print, parse,
// equality, hash key, symbols, fields for Go literals. It is compiled from the
// type once. Supported field types: bool, int, float64, string, array.DType,
// Ints, Floats, Scalar, shape.Dim, shape.Dims.
//
// A field is named in lower_snake; the tag `fx:"name"` overrides it. The option
// `param` (`fx:",param"`) marks data such as a learning rate, which is not part
// of the structural key; `lift` marks a number that engines may make an operand of where
// programs differ in it alone, see Op.Lift. `enum=a|b` lists the legal strings. `arg` makes the
// field a positional parameter of the generated Go function and method; the
// other fields are passed in a trailing attributes struct. A list of arguments that comes
// last is variadic, and with options there is a second function for both. `each` keeps
// the list one argument, an int or a list, which options follow: of a kernel's sizes one
// usually stands for all, and two numbers would read as PyTorch's size and stride.
type Codec struct {
	typ    reflect.Type
	fields []field
	zero   any
	plain  bool // attributes are equal exactly when Go says so of the structs
}

type field struct {
	name  string
	index int
	param bool
	lift  bool
	arg   bool
	each  bool
	enum  []string
	kind  fieldKind
}

type fieldKind uint8

const (
	kindBool fieldKind = iota
	kindInt
	kindFloat
	kindString
	kindDType
	kindInts
	kindFloats
	kindScalar
	kindDim
	kindDims
)

var fieldKinds = map[reflect.Type]fieldKind{
	reflect.TypeFor[bool]():        kindBool,
	reflect.TypeFor[int]():         kindInt,
	reflect.TypeFor[float64]():     kindFloat,
	reflect.TypeFor[string]():      kindString,
	reflect.TypeFor[array.DType](): kindDType,
	reflect.TypeFor[Ints]():        kindInts,
	reflect.TypeFor[Floats]():      kindFloats,
	reflect.TypeFor[Scalar]():      kindScalar,
	reflect.TypeFor[shape.Dim]():   kindDim,
	reflect.TypeFor[shape.Dims]():  kindDims,
}

var codecs sync.Map // reflect.Type → *Codec

func codecOf(t reflect.Type) *Codec {
	if c, ok := codecs.Load(t); ok {
		return c.(*Codec)
	}
	c, _ := codecs.LoadOrStore(t, compileCodec(t))
	return c.(*Codec)
}

func compileCodec(t reflect.Type) *Codec {
	c := &Codec{typ: t, zero: reflect.Zero(t).Interface(), plain: true}
	if t.Kind() != reflect.Struct {
		panic(diag.Bug("attributes type " + t.String() + " is not a struct"))
	}
	for i := range t.NumField() {
		f := t.Field(i)
		k, ok := fieldKinds[f.Type]
		if !ok || !f.IsExported() {
			panic(diag.Bug("attributes field " + t.String() + "." + f.Name + " is unexported or of an unsupported type"))
		}
		fd := field{name: goname.Snake(f.Name), index: i, kind: k}
		parts := strings.Split(f.Tag.Get("fx"), ",")
		if parts[0] != "" {
			fd.name = parts[0]
		}
		for _, opt := range parts[1:] {
			switch opt {
			case "param":
				fd.param = true
			case "lift":
				fd.lift = true
			case "arg":
				fd.arg = true
			case "each":
				fd.each = true
			}
			if e, ok := strings.CutPrefix(opt, "enum="); ok {
				fd.enum = strings.Split(e, "|")
			}
		}
		c.plain = c.plain && k != kindFloat && k != kindDim && k != kindDims // 0 and -0 are two, texts of sizes count
		c.fields = append(c.fields, fd)
	}
	return c
}

// Zero returns the attributes with every field at its zero value.
func (c *Codec) Zero() any { return c.zero }

// GoType returns the Go type of the attributes struct.
func (c *Codec) GoType() reflect.Type { return c.typ }

// Accepts reports whether a is of the codec's struct type.
func (c *Codec) Accepts(a any) bool { return reflect.TypeOf(a) == c.typ }

// Given returns the attributes of a call: the zero value for nil, and with an error for
// those of another operator.
func (c *Codec) Given(attrs any) (any, error) {
	if attrs == nil {
		return c.Zero(), nil
	}
	if !c.Accepts(attrs) {
		return c.Zero(), diag.New(BadAttr, "attributes are "+reflect.TypeOf(attrs).String()+", expected "+c.typ.String())
	}
	return attrs, nil
}

// Field is one attribute, for printers.
type Field struct {
	Name   string // text form
	GoName string
	Value  any
	Zero   bool // at its zero value, which printers leave out
	Enum   []string
	Arg    bool // a positional parameter of the generated Go API
	Each   bool // a list that is one argument where options follow
}

// Fields lists the attributes in declaration order.
func (c *Codec) Fields(a any) []Field {
	v := reflect.ValueOf(a)
	out := make([]Field, len(c.fields))
	for i, f := range c.fields {
		fv := v.Field(f.index)
		out[i] = Field{Name: f.name, GoName: c.typ.Field(f.index).Name, Value: fv.Interface(), Zero: c.isZero(f, fv), Enum: f.enum, Arg: f.arg, Each: f.each}
	}
	return out
}

func (c *Codec) isZero(f field, v reflect.Value) bool {
	switch f.kind {
	case kindFloat:
		return math.Float64bits(v.Float()) == 0
	case kindDims:
		return v.Interface().(shape.Dims).Len() == 0
	case kindDim:
		return v.Interface().(shape.Dim).Is(0)
	}
	return v.IsZero()
}

// Print returns "{stride=[2,2], eps=1e-05}" without the fields at their zero
// value, "" when none is left.
func (c *Codec) Print(a any) string { return string(c.Text(nil, a)) }

// Text appends to b what Print returns.
func (c *Codec) Text(b []byte, a any) []byte {
	if len(c.fields) == 0 {
		return b
	}
	v, start := reflect.ValueOf(a), len(b)
	for _, f := range c.fields {
		fv := v.Field(f.index)
		if c.isZero(f, fv) {
			continue
		}
		if len(b) == start {
			b = append(b, '{')
		} else {
			b = append(b, ", "...)
		}
		b = append(b, f.name...)
		b = append(b, '=')
		b = append(b, f.print(fv)...)
	}
	if len(b) > start {
		b = append(b, '}')
	}
	return b
}

func (f field) print(value reflect.Value) string {
	switch f.kind {
	case kindBool:
		return strconv.FormatBool(value.Bool())
	case kindInt:
		return strconv.FormatInt(value.Int(), 10)
	case kindFloat:
		return formatFloat(value.Float())
	case kindString:
		return strconv.Quote(value.String())
	case kindFloats:
		l := value.Interface().(Floats)
		parts := make([]string, l.Len())
		for i := range parts {
			parts[i] = formatFloat(l.At(i))
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	return value.Interface().(interface{ String() string }).String()
}

// Parse sets fields from name → literal, the literals as Print writes them.
// Unknown names and malformed literals are errors.
func (c *Codec) Parse(names, literals []string) (any, error) {
	if len(names) == 0 {
		return c.zero, nil
	}
	value := reflect.New(c.typ).Elem()
	seen := make([]bool, len(c.fields))
	for i, name := range names {
		k := -1
		for j, f := range c.fields {
			if f.name == name {
				k = j
			}
		}
		if k < 0 {
			return nil, diag.New(BadAttr, "unknown attribute "+strconv.Quote(name)).WithHint("known attributes: " + c.names())
		}
		if seen[k] {
			return nil, diag.New(BadAttr, "attribute "+strconv.Quote(name)+" is given twice")
		}
		seen[k] = true
		if !c.fields[k].parse(value.Field(c.fields[k].index), literals[i]) {
			return nil, diag.New(BadAttr, "attribute "+name+"="+literals[i]+" is not a "+c.fields[k].typeName())
		}
	}
	return value.Interface(), nil
}

func (c *Codec) names() string {
	parts := make([]string, len(c.fields))
	for i, f := range c.fields {
		parts[i] = f.name
	}
	return strings.Join(parts, ", ")
}

func (f field) typeName() string {
	if f.enum != nil {
		return "one of " + strings.Join(f.enum, ", ")
	}
	return [...]string{"bool", "int", "float", "string", "element type", "list of ints", "list of floats", "number", "dimension", "list of dimensions"}[f.kind]
}

func (f field) parse(value reflect.Value, text string) bool {
	var err error
	ok := true
	switch f.kind {
	case kindBool:
		value.SetBool(text == "true")
		ok = text == "true" || text == "false"
	case kindInt:
		var n int64
		n, err = strconv.ParseInt(text, 10, 64)
		value.SetInt(n)
	case kindFloat:
		var x float64
		x, ok = parseFloat(text)
		value.SetFloat(x)
	case kindString:
		text, err = strconv.Unquote(text)
		value.SetString(text)
		ok = f.enum == nil || contains(f.enum, text)
	case kindDType:
		var d array.DType
		d, ok = array.ParseDType(text)
		value.Set(reflect.ValueOf(d))
	case kindInts:
		var l []int
		l, ok = parseList(text, func(s string) (int, bool) { n, err := strconv.Atoi(s); return n, err == nil })
		value.Set(reflect.ValueOf(IntList(l...)))
	case kindFloats:
		var l []float64
		l, ok = parseList(text, parseFloat)
		value.Set(reflect.ValueOf(FloatList(l...)))
	case kindScalar:
		var x Scalar
		x, ok = ParseScalar(text)
		value.Set(reflect.ValueOf(x))
	case kindDim:
		var d shape.Dim
		d, err = shape.ParseDim(text)
		value.Set(reflect.ValueOf(d))
	case kindDims:
		var d shape.Dims
		d, err = shape.ParseDims(text)
		value.Set(reflect.ValueOf(d))
	}
	return ok && err == nil
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

func parseList[T any](s string, one func(string) (T, bool)) ([]T, bool) {
	s, okl := strings.CutPrefix(s, "[")
	s, okr := strings.CutSuffix(s, "]")
	if !okl || !okr {
		return nil, false
	}
	if strings.TrimSpace(s) == "" {
		return nil, true
	}
	parts := strings.Split(s, ",")
	out := make([]T, len(parts))
	for i, p := range parts {
		x, ok := one(strings.TrimSpace(p))
		if !ok {
			return nil, false
		}
		out[i] = x
	}
	return out, true
}

// Symbols calls yield for every dimension in the attributes.
func (c *Codec) Symbols(a any, yield func(shape.Dim)) {
	v := reflect.ValueOf(a)
	for _, f := range c.fields {
		switch f.kind {
		case kindDim:
			yield(v.Field(f.index).Interface().(shape.Dim))
		case kindDims:
			for _, d := range v.Field(f.index).Interface().(shape.Dims).Slice() {
				yield(d)
			}
		}
	}
}

// Bind returns the attributes with symbols replaced by what env returns; the
// same value when there are none.
func (c *Codec) Bind(a any, env func(symbol string) shape.Dim) any {
	var out reflect.Value
	for _, f := range c.fields {
		if f.kind != kindDim && f.kind != kindDims {
			continue
		}
		if !out.IsValid() {
			out = reflect.New(c.typ).Elem()
			out.Set(reflect.ValueOf(a))
		}
		fv := out.Field(f.index)
		if f.kind == kindDim {
			fv.Set(reflect.ValueOf(fv.Interface().(shape.Dim).Bind(env)))
		} else {
			fv.Set(reflect.ValueOf(fv.Interface().(shape.Dims).Bind(env)))
		}
	}
	if !out.IsValid() {
		return a
	}
	return out.Interface()
}

// HasDims reports whether the attributes struct has fields that can hold symbols.
func (c *Codec) HasDims() bool {
	for _, f := range c.fields {
		if f.kind == kindDim || f.kind == kindDims {
			return true
		}
	}
	return false
}
