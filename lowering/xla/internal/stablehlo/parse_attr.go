package stablehlo

import (
	"encoding/hex"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/array"
)

// attrs reads named attributes up to a closing brace.
func (r *parser) attrs() (list []Attr) {
	for !r.accept("}") {
		if len(list) > 0 {
			r.expect(",")
		}
		name := r.next().text
		r.expect("=")
		list = append(list, Attr{name, r.attribute()})
	}
	slices.SortFunc(list, func(x, y Attr) int { return strings.Compare(x.Name, y.Name) })
	return list
}

func (r *parser) attribute() Attribute {
	t := r.peek()
	switch {
	case t.kind == 'n':
		n := r.integer()
		r.expect(":")
		r.expect("i64")
		return Int(n)
	case r.accept("true"):
		return Bool(true)
	case r.accept("false"):
		return Bool(false)
	case t.kind == 's':
		return Str(r.next().text)
	case r.accept("array"):
		return r.list1()
	case r.accept("dense"):
		return r.dense()
	case r.accept("#stablehlo"):
		return r.enum()
	case r.accept("["):
		list := Enums{}
		for !r.accept("]") {
			if len(list) > 0 {
				r.expect(",")
			}
			r.expect("#stablehlo")
			list = append(list, r.enum())
		}
		return list
	case r.accept("#stablehlo.conv"):
		return r.conv()
	case r.accept("#stablehlo.dot"):
		f := r.fields()
		return Dot{f["lhs_batching_dimensions"], f["rhs_batching_dimensions"], f["lhs_contracting_dimensions"], f["rhs_contracting_dimensions"]}
	case r.accept("#stablehlo.gather"):
		f := r.fields()
		return Gather{f["offset_dims"], f["collapsed_slice_dims"], f["start_index_map"], f.one("index_vector_dim")}
	case r.accept("#stablehlo.scatter"):
		f := r.fields()
		return Scatter{f["update_window_dims"], f["inserted_window_dims"], f["scatter_dims_to_operand_dims"], f.one("index_vector_dim")}
	}
	r.fail("found %q, expected an attribute", t.text)
	return nil
}

// enum reads <comparison_direction EQ>.
func (r *parser) enum() Enum {
	r.expect("<")
	e := Enum{r.next().text, r.next().text}
	r.expect(">")
	return e
}

func (r *parser) integer() int {
	t := r.next()
	n, err := strconv.Atoi(t.text)
	if t.kind != 'n' || err != nil {
		r.fail("found %q, expected an integer", t.text)
	}
	return n
}

// list1 reads the rest of array<i64: 1, 2> or array<i1: true>.
func (r *parser) list1() Attribute {
	r.expect("<")
	kind := r.next().text
	if kind != "i64" && kind != "i1" {
		r.fail("array of %q, expected i64 or i1", kind)
	}
	ints, bools := Ints{}, Bools{}
	for sep := ":"; !r.accept(">"); sep = "," {
		r.expect(sep)
		if kind == "i64" {
			ints = append(ints, r.integer())
		} else {
			bools = append(bools, r.truth())
		}
	}
	if kind == "i64" {
		return ints
	}
	return bools
}

func (r *parser) truth() bool {
	if r.accept("true") {
		return true
	}
	r.expect("false")
	return false
}

type fieldMap map[string][]int

func (f fieldMap) one(name string) int {
	if l := f[name]; len(l) == 1 {
		return l[0]
	}
	return 0
}

// fields reads <name = [1, 2], name = 3>.
func (r *parser) fields() fieldMap {
	f := fieldMap{}
	r.expect("<")
	for !r.accept(">") {
		if len(f) > 0 {
			r.expect(",")
		}
		name := r.next().text
		r.expect("=")
		if !r.accept("[") {
			f[name] = []int{r.integer()}
			continue
		}
		list := []int{}
		for !r.accept("]") {
			if len(list) > 0 {
				r.expect(",")
			}
			list = append(list, r.integer())
		}
		f[name] = list
	}
	return f
}

// conv reads <[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]>.
func (r *parser) conv() Conv {
	r.expect("<")
	side := func(first, second string) []int {
		r.expect("[")
		var words []string
		for !r.accept("]") {
			if len(words) > 0 {
				r.expect(",")
			}
			words = append(words, r.next().text)
		}
		dims := make([]int, len(words))
		order := append([]string{first, second}, make([]string, max(len(words)-2, 0))...)
		for i := 2; i < len(order); i++ {
			order[i] = strconv.Itoa(i - 2)
		}
		for i := range dims {
			if dims[i] = slices.Index(words, order[i]); dims[i] < 0 {
				r.fail("dimension %s is missing", order[i])
			}
		}
		return dims
	}
	c := Conv{Input: side("b", "f")}
	r.expect("x")
	c.Kernel = side("o", "i")
	r.expect("->")
	c.Output = side("b", "f")
	r.expect(">")
	return c
}

// dense reads <elements> : type; the type comes last, so elements are kept as text first.
func (r *parser) dense() Dense {
	r.expect("<")
	var words []token
	for depth := 0; ; {
		t := r.next()
		switch {
		case t.kind == 0:
			r.fail("elements do not end")
		case t.kind == 'p' && t.text == "[":
			depth++
		case t.kind == 'p' && t.text == "]":
			depth--
		case t.kind == 'p' && t.text == ">":
			r.expect(":")
			return r.elements(words, r.typ())
		case t.kind != 'p':
			words = append(words, t)
		}
	}
}

func (r *parser) elements(words []token, t Type) Dense {
	d := Dense{Type: t}
	if len(words) == 1 && words[0].kind == 's' {
		raw, err := hex.DecodeString(strings.TrimPrefix(words[0].text, "0x"))
		size := t.Elem.Size()
		if err != nil || len(raw) != size*t.Len() {
			r.fail("%d bytes for %s", len(raw), t)
		}
		for i := 0; i < len(raw); i += size {
			var bits uint64
			for k := range size {
				bits |= uint64(raw[i+k]) << (8 * k)
			}
			d.Bits = append(d.Bits, Extend(t.Elem, bits))
		}
		return d
	}
	for _, w := range words {
		d.Bits = append(d.Bits, r.element(w.text, t.Elem))
	}
	if n := len(d.Bits); n != 1 && n != t.Len() {
		r.fail("%d elements for %s", n, t)
	}
	return d
}

// element reads one number: a hexadecimal one has the bits of a float.
func (r *parser) element(s string, d array.DType) uint64 {
	var bits uint64
	var err error
	switch {
	case d == array.Bool:
		var b bool
		if b, err = strconv.ParseBool(s); b {
			bits = 1
		}
	case d.IsFloat() && strings.HasPrefix(s, "0x"):
		bits, err = strconv.ParseUint(s[2:], 16, 8*d.Size())
	case d.IsFloat():
		var f float64
		size := 64
		if d != array.F64 {
			size = 32
		}
		f, err = strconv.ParseFloat(s, size)
		bits = FloatBits(d, f)
	case d.IsSigned():
		var n int64
		n, err = strconv.ParseInt(s, 10, 8*d.Size())
		if bits = uint64(n); n == 0 && strings.HasPrefix(s, "-") {
			err = strconv.ErrSyntax // MLIR has no such integer
		}
	default:
		bits, err = strconv.ParseUint(s, 10, 8*d.Size())
	}
	if err != nil {
		r.fail("%q is no %s", s, d)
	}
	return bits
}

// FloatBits rounds to a float type once.
func FloatBits(d array.DType, f float64) uint64 {
	switch d {
	case array.F64:
		return math.Float64bits(f)
	case array.F32:
		return uint64(math.Float32bits(float32(f)))
	case array.F16:
		return uint64(array.HalfFromFloat64(f))
	}
	return uint64(array.BFloatFromFloat64(f))
}
