package safetensors

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
)

// file puts a header in front of n bytes of data.
func file(header string, n int) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(b, header...), make([]byte, n)...)
}

func one(dtype, shape, offsets string) string {
	return `{"a":{"dtype":"` + dtype + `","shape":` + shape + `,"data_offsets":` + offsets + `}}`
}

// faulty lists a file for every fault, with its code and a part of the message.
var faulty = []struct {
	name string
	data []byte
	code diag.Code
	msg  string
}{
	{"empty", nil, CodeSize, "byte 0: file has 0 bytes"},
	{"short", []byte{1, 0, 0}, CodeSize, "file has 3 bytes"},
	{"header beyond file", []byte{9, 0, 0, 0, 0, 0, 0, 0, '{', '}'}, CodeSize, "header has 9 bytes, expected at most the 2"},
	{"header too long", binary.LittleEndian.AppendUint64(nil, 1<<63), CodeSize, "expected at most 100000000"},
	{"no header", file("", 0), CodeSyntax, "byte 8: found the end of the header, expected '{'"},
	{"no object", file("[]", 0), CodeSyntax, "expected '{'"},
	{"unclosed", file("{", 0), CodeSyntax, `expected '"'`},
	{"trailing junk", file("{} x", 0), CodeSyntax, "byte 11: found \"x\", expected nothing more"},
	{"trailing comma", file(`{"__metadata__":{},}`, 0), CodeSyntax, `expected '"'`},
	{"no colon", file(`{"a" 1}`, 0), CodeSyntax, "expected ':'"},
	{"no brace", file(`{"__metadata__":{} "b"`, 0), CodeSyntax, "expected '}'"},
	{"value is a number", file(`{"a":1}`, 0), CodeSyntax, "expected '{'"},
	{"deep nesting", file(strings.Repeat(`{"a":`, 10000), 0), CodeSyntax, `found key "a"`},
	{"deep list", file(`{"a":{"shape":`+strings.Repeat("[", 10000), 0), CodeSyntax, "non-negative integer"},
	{"unknown key", file(`{"a":{"color":1}}`, 0), CodeSyntax, `found key "color"`},
	{"missing key", file(`{"a":{"dtype":"U8","shape":[]}}`, 0), CodeSyntax, "lacks a key"},
	{"type of four bits, odd", file(one("F4", "[3]", "[0,1]"), 1), CodeLength, "has 1 bytes"},
	{"type of four bits, a byte too many", file(one("F4", "[3]", "[0,3]"), 3), CodeLength, "has 3 bytes"},
	{"type of two bits, too long", file(one("U2", "[5]", "[0,1]"), 1), CodeLength, "has 1 bytes"},
	{"type of four bits, short", file(one("F4", "[4]", "[0,1]"), 1), CodeLength, "has 1 bytes"},
	{"type of six bits", file(one("F6_E2M3", "[3]", "[0,3]"), 3), CodeLength, "has 3 bytes"},
	{"type without arrays", file(one("C64", "[2]", "[0,8]"), 8), CodeLength, "has 8 bytes"},
	{"bits overflow", file(one("F4", "[4611686018427387904]", "[0,0]"), 0), CodeLength, "has 0 bytes"},
	{"dtype is a number", file(`{"a":{"dtype":3}}`, 0), CodeSyntax, `expected '"'`},
	{"key twice", file(`{"a":{"dtype":"U8","dtype":"U8"}}`, 0), CodeName, `"dtype" occurs twice`},
	{"name twice", file(`{"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}`, 0), CodeName, "byte 61: tensor \"a\" occurs twice"},
	{"name twice, escaped", file(`{"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"\u0061":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}`, 0), CodeName, "occurs twice"},
	{"metadata twice", file(`{"__metadata__":{},"__metadata__":{}}`, 0), CodeName, "occurs twice"},
	{"metadata key twice", file(`{"__metadata__":{"a":"","b":"","a":""}}`, 0), CodeName, "metadata key occurs twice"},
	{"metadata value", file(`{"__metadata__":{"a":1}}`, 0), CodeSyntax, `expected '"'`},
	{"one offset", file(one("U8", "[0]", "[0]"), 0), CodeSyntax, "data_offsets has 1 numbers"},
	{"three offsets", file(one("U8", "[0]", "[0,0,0]"), 0), CodeSyntax, "more than 2 numbers"},
	{"negative offset", file(one("U8", "[0]", "[-1,0]"), 0), CodeSyntax, "non-negative integer"},
	{"fraction", file(one("U8", "[1.5]", "[0,1]"), 1), CodeSyntax, `found ".", expected ']'`},
	{"leading zero", file(one("U8", "[01]", "[0,1]"), 1), CodeSyntax, "starts with 0"},
	{"huge number", file(one("U8", "[99999999999999999999]", "[0,1]"), 1), CodeSyntax, "number of 20 digits is out of range"},
	{"rank", file(one("U8", "["+strings.Repeat("1,", 64)+"1]", "[0,1]"), 1), CodeSyntax, "more than 64 numbers"},
	{"offsets reversed", file(one("U8", "[1]", "[1,0]"), 1), CodeRange, "data_offsets [1,0]"},
	{"offsets beyond file", file(one("U8", "[9]", "[0,9]"), 1), CodeRange, "within 1 bytes"},
	{"offset far beyond", file(one("U8", "[9]", "[9223372036854775806,9223372036854775807]"), 1), CodeRange, "within 1 bytes"},
	{"shape and length", file(one("F32", "[2]", "[0,4]"), 4), CodeLength, "has 4 bytes"},
	{"shape overflows", file(one("F32", "[4294967296,4294967296]", "[0,0]"), 0), CodeLength, "has 0 bytes"},
	{"bytes overflow", file(one("F64", "[2305843009213693952]", "[0,0]"), 0), CodeLength, "has 0 bytes"},
	{"overlap", file(`{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}}`, 3), CodeOverlap, `"b" begins at 1 of the data and overlaps`},
	{"gap", file(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"U8","shape":[1],"data_offsets":[2,3]}}`, 3), CodeOverlap, "leaves a gap"},
	{"gap in front", file(one("U8", "[1]", "[1,2]"), 2), CodeOverlap, "leaves a gap"},
	{"bytes behind", file(one("U8", "[1]", "[0,1]"), 3), CodeOverlap, "2 bytes belong to no tensor"},
	{"control character", file("{\"a\n\":{}}", 0), CodeSyntax, "control character"},
	{"control character behind escape", file("{\"\\n\n\":{}}", 0), CodeSyntax, "control character"},
	{"unclosed string", file(`{"a`, 0), CodeSyntax, `expected '"'`},
	{"unclosed escaped string", file(`{"\na`, 0), CodeSyntax, `expected '"'`},
	{"escape at the end", file(`{"\`, 0), CodeSyntax, "expected an escape"},
	{"bad escape", file(`{"\x":{}}`, 0), CodeSyntax, "expected an escape"},
	{"short hex", file(`{"\u00`, 0), CodeSyntax, "four hexadecimal digits"},
	{"bad hex", file(`{"\u00zz":{}}`, 0), CodeSyntax, "four hexadecimal digits"},
	{"signed hex", file(`{"\u+123":{}}`, 0), CodeSyntax, "four hexadecimal digits"},
	{"half surrogate", file(`{"\ud800":{}}`, 0), CodeSyntax, "surrogate"},
	{"not UTF-8", file("{\"\xff\":{}}", 0), CodeSyntax, "not UTF-8"},
}

func TestFaultsAreReported(t *testing.T) {
	for _, c := range faulty {
		_, err := Parse(c.data)
		require.ErrorIs(t, err, c.code, c.name)
		require.ErrorContains(t, err, c.msg, c.name)
		require.Regexp(t, `byte \d+: `, err.Error(), c.name)
		_, err2 := Open(bytes.NewReader(c.data), int64(len(c.data)))
		require.EqualError(t, err2, err.Error(), c.name)
	}
}

func sample() []Named {
	var all []Named
	for i, d := range array.DTypes() {
		a := array.New(d, 3, i+1)
		for j := range a.Len() {
			array.SetInt64At(a, j, int64(j*j%3))
		}
		all = append(all, Named{"layer." + d.String(), array.Permute(a, 1, 0)})
	}
	return append(all, Named{"empty", array.New(array.F32, 0, 4)}, Named{"scalar \"é\"\n\\", array.Scalar(float32(2.5))})
}

func write(t require.TestingT, tensors []Named, meta map[string]string) []byte {
	var b bytes.Buffer
	require.NoError(t, Write(&b, tensors, meta))
	return b.Bytes()
}

func TestRoundTrip(t *testing.T) {
	tensors, meta := sample(), map[string]string{"format": "pt", "b": "x\ty", "a": ""}
	b := write(t, tensors, meta)
	require.Equal(t, b, write(t, tensors, meta), "deterministic")
	require.Zero(t, (8+binary.LittleEndian.Uint64(b))%64, "data section is aligned")
	path := filepath.Join(t.TempDir(), "w.safetensors")
	require.NoError(t, os.WriteFile(path, b, 0o600))
	open, err := Open(bytes.NewReader(b), int64(len(b)))
	require.NoError(t, err)
	parsed, err := Parse(b)
	require.NoError(t, err)
	odd, err := Parse(append(make([]byte, 1, len(b)+1), b...)[1:])
	require.NoError(t, err)
	read, err := ReadFile(path)
	require.NoError(t, err)
	for _, f := range []*File{open, parsed, odd, read} {
		require.Equal(t, meta, f.Metadata())
		require.Len(t, f.Names(), len(tensors))
		require.Equal(t, SchemaHash(tensors), f.SchemaHash())
		for i, want := range tensors {
			require.Equal(t, want.Name, f.Names()[i], "the caller's order")
			got, err := f.Get(want.Name)
			require.NoError(t, err)
			require.True(t, array.Equal(want.Array, got), want.Name)
			d, shape, off, n, ok := f.Info(want.Name)
			require.True(t, ok)
			require.Equal(t, want.Array.DType(), d)
			require.True(t, slices.Equal(want.Array.Shape(), shape), want.Name)
			require.Equal(t, array.Bytes(array.Contiguous(want.Array)), append([]byte(nil), b[off:off+n]...))
		}
		_, err := f.Get("nope")
		require.ErrorIs(t, err, CodeName)
		_, _, _, _, ok := f.Info("nope")
		require.False(t, ok)
	}
}

func TestParseSharesMemory(t *testing.T) {
	s := array.NewStorage(1024)
	n := copy(s.Bytes(), write(t, []Named{{"a", array.FromSlice([]float32{1, 2})}}, nil))
	f, err := Parse(s.Bytes()[:n])
	require.NoError(t, err)
	a, err := f.Get("a")
	require.NoError(t, err)
	s.Bytes()[n-1], s.Bytes()[n-2] = 0xc0, 0 // the upper half of 2 becomes that of -2
	require.Equal(t, []float32{1, -2}, array.Data[float32](a))
	copy(s.Bytes()[1:], s.Bytes()[:n])
	f, err = Parse(s.Bytes()[1 : n+1])
	require.NoError(t, err)
	a, err = f.Get("a")
	require.NoError(t, err)
	s.Bytes()[n] = 0
	want := []float32{1, -2} // a copy where the machine reads numbers at multiples of their size alone
	if array.Readable(s.Bytes()[1:], array.F32) {
		want[1] = 0
	}
	require.Equal(t, want, array.Data[float32](a))
}

func TestEscapesAndEmptyFiles(t *testing.T) {
	f, err := Parse(file(`{"\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00":{"shape":[ ],"data_offsets":[0 , 1],"dtype":"U8"}, "__metadata__":{"k":"\u0041"}}`, 1))
	require.NoError(t, err)
	require.Equal(t, []string{"\"\\/\b\f\n\r\té😀"}, f.Names())
	require.Equal(t, map[string]string{"k": "A"}, f.Metadata())
	f, err = Parse(file(" {} ", 0))
	require.NoError(t, err)
	require.Empty(t, f.Names())
	require.Empty(t, f.Metadata())
}

func TestWriteRefuses(t *testing.T) {
	a := array.New(array.U8, 1)
	for name, c := range map[string][]Named{
		"twice": {{"a", a}, {"a", a}}, "reserved": {{metaKey, a}}, "utf-8": {{"\xff", a}}, "nil": {{"a", nil}},
		"invalid": {{"a", array.New(array.Invalid, 1)}},
	} {
		require.ErrorIs(t, Write(io.Discard, c, nil), CodeWrite, name)
	}
	require.ErrorIs(t, Write(io.Discard, nil, map[string]string{"a": "\xff"}), CodeWrite)
	for n := range 2 {
		require.ErrorIs(t, Write(&failing{n}, []Named{{"a", a}}, nil), errFull)
	}
}

var errFull = errors.New("full")

type failing struct{ left int }

func (f *failing) Write(b []byte) (int, error) {
	if f.left == 0 {
		return 0, errFull
	}
	f.left--
	return len(b), nil
}

func TestReadErrors(t *testing.T) {
	_, err := ReadFile(filepath.Join(t.TempDir(), "none"))
	require.ErrorIs(t, err, CodeRead)
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = ReadFile(t.TempDir())
	require.ErrorIs(t, err, CodeRead)
	path := filepath.Join(t.TempDir(), "bad")
	require.NoError(t, os.WriteFile(path, []byte("bad"), 0o600))
	_, err = ReadFile(path)
	require.ErrorIs(t, err, CodeSize)
	require.ErrorContains(t, err, path)
	b := write(t, []Named{{"a", array.New(array.F32, 4)}}, nil)
	for _, n := range []int{0, 20} { // the file shrinks while it is open
		_, err = Open(bytes.NewReader(b[:n]), int64(len(b)))
		require.ErrorIs(t, err, CodeRead)
	}
	f, err := Open(bytes.NewReader(b[:len(b)-1]), int64(len(b)))
	require.NoError(t, err)
	_, err = f.Get("a")
	require.ErrorIs(t, err, io.EOF)
}

func TestSchemaHash(t *testing.T) {
	a, b := Named{"a", array.New(array.F32, 2, 3)}, Named{"b", array.New(array.I8)}
	h := SchemaHash([]Named{a, b})
	require.Equal(t, h, SchemaHash([]Named{b, a}), "order does not matter")
	require.Equal(t, uint64(fnvStart), SchemaHash(nil))
	for name, other := range map[string][]Named{
		"name": {{"c", a.Array}, b}, "dtype": {{"a", array.New(array.I32, 2, 3)}, b}, "shape": {{"a", array.New(array.F32, 3, 2)}, b},
		"digits run together": {{"a", array.New(array.F32, 23)}, b}, "fewer": {a},
	} {
		require.NotEqual(t, h, SchemaHash(other), name)
	}
}

// spent returns the bytes that f allocates.
func spent(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// Headers that ask for as much memory as they can get less than four times
// their size, and a mebibyte.
func TestAllocationIsBoundedByTheFile(t *testing.T) {
	const n = 40000
	repeat := func(item func(i int) string) string {
		var b strings.Builder
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(item(i))
		}
		return b.String()
	}
	name := func(i int) string { return strconv.FormatInt(int64(i), 36) }
	const rest = `":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}`
	ones := strings.Repeat("1,", 63)
	for what, data := range map[string][]byte{
		"tensors":       file("{"+repeat(func(i int) string { return `"` + name(i) + rest })+"}", 0),
		"same tensor":   file("{"+repeat(func(int) string { return `"` + rest })+"}", 0),
		"escaped names": file("{"+repeat(func(i int) string { return `"` + name(i) + strings.Repeat(`\n`, 40) + rest })+"}", 0),
		"ranks": file("{"+repeat(func(i int) string {
			return `"` + name(i) + `":{"dtype":"U8","shape":[` + ones + `0],"data_offsets":[0,0]}`
		})+"}", 0),
		"metadata":         file(`{"__metadata__":{`+repeat(func(i int) string { return `"` + name(i) + `":""` })+"}}", 0),
		"metadata escaped": file(`{"__metadata__":{`+repeat(func(i int) string { return `"` + name(i) + `\u0041":"\n\n\n\n"` })+"}}", 0),
		"one long list":    file(`{"a":{"shape":[`+strings.Repeat("1,", 1<<20), 0),
		"one long string":  file(`{"`+strings.Repeat(`\n`, 1<<20), 0),
		"huge tensor":      file(one("F64", "[9223372036854775807]", "[0,9223372036854775807]"), 8),
		"huge header":      binary.LittleEndian.AppendUint64(nil, MaxHeader),
	} {
		limit := uint64(4*len(data) + 1<<20)
		require.Less(t, spent(func() { _, _ = Parse(data) }), limit, "Parse: %s of %d bytes", what, len(data))
		require.Less(t, spent(func() { _, _ = Open(bytes.NewReader(data), int64(len(data))) }), limit, "Open: %s of %d bytes", what, len(data))
	}
}

// An accepted file is consistent: it has every tensor, and writing them gives a
// file with the same tensors.
func FuzzParse(f *testing.F) {
	for _, c := range faulty {
		if len(c.data) < 1000 {
			f.Add(c.data)
		}
	}
	f.Add(write(f, sample(), map[string]string{"k": "v"}))
	f.Fuzz(func(t *testing.T, b []byte) {
		file, err := Parse(b)
		if err != nil {
			var e *diag.Error
			require.ErrorAs(t, err, &e)
			require.Regexp(t, `^FX800[1-7]$`, string(e.Code))
			return
		}
		var all []Named
		bytesOfData := int64(0)
		for _, name := range file.Names() {
			d, _, _, n, ok := file.Info(name)
			require.True(t, ok)
			a, err := file.Get(name)
			if d == array.Invalid { // listed, so that files of newer writers can be looked at
				var e *diag.Error
				require.ErrorAs(t, err, &e)
				require.Equal(t, CodeDType, e.Code)
				return
			}
			require.NoError(t, err)
			require.Equal(t, n, int64((a.Len()*a.DType().Bits()+7)/8), "packed in the file")
			bytesOfData += n
			all = append(all, Named{name, a})
		}
		require.LessOrEqual(t, bytesOfData, int64(len(b)))
		again, err := Parse(write(t, all, file.Metadata()))
		require.NoError(t, err)
		require.Equal(t, file.Names(), again.Names())
		require.Equal(t, file.Metadata(), again.Metadata())
		require.Equal(t, file.SchemaHash(), again.SchemaHash())
		for _, x := range all {
			a, err := again.Get(x.Name)
			require.NoError(t, err)
			require.True(t, array.Equal(x.Array, a))
		}
	})
}

// TestBoolsOfAnyByte: a byte of a bool that is neither 0 nor 1 is true, and counts
// as one; the file's own memory is not written.
func TestBoolsOfAnyByte(t *testing.T) {
	b := file(one("BOOL", "[4]", "[0,4]"), 4)
	copy(b[len(b)-4:], []byte{2, 0, 255, 1})
	before := bytes.Clone(b)
	parsed, err := Parse(b)
	require.NoError(t, err)
	opened, err := Open(bytes.NewReader(b), int64(len(b)))
	require.NoError(t, err)
	for _, f := range []*File{parsed, opened} {
		a, err := f.Get("a")
		require.NoError(t, err)
		require.Equal(t, []byte{1, 0, 1, 1}, array.Bytes(a))
	}
	require.Equal(t, before, b)
}
