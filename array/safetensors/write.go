package safetensors

import (
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
)

// Named is a tensor and its name in the file.
type Named struct {
	Name  string
	Array *array.Array
}

// Write writes tensors in the caller's order. Equal arguments give equal bytes:
// metadata is sorted by key. Spaces after the header align the data section to
// 64 bytes. The error is a *diag.Error with CodeWrite for names that repeat, are
// not UTF-8 or are reserved, or w's error.
func Write(w io.Writer, tensors []Named, meta map[string]string) error {
	return writeAll(w, tensors, meta, array.Align)
}

// WriteReference is Write with the layout of the reference implementation
// (safetensors.torch.save_file and the like), byte for byte: tensors by alignment, the
// widest element types first, then by name, and spaces after the header so that the
// data section begins at a multiple of 8 bytes. Metadata is sorted by key, where the
// reference leaves the order of several keys to chance. So the contents of a file in
// that layout are written as the same file.
func WriteReference(w io.Writer, tensors []Named, meta map[string]string) error {
	sorted := slices.Clone(tensors)
	slices.SortStableFunc(sorted, func(a, b Named) int {
		if x, y := a.format(), b.format(); x != y {
			return int(y) - int(x)
		}
		return strings.Compare(a.Name, b.Name)
	})
	return writeAll(w, sorted, meta, prefixLen)
}

// writeAll writes one tensor at a time, so that no more than one is copied, where it has
// gaps.
func writeAll(w io.Writer, tensors []Named, meta map[string]string, align int) error {
	header, err := makeHeader(tensors, meta, align)
	if err != nil {
		return err
	}
	if _, err := w.Write(header); err != nil {
		return err
	}
	for _, t := range tensors {
		if _, err := w.Write(t.data()); err != nil {
			return err
		}
	}
	return nil
}

// format returns the place in formats of the tensor's element type.
func (t *Named) format() uint8 {
	if t.Array == nil {
		return unknown
	}
	return formatOf(t.Array.DType())
}

// data returns the bytes of a tensor as files have them.
func (t *Named) data() []byte {
	b := array.Bytes(array.Contiguous(t.Array))
	if f := t.format(); f == unknown || !packed(f) {
		return b
	}
	dst := make([]byte, t.size())
	array.Pack(t.Array.DType(), dst, b)
	return dst
}

// size returns the bytes of a tensor in a file.
func (t *Named) size() int64 { return int64(array.PackedLen(t.Array.DType(), t.Array.Len())) }

func makeHeader(tensors []Named, meta map[string]string, align int) ([]byte, error) {
	b := append(make([]byte, prefixLen, 256+128*len(tensors)), '{')
	if len(meta) > 0 {
		var err error
		if b, err = appendMeta(b, meta); err != nil {
			return nil, err
		}
	}
	seen := map[string]bool{metaKey: true}
	at := int64(0)
	for i := range tensors {
		t := &tensors[i]
		if seen[t.Name] || !utf8.ValidString(t.Name) {
			return nil, diag.New(CodeWrite, "safetensors: name "+quote(t.Name)+" repeats, is reserved or is not UTF-8, expected a name of its own")
		}
		seen[t.Name] = true
		if t.format() == unknown || t.Array.Rank() > maxRank || !fits(t.format(), int64(t.Array.Len()), t.size()) {
			return nil, diag.New(CodeWrite, "safetensors: tensor "+quote(t.Name)+" has no data, no element type of the format, no whole number of bytes or more than "+strconv.Itoa(maxRank)+" dimensions, expected a tensor that the format holds")
		}
		if b[len(b)-1] != '{' {
			b = append(b, ',')
		}
		b = appendEntry(b, t, at)
		at += t.size()
	}
	b = append(b, '}')
	for len(b)%align != 0 {
		b = append(b, ' ')
	}
	if len(b)-prefixLen > MaxHeader {
		return nil, diag.New(CodeWrite, "safetensors: header has "+strconv.Itoa(len(b)-prefixLen)+" bytes, expected at most "+strconv.Itoa(MaxHeader))
	}
	putLength(b, uint64(len(b)-prefixLen))
	return b, nil
}

func appendMeta(b []byte, meta map[string]string) ([]byte, error) {
	keys := make([]string, 0, len(meta))
	for k := range meta {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	b = append(b, `"`+metaKey+`":{`...)
	for i, k := range keys {
		if i > 0 {
			b = append(b, ',')
		}
		if !utf8.ValidString(k) || !utf8.ValidString(meta[k]) {
			return nil, diag.New(CodeWrite, "safetensors: metadata "+quote(k)+" is not UTF-8, expected UTF-8")
		}
		b = append(appendString(b, k), ':')
		b = appendString(b, meta[k])
	}
	return append(b, '}'), nil
}

func appendEntry(b []byte, t *Named, at int64) []byte {
	b = appendString(b, t.Name)
	b = append(b, `:{"dtype":"`+formats[t.format()].name+`","shape":[`...)
	for i, n := range t.Array.Shape() {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(n), 10)
	}
	b = append(b, `],"data_offsets":[`...)
	b = strconv.AppendInt(b, at, 10)
	b = append(b, ',')
	b = strconv.AppendInt(b, at+t.size(), 10)
	return append(b, "]}"...)
}

// SchemaHash returns the FNV-1a hash (64 bits; Fowler, Noll, Vo) of names,
// element types and shapes, sorted by name: equal for files whose tensors can
// stand for each other, whatever their order and values.
func SchemaHash(tensors []Named) uint64 {
	sorted := slices.Clone(tensors)
	slices.SortStableFunc(sorted, func(a, b Named) int { return strings.Compare(a.Name, b.Name) })
	h := uint64(fnvStart)
	for _, t := range sorted {
		h = hashEntry(h, t.Name, t.Array.DType().String(), t.Array.Shape())
	}
	return h
}

// SchemaHash returns the hash of the file's tensors; see the function SchemaHash.
func (f *File) SchemaHash() uint64 {
	h, buf := uint64(fnvStart), make([]int, 0, maxRank)
	for _, i := range f.byName {
		e := f.entries.at(int(i))
		name := e.dtype().String()
		if e.dtype() == array.Invalid {
			name = f.format(e)
		}
		h = hashEntry(h, e.name, name, f.shape(e, buf))
	}
	return h
}

func hashEntry(h uint64, name, dtype string, shape []int) uint64 {
	h = fnv(fnv(h, name), dtype)
	for _, n := range shape {
		h = fnv(h, strconv.Itoa(n))
	}
	return fnv(h, "")
}

const (
	fnvStart = 14695981039346656037
	fnvPrime = 1099511628211
)

// fnv goes on with a hash over s and a zero byte, which ends it.
func fnv(h uint64, s string) uint64 {
	for i := 0; i < len(s); i++ {
		h = (h ^ uint64(s[i])) * fnvPrime
	}
	return h * fnvPrime
}

// putLength writes the length of the header, little-endian, as the format begins.
// It and getLength stand for encoding/binary, which needs package reflect.
func putLength(b []byte, n uint64) {
	for i := range prefixLen {
		b[i] = byte(n >> (8 * i))
	}
}

func getLength(b []byte) (n uint64) {
	for i := range prefixLen {
		n |= uint64(b[i]) << (8 * i)
	}
	return n
}
