package gguf

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
)

// writer writes files; the rooms of the format are written here once more, from its
// description, so that a mistake of the reader is none of the writer's too.
type writer struct{ bytes.Buffer }

func (w *writer) put(values ...any) *writer {
	for _, v := range values {
		if s, ok := v.(string); ok {
			w.put(uint64(len(s)))
			w.WriteString(s)
		} else if err := binary.Write(&w.Buffer, binary.LittleEndian, v); err != nil {
			panic(err)
		}
	}
	return w
}

// entry is a tensor of a file to be written: dims as in the file, the innermost first.
type entry struct {
	name string
	dims []uint64
	kind uint32
	data []byte
}

// file writes a file with pairs, which are written already, and tensors.
func file(version uint32, pairs int, meta []byte, align int, tensors ...entry) []byte {
	w := &writer{}
	w.WriteString("GGUF")
	w.put(version, uint64(len(tensors)), uint64(pairs))
	w.Write(meta)
	at := 0
	for _, t := range tensors {
		w.put(t.name, uint32(len(t.dims)), t.dims, t.kind, uint64(at))
		at += (len(t.data) + align - 1) / align * align
	}
	pad := func() {
		for w.Len()%align != 0 {
			w.WriteByte(0)
		}
	}
	pad()
	for i, t := range tensors {
		w.Write(t.data)
		if i < len(tensors)-1 {
			pad()
		}
	}
	return w.Bytes()
}

func le(v any) []byte { return new(writer).put(v).Bytes() }

// Weights of four bits as they are say the same as their floats.
func TestInt4(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	e := entry{name: "w", dims: []uint64{64, 3}, kind: q4_0}
	for range 6 {
		b, _ := encoders[q4_0](r)
		e.data = append(e.data, b...)
	}
	v := entry{"v", []uint64{32}, q4_0, e.data[:18]}
	f, err := Parse(file(2, 0, nil, 32, e, v, entry{"f", []uint64{1, 1}, 0, make([]byte, 4)}))
	require.NoError(t, err)
	x, err := f.Get("w")
	require.NoError(t, err)
	w, s, ok, err := f.Int4("w")
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, []int{3, 32}, w.Shape())
	require.Equal(t, []int{3, 2}, s.Shape())
	for row := range 3 {
		for c := range 64 {
			q := array.At[uint8](w, row, c/2) >> (4 * (c % 2)) & 15
			require.Equal(t, array.At[float32](x, row, c), float32(int(q)-8)*array.At[float32](s, row, c/32))
		}
	}
	for _, name := range []string{"v", "f"} {
		_, _, ok, err = f.Int4(name)
		require.NoError(t, err)
		require.False(t, ok)
	}
	_, _, _, err = f.Int4("none")
	require.ErrorIs(t, err, CodeName)
}

func TestPlainTypes(t *testing.T) {
	list := []entry{
		{"f32", []uint64{2}, 0, le([]float32{1, -2})},
		{"f16", []uint64{1, 2}, 1, le([]uint16{0x3c00, 0xc000})},
		{"bf16", []uint64{2, 1}, 30, le([]uint16{0x3f80, 0xc000})},
		{"f64", []uint64{2, 1, 1}, 28, le([]float64{1, -2})},
		{"i8", []uint64{2}, 24, le([]int8{1, -2})},
		{"i16", []uint64{2}, 25, le([]int16{1, -2})},
		{"i32", []uint64{2}, 26, le([]int32{1, -2})},
		{"i64", []uint64{2}, 27, le([]int64{1, -2})},
		{"empty", []uint64{0, 7}, 0, nil},
		{"scalar", nil, 0, le(float32(3))},
	}
	path := filepath.Join(t.TempDir(), "m.gguf")
	require.NoError(t, os.WriteFile(path, file(3, 0, nil, 32, list...), 0o600))
	f, err := Open(path)
	require.NoError(t, err)
	require.Equal(t, 3, f.Version())
	for i, e := range list {
		require.Equal(t, e.name, f.Names()[i])
		a, err := f.Get(e.name)
		require.NoError(t, err, e.name)
		d, shape, ok := f.Type(e.name)
		require.True(t, ok)
		require.Equal(t, d, a.DType())
		require.Equal(t, strings.ToUpper(d.String()), f.Format(e.name)[:len(d.String())])
		require.Len(t, shape, len(e.dims))
		if a.Len() == 2 {
			require.Equal(t, 1.0, array.Float64At(a, 0), e.name)
			require.Equal(t, -2.0, array.Float64At(a, 1), e.name)
		}
		if len(e.dims) == 2 {
			require.Equal(t, []int{int(e.dims[1]), int(e.dims[0])}, shape)
		}
	}
	_, err = Open(path + "x")
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorIs(t, err, CodeRead)
	_, err = f.Get("none")
	require.ErrorIs(t, err, CodeName)
	require.Empty(t, f.Format("none"))
	defer array.SetMaxBytes(array.SetMaxBytes(4))
	_, err = f.Get("f32")
	require.ErrorIs(t, err, array.CodeTooLarge)
}

// values are the metadata of one file: the bytes of each type and the Go value.
var values = []struct {
	kind uint32
	b    []byte
	want any
}{
	{0, le(uint8(200)), uint8(200)}, {1, le(int8(-3)), int8(-3)}, {2, le(uint16(60000)), uint16(60000)}, {3, le(int16(-3)), int16(-3)},
	{4, le(uint32(4e9)), uint32(4e9)}, {5, le(int32(-3)), int32(-3)}, {6, le(float32(0.5)), float32(0.5)}, {7, []byte{1}, true}, {7, []byte{0}, false},
	{8, le("text"), "text"}, {10, le(uint64(1 << 63)), uint64(1 << 63)}, {11, le(int64(-3)), int64(-3)}, {12, le(math.Pi), math.Pi},
	{9, new(writer).put(uint32(8), uint64(2), "a", "").Bytes(), []string{"a", ""}},
	{9, new(writer).put(uint32(5), uint64(2), int32(1), int32(-1)).Bytes(), []int32{1, -1}},
	{9, new(writer).put(uint32(0), uint64(2), []byte{1, 2}).Bytes(), []uint8{1, 2}},
	{9, new(writer).put(uint32(1), uint64(1), []byte{255}).Bytes(), []int8{-1}},
	{9, new(writer).put(uint32(2), uint64(1), []byte{1, 2}).Bytes(), []uint16{513}},
	{9, new(writer).put(uint32(3), uint64(1), []byte{255, 255}).Bytes(), []int16{-1}},
	{9, new(writer).put(uint32(4), uint64(1), uint32(7)).Bytes(), []uint32{7}},
	{9, new(writer).put(uint32(6), uint64(1), float32(2)).Bytes(), []float32{2}},
	{9, new(writer).put(uint32(7), uint64(2), []byte{0, 9}).Bytes(), []bool{false, true}},
	{9, new(writer).put(uint32(10), uint64(1), uint64(2)).Bytes(), []uint64{2}},
	{9, new(writer).put(uint32(11), uint64(1), int64(-2)).Bytes(), []int64{-2}},
	{9, new(writer).put(uint32(12), uint64(1), -2.0).Bytes(), []float64{-2}},
	{9, new(writer).put(uint32(8), uint64(0)).Bytes(), []string{}},
	{9, new(writer).put(uint32(9), uint64(2), uint32(0), uint64(1), byte(5), uint32(8), uint64(1), "x").Bytes(), []any{[]uint8{5}, []string{"x"}}},
}

func TestMetadata(t *testing.T) {
	w := &writer{}
	for i, v := range values {
		w.put("key."+string(rune('a'+i)), v.kind)
		w.Write(v.b)
	}
	f, err := Parse(file(3, len(values), w.Bytes(), 32))
	require.NoError(t, err)
	require.Len(t, f.Keys(), len(values))
	for i, v := range values {
		got, ok := f.Value(f.Keys()[i])
		require.True(t, ok)
		require.Equal(t, v.want, got)
	}
	_, ok := f.Value("none")
	require.False(t, ok)
}

func TestAlignment(t *testing.T) {
	meta := new(writer).put(alignmentKey, uint32(4), uint32(64)).Bytes()
	f, err := Parse(file(3, 1, meta, 64, entry{"a", []uint64{1}, 0, le(float32(1))}, entry{"b", []uint64{1}, 0, le(float32(2))}))
	require.NoError(t, err)
	b, err := f.Get("b")
	require.NoError(t, err)
	require.Equal(t, float32(2), array.At[float32](b, 0))
}

func head(version uint32, tensors, pairs uint64) *writer {
	w := &writer{}
	w.WriteString(magic)
	return w.put(version, tensors, pairs)
}

// faulty are files with a fault each.
func faulty() map[string]struct {
	b   []byte
	msg string
} {
	type m = map[string]struct {
		b   []byte
		msg string
	}
	one := func(rank uint32, dims []uint64, kind uint32, offset uint64, data int) []byte {
		w := head(3, 1, 0).put("w", rank, dims, kind, offset)
		for w.Len()%32 != 0 {
			w.WriteByte(0)
		}
		w.Write(make([]byte, data))
		return w.Bytes()
	}
	nested := head(3, 0, 1).put("k", uint32(9))
	for range 50000 {
		nested.put(uint32(9), uint64(1))
	}
	f32 := entry{"a", []uint64{1}, 0, make([]byte, 4)}
	return m{
		"empty":            {nil, `begins with ""`},
		"other file":       {[]byte("PK\x03\x04...."), "begins with"},
		"version 1":        {head(1, 0, 0).Bytes(), "version is 1"},
		"version 4":        {head(4, 0, 0).Bytes(), "version is 4"},
		"big-endian":       {head(3<<24, 0, 0).Bytes(), "big-endian"},
		"cut in the head":  {head(3, 0, 0).Bytes()[:20], "file ends after 20"},
		"many tensors":     {head(3, 1<<60, 0).Bytes(), "1152921504606846976 elements do not fit"},
		"many pairs":       {head(3, 0, 1<<63).Bytes(), "do not fit"},
		"long key":         {head(3, 0, 1).put(uint64(1<<40), make([]byte, 30)).Bytes(), "do not fit"},
		"type of value":    {head(3, 0, 1).put("k", uint32(13), uint64(0)).Bytes(), "type 13"},
		"cut value":        {head(3, 0, 1).put("a long key", uint32(12)).Bytes(), "file ends"},
		"long array":       {head(3, 0, 1).put("k", uint32(9), uint32(12), uint64(1<<61+1), uint64(0)).Bytes(), "do not fit"},
		"many strings":     {head(3, 0, 1).put("k", uint32(9), uint32(8), uint64(1<<50), uint64(0)).Bytes(), "do not fit"},
		"type of elements": {head(3, 0, 1).put("k", uint32(9), uint32(77), uint64(1), uint64(0)).Bytes(), "type 77"},
		"nested arrays":    {nested.Bytes(), "nested more than 4"},
		"key twice":        {head(3, 0, 2).put("k", uint32(0), byte(1), "k", uint32(0), byte(1), uint64(0)).Bytes(), `key "k" occurs twice`},
		"tensor twice":     {file(3, 0, nil, 32, f32, f32), `tensor "a" occurs twice`},
		"rank":             {one(9, make([]uint64, 9), 0, 0, 0), "9 dimensions"},
		"huge dimension":   {one(1, []uint64{1 << 63}, 0, 0, 0), "dimension of 9223372036854775808"},
		"product wraps":    {one(2, []uint64{1 << 32, 1 << 32}, 0, 0, 0), "out of range"},
		"bytes wrap":       {one(1, []uint64{1 << 61}, 0, 0, 64), "expected fewer"},
		"rows":             {one(2, []uint64{16, 2}, q4_0, 0, 64), "no multiple of 32"},
		"scalar of blocks": {one(0, nil, q4_0, 0, 64), "no multiple of 32"},
		"cut data":         {one(1, []uint64{9}, 0, 0, 35), "ends after the 35 bytes"},
		"cut unknown":      {one(1, []uint64{9}, 1000, 64, 35), `begins at 64 of the data, expected 0`},
		"offset":           {one(1, []uint64{1}, 0, 32, 64), "begins at 32 of the data, expected 0"},
		"offset wraps":     {one(1, []uint64{1}, 0, math.MaxUint64, 64), "begins at"},
		"not aligned":      {one(1, []uint64{1}, 0, 4, 64), "begins at 4"},
		"alignment":        {file(3, 1, new(writer).put(alignmentKey, uint32(4), uint32(7)).Bytes(), 32, f32), "no multiple of 8"},
		"alignment 0":      {file(3, 1, new(writer).put(alignmentKey, uint32(4), uint32(0)).Bytes(), 32, f32), "no multiple of 8"},
		"alignment text":   {file(3, 1, new(writer).put(alignmentKey, uint32(8), "x").Bytes(), 32, f32), "no multiple of 8"},
	}
}

func TestFaultsAreReported(t *testing.T) {
	for name, c := range faulty() {
		_, err := Parse(c.b)
		require.ErrorIs(t, err, CodeSyntax, name)
		require.ErrorContains(t, err, c.msg, name)
	}
	b := file(3, 0, nil, 32, entry{"a", []uint64{1}, 0, make([]byte, 4)}, entry{"b", []uint64{1}, 0, make([]byte, 4)})
	at := bytes.Index(b, le("b")) + 9 + 4 + 8 + 4
	for _, offset := range []byte{0, 64, 33} { // overlaps, leaves a hole, is not aligned
		c := bytes.Clone(b)
		c[at] = offset
		_, err := Parse(append(c, make([]byte, 100)...))
		require.ErrorContains(t, err, "of the data, expected 32")
	}
	path := filepath.Join(t.TempDir(), "m.gguf")
	require.NoError(t, os.WriteFile(path, b[:8], 0o600))
	_, err := Open(path)
	require.ErrorContains(t, err, path)
}

func TestTypesThatAreNotRead(t *testing.T) {
	f, err := Parse(file(3, 0, nil, 32, entry{"a", []uint64{256}, 16, make([]byte, 66)}, entry{"b", []uint64{5}, 99, make([]byte, 3)}, entry{"c", []uint64{1}, 0, le(float32(4))}))
	require.NoError(t, err)
	for name, format := range map[string]string{"a": "IQ2_XXS", "b": "type 99"} {
		d, _, ok := f.Type(name)
		require.True(t, ok)
		require.Equal(t, array.Invalid, d)
		require.Equal(t, format, f.Format(name))
		_, err = f.Get(name)
		require.ErrorIs(t, err, CodeType)
		require.ErrorContains(t, err, format+", expected F32, F16, Q4_0")
	}
	c, err := f.Get("c")
	require.NoError(t, err)
	require.Equal(t, float32(4), array.At[float32](c, 0))
}

// Headers that ask for much get little more than their size.
func TestAllocationIsBoundedByTheFile(t *testing.T) {
	tensors, pairs := head(3, 20000, 0), head(3, 0, 20000)
	for i := range 20000 {
		tensors.put(string(rune('a'+i%26))+string(rune(i)), uint32(0), uint32(0), uint64(32*i))
		pairs.put(string(rune('a'+i%26))+string(rune(i)), uint32(0), byte(0))
	}
	for name, b := range map[string][]byte{"tensors": tensors.Bytes(), "pairs": pairs.Bytes(), "nested": faulty()["nested arrays"].b, "many": faulty()["many tensors"].b} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _ = Parse(b)
		runtime.ReadMemStats(&after)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(24*len(b)+1<<20), name)
	}
}

func FuzzParse(f *testing.F) {
	for _, c := range faulty() {
		if len(c.b) < 1000 {
			f.Add(c.b)
		}
	}
	f.Add(file(3, 1, new(writer).put("k", uint32(9), uint32(8), uint64(1), "v").Bytes(), 32, entry{"a", []uint64{32}, 8, make([]byte, 34)}, entry{"b", []uint64{2, 2}, 1, make([]byte, 8)}))
	f.Fuzz(func(t *testing.T, b []byte) {
		file, err := Parse(b)
		if err != nil {
			require.ErrorIs(t, err, CodeSyntax)
			return
		}
		for _, k := range file.Keys() {
			_, ok := file.Value(k)
			require.True(t, ok)
		}
		total := 0
		for _, name := range file.Names() {
			a, err := file.Get(name)
			if err != nil {
				var e *diag.Error
				require.ErrorAs(t, err, &e)
				continue
			}
			total += a.Len()
		}
		require.LessOrEqual(t, total, 4*len(b)+64)
	})
}
