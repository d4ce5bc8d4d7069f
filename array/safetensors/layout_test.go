package safetensors

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
)

// referenceFile is a file in the layout of the reference writer, made by hand: sorted by
// the order of its element types downwards, then by name, the header padded to 8 bytes.
func referenceFile(meta, header string, n int) []byte {
	text := "{" + meta + header + "}"
	for len(text)%8 != 0 {
		text += " "
	}
	b := file(text, n)
	for i := range n {
		b[len(b)-n+i] = byte(i * 7)
	}
	return b
}

func all(t *testing.T, f *File) []Named {
	t.Helper()
	var list []Named
	for _, name := range f.Names() {
		a, err := f.Get(name)
		require.NoError(t, err)
		list = append(list, Named{name, a})
	}
	return list
}

// The contents of a file of the reference layout are written as the same file.
func TestReferenceLayoutIsWrittenByteForByte(t *testing.T) {
	for name, b := range map[string][]byte{
		"empty":         referenceFile("", "", 0),
		"metadata only": referenceFile(`"__metadata__":{"framework":"pt"}`, "", 0),
		"one":           referenceFile("", `"attn.0":{"dtype":"F32","shape":[1,2,3],"data_offsets":[0,24]}`, 24),
		"scalar":        referenceFile("", `"s":{"dtype":"I64","shape":[],"data_offsets":[0,8]}`, 8),
		"many": referenceFile(`"__metadata__":{"format":"pt"},`, strings.Join([]string{
			`"u64":{"dtype":"U64","shape":[1],"data_offsets":[0,8]}`,
			`"i64":{"dtype":"I64","shape":[0,5],"data_offsets":[8,8]}`,
			`"f64":{"dtype":"F64","shape":[1],"data_offsets":[8,16]}`,
			`"Z":{"dtype":"F32","shape":[2],"data_offsets":[16,24]}`,
			`"a":{"dtype":"F32","shape":[2],"data_offsets":[24,32]}`,
			`"b\n\"\\\t\u0001é":{"dtype":"U32","shape":[1],"data_offsets":[32,36]}`,
			`"i32":{"dtype":"I32","shape":[1],"data_offsets":[36,40]}`,
			`"bf":{"dtype":"BF16","shape":[1],"data_offsets":[40,42]}`,
			`"h":{"dtype":"F16","shape":[1],"data_offsets":[42,44]}`,
			`"u16":{"dtype":"U16","shape":[1],"data_offsets":[44,46]}`,
			`"i16":{"dtype":"I16","shape":[1],"data_offsets":[46,48]}`,
			`"i8":{"dtype":"I8","shape":[3],"data_offsets":[48,51]}`,
			`"u8":{"dtype":"U8","shape":[3],"data_offsets":[51,54]}`,
			`"no":{"dtype":"BOOL","shape":[0],"data_offsets":[54,54]}`,
		}, ","), 54),
	} {
		f, err := Parse(b)
		require.NoError(t, err, name)
		tensors := all(t, f)
		for i := range tensors { // the order of the caller does not matter
			j := len(tensors) - 1 - i
			if i < j {
				tensors[i], tensors[j] = tensors[j], tensors[i]
			}
		}
		var w bytes.Buffer
		require.NoError(t, WriteReference(&w, tensors, f.Metadata()), name)
		require.Equal(t, string(b), w.String(), name)
	}
}

// A file that Write wrote is written again as the same file.
func TestOwnLayoutIsWrittenByteForByte(t *testing.T) {
	b := write(t, sample(), map[string]string{"a": "b", "c": "\n"})
	f, err := Parse(b)
	require.NoError(t, err)
	require.Equal(t, b, write(t, all(t, f), f.Metadata()))
}

// A tensor of a type that arrays lack is refused when it is read; the other tensors can
// be read.
func TestTypesWithoutArrays(t *testing.T) {
	b := file(`{"a":{"dtype":"F6_E3M2","shape":[2,4],"data_offsets":[0,6]},"b":{"shape":[1,2],"data_offsets":[6,9],"dtype":"X\u0041"},"c":{"dtype":"U8","shape":[1],"data_offsets":[9,10]}}`, 10)
	b[len(b)-1] = 9
	for _, read := range []func() (*File, error){
		func() (*File, error) { return Parse(b) },
		func() (*File, error) { return Open(bytes.NewReader(b), int64(len(b))) },
	} {
		f, err := read()
		require.NoError(t, err)
		for name, format := range map[string]string{"a": "F6_E3M2", "b": "XA", "c": "U8", "d": ""} {
			require.Equal(t, format, f.Format(name))
		}
		d, shape, _, n, ok := f.Info("b")
		require.True(t, ok)
		require.Equal(t, array.Invalid, d)
		require.Equal(t, []int{1, 2}, shape)
		require.Equal(t, int64(3), n)
		_, err = f.Get("a")
		require.ErrorIs(t, err, CodeDType)
		require.ErrorContains(t, err, `tensor "a" has element type "F6_E3M2"`)
		_, err = f.Get("b")
		require.ErrorContains(t, err, `"XA"`)
		c, err := f.Get("c")
		require.NoError(t, err)
		require.Equal(t, []uint8{9}, array.Data[uint8](c))
	}
	other, err := Parse(bytes.Replace(b, []byte("F6_E3M2"), []byte("F6_E2M3"), 1))
	require.NoError(t, err)
	f, err := Parse(b)
	require.NoError(t, err)
	require.NotEqual(t, f.SchemaHash(), other.SchemaHash(), "types count, also those without arrays")
}

// Narrow types come back as they were, by Parse and by Open.
func TestNarrowTypes(t *testing.T) {
	for _, d := range array.NarrowDTypes() {
		for _, n := range []int{0, 1, 2, 3, 4, 5, 8} {
			a := array.New(d, n)
			for i := range n {
				array.SetFloat64At(a, i, float64(i%3-1))
			}
			tensors := []Named{{"a", a}, {"b", array.FromSlice([]float32{1, 2})}}
			b := write(t, tensors, Checksums(tensors))
			f, err := Parse(b)
			require.NoError(t, err, "%s %d", d, n)
			opened, err := Open(bytes.NewReader(b), int64(len(b)))
			require.NoError(t, err)
			for _, f := range []*File{f, opened} {
				back, err := f.Get("a")
				require.NoError(t, err)
				require.True(t, array.Equal(a, back), "%s %d: %s", d, n, array.Format(back, 9))
				got, _, _, length, ok := f.Info("a")
				require.True(t, ok && got == d && int(length) == array.PackedLen(d, n))
			}
		}
	}
	x := array.FromSlice([]array.Float4E2M1FN{1, 2, 3, 4})
	require.Contains(t, string(write(t, []Named{{"a", x}}, nil)), "\x21\x43", "the first element is in the low bits")
}

func TestMap(t *testing.T) {
	path := filepath.Join(t.TempDir(), "w.safetensors")
	x := array.FromSlice([]float32{1, 2, 3, float32(math.Inf(1))}, 2, 2)
	require.NoError(t, os.WriteFile(path, write(t, []Named{{"a", x}}, nil), 0o600))
	f, err := Map(path)
	require.NoError(t, err)
	a, err := f.Get("a")
	require.NoError(t, err)
	require.True(t, array.Equal(x, a))
	require.Zero(t, f.Copied())
	array.Data[float32](a)[0] = 9 // private memory
	again, err := ReadFile(path)
	require.NoError(t, err)
	b, err := again.Get("a")
	require.NoError(t, err)
	require.True(t, array.Equal(x, b))
	_, err = Map(filepath.Dir(path))
	require.ErrorIs(t, err, CodeRead)
	_, err = Map(path + "x")
	require.ErrorIs(t, err, os.ErrNotExist)
	require.NoError(t, os.WriteFile(path, []byte("short"), 0o600))
	_, err = Map(path)
	require.ErrorIs(t, err, CodeSize)
	require.ErrorContains(t, err, path)
}

func TestCopiesAreCounted(t *testing.T) {
	b := referenceFile("", `"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"F32","shape":[2],"data_offsets":[1,9]},"c":{"dtype":"BOOL","shape":[2],"data_offsets":[9,11]}`, 11)
	f, err := Parse(b)
	require.NoError(t, err)
	all(t, f)
	want := int64(2) // bools of other bytes
	if !array.Readable(b[len(b)-10:], array.F32) {
		want += 8
	}
	require.Equal(t, want, f.Copied())
}

// Tensors of a mapped file are written without a copy of all of them.
func TestWritingHoldsNoSecondCopy(t *testing.T) {
	const n = 1 << 20
	var list []Named
	for _, name := range []string{"a", "b", "c", "d"} {
		list = append(list, Named{name, array.New(array.F32, n)})
	}
	require.Less(t, spent(func() { require.NoError(t, WriteReference(&counter{}, list, nil)) }), uint64(1<<20))
	list[2].Array = array.Permute(array.New(array.F32, 1024, n/1024), 1, 0)
	require.Less(t, spent(func() { require.NoError(t, WriteReference(&counter{}, list, nil)) }), uint64(4*n+1<<20), "one tensor at a time")
}

type counter struct{ n int }

func (c *counter) Write(b []byte) (int, error) { c.n += len(b); return len(b), nil }
