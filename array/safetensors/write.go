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
// metadata is sorted by key. Spaces behind the header align the data section to
// 64 bytes. The error is a *diag.Error with CodeWrite for names that repeat, are
// not UTF-8 or are reserved, or what w returned.
func Write(w io.Writer, tensors []Named, meta map[string]string) error {
	header, err := makeHeader(tensors, meta)
	if err != nil {
		return err
	}
	if _, err := w.Write(header); err != nil {
		return err
	}
	for _, t := range tensors {
		if _, err := w.Write(array.Bytes(array.Contiguous(t.Array))); err != nil {
			return err
		}
	}
	return nil
}

func makeHeader(tensors []Named, meta map[string]string) ([]byte, error) {
	b := append(make([]byte, prefixLen, 256+128*len(tensors)), '{')
	if len(meta) > 0 {
		var err error
		if b, err = appendMeta(b, meta); err != nil {
			return nil, err
		}
	}
	seen := map[string]bool{metaKey: true}
	at := int64(0)
	for _, t := range tensors {
		if seen[t.Name] || !utf8.ValidString(t.Name) {
			return nil, diag.New(CodeWrite, "safetensors: name "+quote(t.Name)+" repeats, is reserved or is not UTF-8, expected a name of its own")
		}
		seen[t.Name] = true
		if t.Array == nil || t.Array.DType() == array.Invalid || t.Array.Rank() > maxRank {
			return nil, diag.New(CodeWrite, "safetensors: tensor "+quote(t.Name)+" has no data, no element type or more than "+strconv.Itoa(maxRank)+" dimensions, expected a tensor that the format holds")
		}
		if b[len(b)-1] != '{' {
			b = append(b, ',')
		}
		b = appendEntry(b, t, at)
		at += int64(t.Array.Len() * t.Array.DType().Size())
	}
	b = append(b, '}')
	for len(b)%array.Align != 0 {
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

func appendEntry(b []byte, t Named, at int64) []byte {
	b = appendString(b, t.Name)
	b = append(b, `:{"dtype":"`...)
	for _, d := range dtypeNames {
		if d.dtype == t.Array.DType() {
			b = append(b, d.name...)
		}
	}
	b = append(b, `","shape":[`...)
	for i, n := range t.Array.Shape() {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(n), 10)
	}
	b = append(b, `],"data_offsets":[`...)
	b = strconv.AppendInt(b, at, 10)
	b = append(b, ',')
	b = strconv.AppendInt(b, at+int64(t.Array.Len()*t.Array.DType().Size()), 10)
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
		h = hashEntry(h, t.Name, t.Array.DType(), t.Array.Shape())
	}
	return h
}

// SchemaHash returns the hash of the file's tensors; see the function SchemaHash.
func (f *File) SchemaHash() uint64 {
	h, buf := uint64(fnvStart), make([]int, 0, maxRank)
	for _, i := range f.byName {
		e := f.entries.at(int(i))
		h = hashEntry(h, e.name, e.dtype, f.shape(e, buf))
	}
	return h
}

func hashEntry(h uint64, name string, d array.DType, shape []int) uint64 {
	h = fnv(fnv(h, name), d.String())
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
