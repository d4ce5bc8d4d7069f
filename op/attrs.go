package op

import (
	"encoding/binary"
	"math"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
)

// Ints is an immutable list of ints for attributes. It is comparable; the zero
// value is the empty list.
type Ints struct{ enc string }

// IntList returns the list of v.
func IntList(v ...int) Ints {
	if len(v) == 0 {
		return Ints{}
	}
	b := make([]byte, 0, 8*len(v))
	for _, n := range v {
		b = binary.LittleEndian.AppendUint64(b, uint64(n))
	}
	return Ints{string(b)}
}

// Len returns the number of elements.
func (l Ints) Len() int { return len(l.enc) / 8 }

// At returns element i.
func (l Ints) At(i int) int {
	s := l.enc[8*i : 8*i+8]
	var n uint64
	for k := 7; k >= 0; k-- {
		n = n<<8 | uint64(s[k])
	}
	return int(n)
}

// Slice returns a copy.
func (l Ints) Slice() []int {
	out := make([]int, l.Len())
	for i := range out {
		out[i] = l.At(i)
	}
	return out
}

// Or returns the list expanded to n elements: def everywhere when it is empty,
// its single element everywhere when it has one, itself when it has n.
func (l Ints) Or(n, def int) ([]int, error) {
	out := make([]int, n)
	switch l.Len() {
	case 0:
		for i := range out {
			out[i] = def
		}
	case 1:
		for i := range out {
			out[i] = l.At(0)
		}
	case n:
		copy(out, l.Slice())
	default:
		return nil, diag.New(BadAttr, "list "+l.String()+" has "+strconv.Itoa(l.Len())+" elements, expected 1 or "+strconv.Itoa(n))
	}
	return out, nil
}

// String returns "[1,2]".
func (l Ints) String() string {
	var b strings.Builder
	b.WriteByte('[')
	for i := range l.Len() {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(l.At(i)))
	}
	b.WriteByte(']')
	return b.String()
}

// Floats is an immutable list of float64 for attributes, comparable by bits.
type Floats struct{ ints Ints }

// FloatList returns the list of v.
func FloatList(v ...float64) Floats {
	n := make([]int, len(v))
	for i, f := range v {
		n[i] = int(math.Float64bits(f))
	}
	return Floats{IntList(n...)}
}

// Len returns the number of elements.
func (l Floats) Len() int { return l.ints.Len() }

// At returns element i.
func (l Floats) At(i int) float64 { return math.Float64frombits(uint64(l.ints.At(i))) }

// Slice returns a copy.
func (l Floats) Slice() []float64 {
	out := make([]float64, l.Len())
	for i := range out {
		out[i] = l.At(i)
	}
	return out
}

// Scalar is an immediate number in attributes: absent, bool, int or float. It is
// comparable by bits; the zero value is absent.
type Scalar struct {
	kind uint8
	bits uint64
}

const (
	scalarNone uint8 = iota
	scalarBool
	scalarInt
	scalarFloat
)

// Float returns the scalar v.
func Float(v float64) Scalar { return Scalar{scalarFloat, math.Float64bits(v)} }

// Int returns the scalar v.
func Int(v int64) Scalar { return Scalar{scalarInt, uint64(v)} }

// BoolScalar returns the scalar v.
func BoolScalar(v bool) Scalar {
	if v {
		return Scalar{scalarBool, 1}
	}
	return Scalar{scalarBool, 0}
}

// ScalarOf converts a Go number or bool; any other type is an error.
func ScalarOf(v any) (Scalar, error) {
	switch v := v.(type) {
	case Scalar:
		return v, nil
	case bool:
		return BoolScalar(v), nil
	case int:
		return Int(int64(v)), nil
	case int8:
		return Int(int64(v)), nil
	case int16:
		return Int(int64(v)), nil
	case int32:
		return Int(int64(v)), nil
	case int64:
		return Int(v), nil
	case uint8:
		return Int(int64(v)), nil
	case uint16:
		return Int(int64(v)), nil
	case uint32:
		return Int(int64(v)), nil
	case float32:
		return Float(float64(v)), nil
	case float64:
		return Float(v), nil
	}
	return Scalar{}, diag.New(BadAttr, "the scalar is not a number or bool")
}

// Present reports whether there is a number.
func (s Scalar) Present() bool { return s.kind != scalarNone }

// IsFloat reports whether the number is a float.
func (s Scalar) IsFloat() bool { return s.kind == scalarFloat }

// IsInt reports whether the number is an int.
func (s Scalar) IsInt() bool { return s.kind == scalarInt }

// Float64 returns the number as a float.
func (s Scalar) Float64() float64 {
	if s.kind == scalarFloat {
		return math.Float64frombits(s.bits)
	}
	return float64(int64(s.bits))
}

// Int64 returns the number as an int, truncated.
func (s Scalar) Int64() int64 {
	if s.kind == scalarFloat {
		return int64(math.Float64frombits(s.bits))
	}
	return int64(s.bits)
}

// Promote returns the element type of combining a tensor of type d with the
// scalar: d, unless the scalar is of a higher category (PyTorch's rule).
func (s Scalar) Promote(d array.DType) array.DType {
	switch {
	case s.kind == scalarFloat && d != array.Invalid && !d.IsFloat():
		return array.F32
	case s.kind == scalarInt && d == array.Bool:
		return array.I64
	}
	return d
}

// String returns the text form: "2", "0.5", "true", "" when absent; floats
// always show a point, an exponent or a name.
func (s Scalar) String() string {
	switch s.kind {
	case scalarBool:
		return strconv.FormatBool(s.bits != 0)
	case scalarInt:
		return strconv.FormatInt(int64(s.bits), 10)
	case scalarFloat:
		return formatFloat(s.Float64())
	}
	return ""
}

// formatFloat prints a float so that it reads back with the same bits and is
// never mistaken for an int.
func formatFloat(f float64) string {
	switch {
	case math.IsNaN(f):
		if b := math.Float64bits(f); b != math.Float64bits(math.NaN()) {
			return "nan(0x" + strconv.FormatUint(b, 16) + ")"
		}
		return "nan"
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	}
	s := strconv.FormatFloat(f, 'g', -1, 64)
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	return s
}

// parseFloat is the inverse of formatFloat.
func parseFloat(s string) (float64, bool) {
	switch s {
	case "nan":
		return math.NaN(), true
	case "inf":
		return math.Inf(1), true
	case "-inf":
		return math.Inf(-1), true
	}
	if h, ok := strings.CutPrefix(s, "nan(0x"); ok {
		b, err := strconv.ParseUint(strings.TrimSuffix(h, ")"), 16, 64)
		f := math.Float64frombits(b)
		return f, err == nil && math.IsNaN(f)
	}
	f, err := strconv.ParseFloat(s, 64)
	return f, err == nil
}

// ParseScalar is the inverse of Scalar.String.
func ParseScalar(s string) (Scalar, bool) {
	switch s {
	case "true":
		return BoolScalar(true), true
	case "false":
		return BoolScalar(false), true
	}
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return Int(n), true
	}
	f, ok := parseFloat(s)
	return Float(f), ok
}
