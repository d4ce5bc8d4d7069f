package npy

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
)

// file makes a .npy file of the given version.
func file(version byte, header string, data ...byte) []byte {
	b := append([]byte(magic), version, 0)
	if version == 1 {
		b = binary.LittleEndian.AppendUint16(b, uint16(len(header)))
	} else {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(header)))
	}
	return append(append(b, header...), data...)
}

const good = "{'descr': '|u1', 'fortran_order': False, 'shape': (2,), }\n"

func TestRoundTrip(t *testing.T) {
	dir := t.TempDir()
	for _, d := range descrs {
		for _, shape := range [][]int{{}, {3}, {2, 3}, {4, 0, 2}, {2, 3, 4}} {
			a := array.New(d.dtype, shape...)
			for i := range a.Len() {
				array.SetInt64At(a, i, int64(i%2))
			}
			v := array.Flip(a)
			if a.Rank() == 3 {
				v = array.Permute(a, 2, 0, 1)
			}
			path := filepath.Join(dir, "a.npy")
			require.NoError(t, WriteFile(path, v))
			got, err := ReadFile(path)
			require.NoError(t, err)
			require.True(t, array.Equal(v, got), "%s %v", d.name, shape)
			b, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Zero(t, (len(b)-a.Len()*d.dtype.Size())%64, "data is aligned")
		}
	}
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 1, "no temporary files stay")
}

// Bytes as numpy.save writes them for np.array([[1, 2], [3, 4]], dtype="<i2").
func TestWriteMatchesNumPy(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, Write(&b, array.FromSlice([]int16{1, 2, 3, 4}, 2, 2)))
	head := "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 2), }"
	want := magic + "\x01\x00\x76\x00" + head + strings.Repeat(" ", 117-len(head)) + "\n\x01\x00\x02\x00\x03\x00\x04\x00"
	require.Equal(t, want, b.String())
	b.Reset()
	require.NoError(t, Write(&b, array.New(array.Bool, 7)))
	require.Contains(t, b.String(), "'descr': '|b1', 'fortran_order': False, 'shape': (7,), }")
}

func TestReadForms(t *testing.T) {
	for _, c := range []struct {
		name string
		in   []byte
		want *array.Array
	}{
		{"fortran order", file(1, "{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3), }", 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0), array.FromSlice([]int16{1, 3, 5, 2, 4, 6}, 2, 3)},
		{"big endian", file(2, `{"shape": (1,), "descr": ">f4", "fortran_order": False}`, 0x3f, 0x80, 0, 0), array.FromSlice([]float32{1})},
		{"big endian, fortran", file(3, "{'descr':'>u2','fortran_order':True,'shape':(2,1,2)}", 0, 1, 0, 2, 0, 3, 0, 4), array.FromSlice([]uint16{1, 3, 2, 4}, 2, 1, 2)},
		{"native", file(1, "{'descr': '=i1', 'fortran_order': False, 'shape': ()}", 0xff), array.Scalar(int8(-1))},
		{"one byte, order given", file(1, "{'descr': '<b1', 'fortran_order': False, 'shape': (1,)}", 1), array.FromSlice([]bool{true})},
	} {
		r := bytes.NewReader(append(c.in, 'x'))
		a, err := Read(r, 100)
		require.NoError(t, err, c.name)
		require.True(t, array.Equal(c.want, a), "%s: %s", c.name, array.Format(a, 99))
		require.Equal(t, 1, r.Len(), "bytes after the array were read")
	}
}

func TestFaultsAreReported(t *testing.T) {
	with := func(old, new string) []byte { return file(1, strings.Replace(good, old, new, 1), 1, 2) }
	for _, c := range []struct {
		name string
		in   []byte
		code diag.Code
		msg  string
	}{
		{"empty", nil, CodeMagic, `byte 0: file begins with ""`},
		{"other file", []byte("PK\x03\x04 and so on"), CodeMagic, `byte 0: file begins with "PK`},
		{"version", file(4, good), CodeMagic, "byte 6: version is 4"},
		{"length cut", []byte(magic + "\x01\x00\x01"), CodeRead, "byte 9: header ends early"},
		{"header cut", file(1, good)[:20], CodeRead, "byte 20: header ends early"},
		{"header too long", []byte(magic + "\x02\x00\xff\xff\xff\xff"), CodeHeader, "byte 8: header has 4294967295 bytes"},
		{"no dictionary", file(1, "[]"), CodeHeader, "byte 10: found \"[\", expected '{'"},
		{"empty header", file(2, ""), CodeHeader, "byte 12: found the end"},
		{"missing key", file(1, "{'descr': '<f4'}"), CodeHeader, "lacks a key"},
		{"unknown key", with("shape", "colour"), CodeHeader, `found key "colour"`},
		{"key twice", with("shape", "descr"), CodeHeader, `key "descr" occurs twice`},
		{"trailing", file(1, good+"x", 1, 2), CodeHeader, "expected nothing more"},
		{"escape", with("'descr'", `'des\x63r'`), CodeHeader, "without escapes"},
		{"open string", file(1, "{'descr"), CodeHeader, "end of the string"},
		{"key is a number", file(1, "{1: 2}"), CodeHeader, "expected a string"},
		{"no colon", file(1, "{'descr' 1}"), CodeHeader, "expected ':'"},
		{"no comma", with("',", "'"), CodeHeader, "expected '}'"},
		{"bool", with("False", "0"), CodeHeader, "True or False"},
		{"complex", with("|u1", "<c8"), CodeDType, `element type is "<c8"`},
		{"object", with("|u1", "|O"), CodeDType, `element type is "|O"`},
		{"order missing", with("|u1", "|f4"), CodeDType, `element type is "|f4"`},
		{"structure", with("'|u1'", "[('a', '<f4')]"), CodeDType, "structure"},
		{"descr is a number", with("'|u1'", "4"), CodeHeader, "expected a string"},
		{"shape is a number", with("(2,)", "2"), CodeHeader, "expected '('"},
		{"negative", with("(2,)", "(-2,)"), CodeHeader, "non-negative"},
		{"huge dimension", with("(2,)", "(99999999999999999999,)"), CodeHeader, "20 digits"},
		{"open shape", with("(2,)", "(2 3)"), CodeHeader, "expected ')'"},
		{"rank", with("(2,)", "("+strings.Repeat("1,", 65)+")"), CodeHeader, "more than 64 dimensions"},
		{"limit", with("(2,)", "(1001,)"), CodeLimit, "byte 60: array has more than 1000 bytes"},
		{"overflow", with("(2,)", "(4294967296, 4294967296)"), CodeLimit, "more than 1000 bytes"},
		{"data cut", with("(2,)", "(3,)"), CodeRead, "data ends after 2 bytes, expected 3"},
	} {
		_, err := Read(bytes.NewReader(c.in), 1000)
		require.ErrorIs(t, err, c.code, c.name)
		require.ErrorContains(t, err, c.msg, c.name)
	}
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	_, err := ReadFile(filepath.Join(dir, "none"))
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorIs(t, err, CodeRead)
	path := filepath.Join(dir, "a.npy")
	require.NoError(t, os.WriteFile(path, file(1, good, 1, 2, 3), 0o600))
	_, err = ReadFile(path)
	require.ErrorIs(t, err, CodeHeader)
	require.ErrorContains(t, err, path)
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	require.ErrorIs(t, WriteFile(path, array.New(array.BF16, 1)), CodeWrite)
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, before, after, "a failed write leaves the file")
	require.Error(t, WriteFile(filepath.Join(dir, "none", "a.npy"), array.New(array.F32, 1)))
	require.Error(t, WriteFile(dir, array.New(array.F32, 1)))
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 1)
}

type failing struct{ left int }

func (f *failing) Write(b []byte) (int, error) {
	if f.left--; f.left < 0 {
		return 0, io.ErrShortWrite
	}
	return len(b), nil
}

func TestWriteErrors(t *testing.T) {
	for n := range 2 {
		require.ErrorIs(t, Write(&failing{n}, array.New(array.F32, 1)), io.ErrShortWrite)
	}
}

// A header that promises much costs no more memory than the bytes that follow.
func TestAllocationIsBoundedByTheData(t *testing.T) {
	in := file(1, "{'descr': '|u1', 'fortran_order': False, 'shape': (1099511627776,)}", make([]byte, 3<<20)...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := Read(bytes.NewReader(in), 1<<50)
	runtime.ReadMemStats(&after)
	require.ErrorIs(t, err, CodeRead)
	require.True(t, errors.Is(err, io.ErrUnexpectedEOF))
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(4*len(in)+1<<20))
	big := array.New(array.U8, 5<<20)
	array.Data[uint8](big)[5<<20-1] = 7
	var b bytes.Buffer
	require.NoError(t, Write(&b, big))
	got, err := Read(&b, 5<<20)
	require.NoError(t, err)
	require.True(t, array.Equal(big, got))
}

func FuzzRead(f *testing.F) {
	f.Add(file(1, good, 1, 2))
	f.Add(file(2, "{'descr': '>i2', 'fortran_order': True, 'shape': (2, 1), }", 1, 2, 3, 4))
	f.Add(file(3, "{'shape':(),'descr':'<f8','fortran_order':False}", 1, 2, 3, 4, 5, 6, 7, 8))
	f.Fuzz(func(t *testing.T, in []byte) {
		a, err := Read(bytes.NewReader(in), 1<<16)
		if err != nil {
			var e *diag.Error
			require.ErrorAs(t, err, &e)
			require.Regexp(t, `^FX801[0-4]$`, string(e.Code))
			return
		}
		var b bytes.Buffer
		require.NoError(t, Write(&b, a))
		again, err := Read(&b, 1<<16)
		require.NoError(t, err)
		require.True(t, array.Equal(a, again))
	})
}

func TestBoolsOfAnyByte(t *testing.T) {
	a, err := Read(bytes.NewReader(file(1, "{'descr': '|b1', 'fortran_order': False, 'shape': (4,), }\n", 2, 0, 255, 1)), 100)
	require.NoError(t, err)
	require.Equal(t, []byte{1, 0, 1, 1}, array.Bytes(a))
}
