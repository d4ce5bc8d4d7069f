package pjrt

import (
	"math"
	"runtime"
	"slices"
	"strconv"
	"unsafe"
)

// NamedValue is an attribute of a plugin or device, or an option of a client. Value is a
// string, int64, []int64, float32 or bool.
type NamedValue struct {
	Name  string
	Value any
}

// The kinds of PJRT_NamedValue.
const (
	kindString = iota
	kindInt64
	kindInt64List
	kindFloat
	kindBool
)

// readNamed copies attributes; those of a kind that this package does not know are left out.
func readNamed(data unsafe.Pointer, n uintptr) []NamedValue {
	var out []NamedValue
	values := list[namedValue](data, n)
	for i := range values {
		v := &values[i]
		nv := NamedValue{Name: text(v.name, v.nameSize)}
		pointer := *(*unsafe.Pointer)(unsafe.Pointer(&v.word))
		switch v.kind {
		case kindString:
			nv.Value = text(pointer, v.n)
		case kindInt64:
			nv.Value = int64(v.word)
		case kindInt64List:
			nv.Value = slices.Clone(list[int64](pointer, v.n))
		case kindFloat:
			nv.Value = math.Float32frombits(uint32(v.word))
		case kindBool:
			nv.Value = uint8(v.word) != 0
		default:
			continue
		}
		out = append(out, nv)
	}
	return out
}

// cNamed is options in C's layout. The memory that they point to is pinned until free.
type cNamed struct {
	values []namedValue
	pin    runtime.Pinner
}

func (c *cNamed) free() { c.pin.Unpin() }

// address returns a pointer to the first value as a number, 0 for none; the array stays
// alive and in place until free.
func address[T any](pin *runtime.Pinner, s []T) uint64 {
	if len(s) == 0 {
		return 0
	}
	pin.Pin(&s[0])
	return uint64(uintptr(unsafe.Pointer(&s[0])))
}

func (c *cNamed) add(v NamedValue) error {
	name := []byte(v.Name)
	out := namedValue{head: head{size: unsafe.Sizeof(namedValue{})}, nameSize: uintptr(len(name)), n: 1}
	out.name = unsafe.Pointer(unsafe.SliceData(name))
	switch x := v.Value.(type) {
	case string:
		out.kind, out.word, out.n = kindString, address(&c.pin, []byte(x)), uintptr(len(x))
	case int64:
		out.kind, out.word = kindInt64, uint64(x)
	case []int64:
		out.kind, out.word, out.n = kindInt64List, address(&c.pin, slices.Clone(x)), uintptr(len(x))
	case float32:
		out.kind, out.word = kindFloat, uint64(math.Float32bits(x))
	case bool:
		out.kind = kindBool
		if x {
			out.word = 1
		}
	default:
		return bad("option "+strconv.Quote(v.Name)+" has a value of another type", "use a string, int64, []int64, float32 or bool")
	}
	c.values = append(c.values, out)
	return nil
}
