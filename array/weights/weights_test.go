package weights

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/gguf"
	"github.com/gofx-dev/gofx/array/npy"
	"github.com/gofx-dev/gofx/array/safetensors"
	"github.com/gofx-dev/gofx/array/torchpt"
	"github.com/gofx-dev/gofx/diag"
)

func x(v ...float32) *array.Array { return array.FromSlice(v) }

func put(t testing.TB, dir, name string, b []byte) string {
	path := filepath.Join(dir, name)
	require.NoError(t, os.WriteFile(path, b, 0o600))
	return path
}

func st(t testing.TB, tensors ...safetensors.Named) []byte {
	var b bytes.Buffer
	require.NoError(t, safetensors.Write(&b, tensors, nil))
	return b.Bytes()
}

func npz(t testing.TB, arrays ...npy.Named) []byte {
	var b bytes.Buffer
	require.NoError(t, npy.WriteArchive(&b, arrays, true))
	return b.Bytes()
}

// ggufOf makes a file with a pair of the metadata (text and u16) and a tensor w of f32.
func ggufOf(key string, value uint16, v float32) []byte {
	le := binary.LittleEndian
	b := le.AppendUint64(le.AppendUint64(le.AppendUint32([]byte("GGUF"), 3), 1), 1)
	b = append(le.AppendUint64(b, uint64(len(key))), key...)
	b = le.AppendUint16(le.AppendUint32(b, 2), value)
	b = append(le.AppendUint64(b, 1), 'w')
	b = le.AppendUint64(le.AppendUint32(le.AppendUint64(le.AppendUint32(b, 1), 1), 0), 0)
	for len(b)%32 != 0 {
		b = append(b, 0)
	}
	return append(b, binary.LittleEndian.AppendUint32(nil, map[float32]uint32{2: 0x40000000}[v])...)
}

func npyOf(t testing.TB, a *array.Array) []byte {
	var b bytes.Buffer
	require.NoError(t, npy.Write(&b, a))
	return b.Bytes()
}

// check reads the tensor w of a file, which is [2].
func check(t *testing.T, f File, name, format string) {
	t.Helper()
	require.Contains(t, f.Names(), name)
	d, shape, ok := f.Type(name)
	require.True(t, ok)
	require.Equal(t, array.F32, d)
	require.Equal(t, []int{1}, shape)
	require.Equal(t, format, f.Format(name))
	a, err := f.Get(name)
	require.NoError(t, err)
	require.Equal(t, []float32{2}, array.Data[float32](a))
	_, _, ok = f.Type("none")
	require.False(t, ok)
	require.Empty(t, f.Format("none"))
	_, err = f.Get("none")
	require.Error(t, err)
}

// Files are told apart by their contents, whatever their names are.
func TestFormats(t *testing.T) {
	dir := t.TempDir()
	files := map[string][]byte{
		".safetensors": st(t, safetensors.Named{Name: "w", Array: x(2)}),
		".npz":         npz(t, npy.Named{Name: "w", Array: x(2)}),
		".gguf":        ggufOf("k", 0, 2),
	}
	formats := map[string]string{".safetensors": "F32", ".npz": "f32", ".gguf": "F32"}
	for ext, b := range files {
		for _, name := range []string{"f" + ext, "f.data"} {
			f, err := Open(put(t, dir, name, b))
			require.NoError(t, err, name)
			check(t, f, "w", formats[ext])
		}
		require.True(t, IsFile("a"+ext))
	}
	require.False(t, IsFile("a.onnx"))
	f, err := Open(put(t, dir, "f.npy", npyOf(t, x(2))))
	require.NoError(t, err)
	check(t, f, "", "f32")
	f, err = Open("../torchpt/testdata/state.pth")
	require.NoError(t, err)
	require.Equal(t, "float32", f.Format("0.weight"))
}

func TestPartsOfCheckpoints(t *testing.T) {
	f, err := Open("../torchpt/testdata/checkpoint.pt#model")
	require.NoError(t, err)
	require.Equal(t, []string{"0.weight", "0.bias", "1.weight", "1.bias", "1.running_mean", "1.running_var", "1.num_batches_tracked"}, f.Names())
	d, shape, ok := f.Type("0.weight")
	require.True(t, ok)
	require.Equal(t, array.F32, d)
	require.Equal(t, []int{2, 3}, shape)
	require.Equal(t, "float32", f.Format("0.weight"))
	_, err = f.Get("0.weight")
	require.NoError(t, err)
	_, err = Open("../torchpt/testdata/checkpoint.pt#net")
	require.ErrorIs(t, err, CodeName)
	require.ErrorContains(t, err, `"net.", expected one of "model", "optimizer"`)
	_, err = Open("../torchpt/testdata/none.pt#net")
	require.ErrorIs(t, err, CodeRead)
	// A name with this character in it is a name.
	f, err = Open(put(t, t.TempDir(), "a#b.safetensors", st(t, safetensors.Named{Name: "w", Array: x(2)})))
	require.NoError(t, err)
	check(t, f, "w", "F32")
}

func TestShards(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "1.safetensors", st(t, safetensors.Named{Name: "w", Array: x(2)}, safetensors.Named{Name: "v", Array: x(3)}))
	put(t, dir, "2.npz", npz(t, npy.Named{Name: "u", Array: x(4)}))
	path := put(t, dir, "model.safetensors.index.json", []byte(`{"metadata":{"total_size":12,"deep":[[{}]]},"weight_map":{"v":"1.safetensors","u":"2.npz","w":"1.safetensors"}}`))
	f, err := Open(path)
	require.NoError(t, err)
	require.Equal(t, []string{"v", "u", "w"}, f.Names())
	check(t, f, "w", "F32")
	u, err := f.Get("u")
	require.NoError(t, err)
	require.Equal(t, []float32{4}, array.Data[float32](u))
	require.Equal(t, "f32", f.Format("u"))
}

func TestHostileIndices(t *testing.T) {
	outside := put(t, t.TempDir(), "x.safetensors", st(t, safetensors.Named{Name: "w", Array: x(2)}))
	dir := t.TempDir()
	put(t, dir, "1.safetensors", st(t, safetensors.Named{Name: "w", Array: x(2)}, safetensors.Named{Name: "v", Array: x(3)}))
	put(t, dir, "bad.safetensors", []byte("bad"))
	put(t, dir, "i.json", []byte(`{"weight_map":{"w":"i.json"}}`))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "sub"), 0o700))
	put(t, dir, "sub/2.safetensors", st(t, safetensors.Named{Name: "w", Array: x(2)}))
	require.NoError(t, os.Symlink(outside, filepath.Join(dir, "link.safetensors")))
	require.NoError(t, os.Symlink("1.safetensors", filepath.Join(dir, "inside.safetensors")))
	one := func(file string) string { return `{"weight_map":{"w":"` + file + `"}}` }
	for name, c := range map[string]struct {
		json string
		code diag.Code
		msg  string
	}{
		"no JSON":        {`{"weight_map":`, CodeIndex, "no JSON"},
		"list":           {`[]`, CodeIndex, "no object"},
		"no map":         {`{}`, CodeIndex, "weight_map"},
		"map is a list":  {`{"weight_map":[]}`, CodeIndex, "no object"},
		"file is number": {`{"weight_map":{"w":1}}`, CodeIndex, "weight_map of texts"},
		"tensor twice":   {`{"weight_map":{"w":"1.safetensors","w":"1.safetensors"}}`, CodeIndex, `"w" occurs twice`},
		"map twice":      {`{"weight_map":{},"weight_map":{}}`, CodeIndex, `"weight_map" occurs twice`},
		"deep":           {`{"metadata":` + strings.Repeat("[", 1<<20) + strings.Repeat("]", 1<<20) + `}`, CodeIndex, "no JSON"},
		"parent":         {one("../" + filepath.Base(filepath.Dir(outside)) + "/x.safetensors"), CodeIndex, "expected one of its folder"},
		"absolute":       {one(outside), CodeIndex, "expected one of its folder"},
		"backslash":      {one(`..\\x.safetensors`), CodeIndex, "expected one of its folder"},
		"sub-folder":     {one("sub/2.safetensors"), CodeIndex, "expected one of its folder"},
		"dot":            {one("."), CodeIndex, "cannot be read"},
		"dots":           {one(".."), CodeIndex, "expected one of its folder"},
		"empty":          {one(""), CodeIndex, "expected one of its folder"},
		"folder":         {one("sub"), CodeIndex, "is a directory"},
		"link out":       {one("link.safetensors"), CodeIndex, "cannot be read"},
		"none":           {one("none.safetensors"), CodeIndex, "no such file"},
		"index":          {one("i.json"), CodeFormat, "i.json"},
		"bad":            {one("bad.safetensors"), safetensors.CodeSize, "bad.safetensors"},
		"lacks":          {`{"weight_map":{"w":"1.safetensors","v":"1.safetensors","z":"1.safetensors"}}`, CodeIndex, `tensor "z" in "1.safetensors", which lacks it`},
		"has more":       {one("1.safetensors"), CodeIndex, `does not have tensor "v" in "1.safetensors"`},
		"in another":     {`{"weight_map":{"w":"inside.safetensors","v":"1.safetensors"}}`, CodeIndex, `does not have tensor "w" in "1.safetensors"`},
		"many files":     {manyFiles(), CodeIndex, "more than 4096 files"},
	} {
		_, err := Open(put(t, dir, "test.index.json", []byte(c.json)))
		require.ErrorIs(t, err, c.code, name)
		require.ErrorContains(t, err, c.msg, name)
	}
	_, err := Open(put(t, dir, "test.index.json", []byte(`{"weight_map":{"a":"x1","b":"x2"}}`)))
	require.ErrorContains(t, err, "x1")
	require.ErrorContains(t, err, "x2", "all that is wrong is told")
	f, err := Open(put(t, dir, "test.index.json", []byte(`{"weight_map":{"w":"inside.safetensors","v":"inside.safetensors"}}`)))
	require.NoError(t, err, "links within the folder are followed")
	check(t, f, "w", "F32")
}

func manyFiles() string {
	var b strings.Builder
	for i := range 5000 {
		b.WriteString(`,"` + strings.Repeat("a", i%7) + string(rune('0'+i%10)) + string(rune(0x4e00+i)) + `":"` + string(rune(0x4e00+i)) + `"`)
	}
	return `{"weight_map":{` + b.String()[1:] + `}}`
}

func TestFaults(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		b    []byte
		code diag.Code
		msg  string
	}{
		"text.txt":           {[]byte("hello, world"), CodeFormat, `begins with "hello, w"`},
		"empty":              {nil, CodeFormat, `begins with ""`},
		"bad.safetensors":    {[]byte("xx"), safetensors.CodeSize, "2 bytes"},
		"bad.npy":            {[]byte("xx"), npy.CodeMagic, ""},
		"more.npy":           {append(npyOf(t, x(1)), 0), npy.CodeHeader, "bytes follow"},
		"bad.npz":            {[]byte("xx"), npy.CodeArchive, ""},
		"bad.gguf":           {[]byte("xx"), gguf.CodeSyntax, ""},
		"part.gguf":          {ggufOf("split.count", 3, 2), CodeFormat, "one part of several"},
		"bad.pt":             {[]byte("xx"), torchpt.CodeFormat, ""},
		"short.zip":          {[]byte("PK\x03\x04"), torchpt.CodeFormat, ""},
		"length-is-a-brace.": {append([]byte{'{', 0, 0, 0, 0, 0, 0, 0, '{'}, make([]byte, 10)...), safetensors.CodeSize, "header has 123 bytes"},
	} {
		_, err := Open(put(t, dir, name, c.b))
		require.ErrorIs(t, err, c.code, name)
		require.ErrorContains(t, err, c.msg, name)
		require.ErrorContains(t, err, name)
	}
	f, err := Open(put(t, dir, "whole.gguf", ggufOf("split.count", 1, 2)))
	require.NoError(t, err)
	check(t, f, "w", "F32")
	_, err = Open(dir)
	require.ErrorIs(t, err, CodeRead)
	_, err = Open(filepath.Join(dir, "none"))
	require.ErrorIs(t, err, os.ErrNotExist)
	f, err = Open("../torchpt/testdata/legacy.pt") // of before PyTorch 1.6
	require.NoError(t, err)
	require.Equal(t, "float32", f.Format("0.weight"))
	_, err = Open("../torchpt/testdata/hostile.pt")
	require.ErrorIs(t, err, torchpt.CodeObject)
	require.ErrorContains(t, err, "hostile.pt")
}

// The documented example of each code is a file that has the fault.
func TestDocumentedExamples(t *testing.T) {
	dir := t.TempDir()
	for code, c := range map[diag.Code]struct{ text, path string }{
		CodeFormat: {"a file of the text hello, world", put(t, dir, "a.txt", []byte("hello, world"))},
		CodeIndex:  {`an index {"weight_map":{"w":"../x.safetensors"}}`, put(t, dir, "i.json", []byte(`{"weight_map":{"w":"../x.safetensors"}}`))},
		CodeName:   {`weights.Open("state.pth#model") for a file of fc.weight`, put(t, dir, "state.pth", st(t, safetensors.Named{Name: "fc.weight", Array: x(1)})) + "#model"},
	} {
		info, ok := diag.Lookup(code)
		require.True(t, ok)
		require.Equal(t, info.Example, c.text)
		_, err := Open(c.path)
		require.ErrorIs(t, err, code)
	}
}

func FuzzIndex(f *testing.F) {
	dir := f.TempDir()
	put(f, dir, "1.safetensors", st(f, safetensors.Named{Name: "w", Array: x(2)}))
	f.Add([]byte(`{"weight_map":{"w":"1.safetensors"},"metadata":{"a":1}}`))
	f.Add([]byte(`{"weight_map":{"w":"../x"}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		file, err := openIndex(b, filepath.Join(dir, "i.json"))
		if err == nil {
			for _, name := range file.Names() {
				_, err := file.Get(name)
				require.NoError(t, err)
			}
		}
	})
}
