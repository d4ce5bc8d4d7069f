package safetensors

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
)

func summed(t *testing.T) []byte {
	t.Helper()
	list := []Named{{"a.weight", array.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)}, {"b", array.FromSlice([]int64{7})}, {"c", array.New(array.F32, 0)}}
	var b bytes.Buffer
	require.NoError(t, Write(&b, list, Checksums(list)))
	return b.Bytes()
}

var summedSchema = SchemaHash([]Named{{"a.weight", array.New(array.F32, 2, 3)}, {"b", array.New(array.I64, 1)}, {"c", array.New(array.F32, 0)}})

// loadAll takes the tensors of summed as generated code does.
func loadAll(f *File) error {
	l := NewLoader(f)
	var a, b, c *array.Array
	l.Tensor(&a, "a.weight", array.F32, 2, 3)
	l.Tensor(&b, "b", array.I64, 1)
	l.Tensor(&c, "c", array.F32, 0)
	return l.Err(summedSchema)
}

func TestFlippedBytesAreFound(t *testing.T) {
	good := summed(t)
	f, err := Parse(good)
	require.NoError(t, err)
	require.NoError(t, loadAll(f))
	dataAt := f.start
	for i := range good {
		for _, bit := range []byte{1, 4, 0x20, 0x80} {
			bad := bytes.Clone(good)
			bad[i] ^= bit
			if bytes.IndexByte([]byte(" \t\n\r"), good[i]) >= 0 && bytes.IndexByte([]byte(" \t\n\r"), bad[i]) >= 0 {
				continue // another kind of space means the same
			}
			for _, open := range []func() (*File, error){
				func() (*File, error) { return Parse(bad) },
				func() (*File, error) { return Open(bytes.NewReader(bad), int64(len(bad))) },
			} {
				f, err := open()
				if err == nil {
					err = loadAll(f)
				}
				require.Error(t, err, "byte %d, bit %#x", i, bit)
				if int64(i) < dataAt {
					continue
				}
				require.ErrorIs(t, err, CodeChecksum)
				name := `"a.weight"`
				if int64(i) >= dataAt+24 {
					name = `"b"`
				}
				require.ErrorContains(t, err, name)
			}
		}
	}
}

func TestChecksumsAreOptional(t *testing.T) {
	list := []Named{{"a", array.FromSlice([]float32{1})}, {"b", array.FromSlice([]float32{2})}}
	for name, c := range map[string]struct {
		meta map[string]string
		bad  string
	}{
		"none":      {map[string]string{"format": "pt"}, ""},
		"all":       {Checksums(list), ""},
		"one":       {map[string]string{"crc32c.a": Checksums(list)["crc32c.a"]}, "b"},
		"not a sum": {map[string]string{"crc32c.a": "zz", "crc32c.b": Checksums(list)["crc32c.b"]}, "a"},
		"of others": {map[string]string{"crc32c.x": "00000000"}, "a"},
	} {
		var b bytes.Buffer
		require.NoError(t, Write(&b, list, c.meta))
		f, err := Parse(b.Bytes())
		require.NoError(t, err)
		for _, n := range []string{"a", "b"} {
			_, err = f.Get(n)
			if n == c.bad || name == "of others" {
				require.ErrorIs(t, err, CodeChecksum, name)
			} else {
				require.NoError(t, err, name)
			}
		}
	}
	// The check value of CRC-32C: that of "123456789".
	require.Equal(t, map[string]string{"crc32c.x": "e3069283"}, Checksums([]Named{{"x", array.FromSlice([]uint8("123456789"))}}))
}

func TestLoaderListsEverything(t *testing.T) {
	f, err := Parse(summed(t))
	require.NoError(t, err)
	l := NewLoader(f)
	var a *array.Array
	l.Tensor(&a, "a.weight", array.F32, 3, 2)
	l.Tensor(&a, "b", array.I32, 1)
	l.Tensor(&a, "d", array.F32, 5)
	var list diag.List
	require.ErrorAs(t, l.Err(1), &list)
	var got []string
	for _, e := range list {
		got = append(got, string(e.Code)+" "+e.Msg)
	}
	require.Equal(t, []string{
		`FX8022 tensor "a.weight" is f32[2,3], expected f32[3,2]`, `FX8022 tensor "b" is i64[1], expected i32[1]`,
		`FX8020 tensor "d" is missing, expected f32[5]`, `FX8021 tensor "c" is f32[0], expected no such tensor`,
	}, got)
}

func TestMergeSortIsStable(t *testing.T) {
	for n := range 40 {
		key := func(i int32) int32 { return i * 7919 % 10 }
		order := mergeSorted(n, func(i, j int32) bool { return key(i) <= key(j) })
		require.Len(t, order, n)
		seen := map[int32]bool{}
		for k, i := range order {
			seen[i] = true
			if k > 0 {
				p := order[k-1]
				require.True(t, key(p) < key(i) || key(p) == key(i) && p < i, "%v", order)
			}
		}
		require.Len(t, seen, n)
	}
}
