package gguf

import (
	"encoding/binary"
	"math"
	"strconv"

	"github.com/gofx-dev/gofx/diag"
)

// reader reads the header. It stops at the first error: after that it returns 0 for
// everything.
type reader struct {
	b   []byte
	at  int
	err *diag.Error
}

// fault returns the error for a mistake at a byte of the file.
func fault(at int, msg string) *diag.Error {
	return diag.New(CodeSyntax, "gguf: byte "+strconv.Itoa(at)+": "+msg)
}

func (r *reader) fail(at int, msg string) {
	if r.err == nil {
		r.err = fault(at, msg)
	}
}

// take returns the next n bytes, nil when there are not as many.
func (r *reader) take(n int) []byte {
	if r.err != nil {
		return nil
	}
	if n < 0 || n > len(r.b)-r.at {
		r.fail(r.at, "file ends after "+strconv.Itoa(len(r.b))+" bytes, expected more")
		return nil
	}
	r.at += n
	return r.b[r.at-n : r.at : r.at]
}

func (r *reader) u32() uint32 {
	if b := r.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (r *reader) u64() uint64 {
	if b := r.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// count reads how many things follow, each of at least as many bytes as said: more than
// the file has room for are refused before anything is made for them.
func (r *reader) count(least int) int {
	at := r.at
	n := r.u64()
	if n > uint64(len(r.b)-r.at)/uint64(least) {
		r.fail(at, strconv.FormatUint(n, 10)+" elements do not fit in the "+strconv.Itoa(len(r.b)-r.at)+" bytes that follow, expected fewer")
		return 0
	}
	return int(n)
}

func (r *reader) str() string { return string(r.take(r.count(1))) }

// pair is a key of the metadata and where its value is.
type pair struct {
	key  string
	kind uint32
	at   int
}

// The types of values of the metadata.
const (
	kindBool   = 7
	kindString = 8
	kindArray  = 9
)

// widths are the bytes of values by their types; strings and arrays have none.
var widths = [...]int{1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8}

const maxDepth = 4 // of arrays of arrays

// skip checks a value and moves past it.
func (r *reader) skip(kind uint32, depth int) {
	at := r.at
	switch {
	case kind >= uint32(len(widths)):
		r.fail(at, "value is of type "+strconv.FormatUint(uint64(kind), 10)+", expected 0 to 12")
	case kind == kindString:
		r.take(r.count(1))
	case kind != kindArray:
		r.take(widths[kind])
	case depth == maxDepth:
		r.fail(at, "arrays are nested more than "+strconv.Itoa(maxDepth)+" deep, expected less")
	default:
		of := r.u32()
		if of < uint32(len(widths)) && widths[of] > 0 {
			r.take(r.count(widths[of]) * widths[of])
			return
		}
		for range r.count(8) {
			if r.skip(of, depth+1); r.err != nil {
				return
			}
		}
	}
}

// Keys returns the keys of the metadata in the order of the file.
func (f *File) Keys() []string {
	keys := make([]string, len(f.pairs))
	for i, p := range f.pairs {
		keys[i] = p.key
	}
	return keys
}

// Value returns a value of the metadata, of the Go type that the file says: uint8, int8,
// uint16, int16, uint32, int32, float32, bool, string, uint64, int64, float64, or a slice
// of one of these, []any for arrays of arrays. ok is false when there is no such key.
func (f *File) Value(key string) (v any, ok bool) {
	i, ok := f.keys[key]
	if !ok {
		return nil, false
	}
	return f.value(f.pairs[i]), true
}

func (f *File) value(p pair) any {
	r := &reader{b: f.all, at: p.at}
	return r.value(p.kind)
}

// value reads a value that skip has checked.
func (r *reader) value(kind uint32) any {
	switch kind {
	case kindString:
		return r.str()
	case kindArray:
		of := r.u32()
		return list(r, of, int(r.u64()))
	}
	return scalar(r.take(widths[kind]), kind)
}

func scalar(b []byte, kind uint32) any {
	le := binary.LittleEndian
	switch kind {
	case 0:
		return b[0]
	case 1:
		return int8(b[0])
	case 2:
		return le.Uint16(b)
	case 3:
		return int16(le.Uint16(b))
	case 4:
		return le.Uint32(b)
	case 5:
		return int32(le.Uint32(b))
	case 6:
		return math.Float32frombits(le.Uint32(b))
	case kindBool:
		return b[0] != 0
	case 10:
		return le.Uint64(b)
	case 11:
		return int64(le.Uint64(b))
	}
	return math.Float64frombits(le.Uint64(b))
}

func list(r *reader, kind uint32, n int) any {
	switch kind {
	case 0:
		return listOf[uint8](r, kind, n)
	case 1:
		return listOf[int8](r, kind, n)
	case 2:
		return listOf[uint16](r, kind, n)
	case 3:
		return listOf[int16](r, kind, n)
	case 4:
		return listOf[uint32](r, kind, n)
	case 5:
		return listOf[int32](r, kind, n)
	case 6:
		return listOf[float32](r, kind, n)
	case kindBool:
		return listOf[bool](r, kind, n)
	case kindString:
		return listOf[string](r, kind, n)
	case 10:
		return listOf[uint64](r, kind, n)
	case 11:
		return listOf[int64](r, kind, n)
	case 12:
		return listOf[float64](r, kind, n)
	}
	return listOf[any](r, kind, n)
}

func listOf[T any](r *reader, kind uint32, n int) []T {
	out := make([]T, n)
	for i := range out {
		out[i] = r.value(kind).(T)
	}
	return out
}

// quote quotes hostile text for messages, shortened.
func quote(s string) string {
	if len(s) > 64 {
		s = s[:64] + "..."
	}
	return diag.Quote(s)
}
