package npy

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
)

// archive makes an archive of files, in order; every second one is deflated.
func archive(t testing.TB, files ...string) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		f, err := w.CreateHeader(&zip.FileHeader{Name: files[i], Method: []uint16{zip.Store, zip.Deflate}[i/2%2]})
		require.NoError(t, err)
		_, err = io.WriteString(f, files[i+1])
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}

func TestArchiveRoundTrip(t *testing.T) {
	var all []Named
	for i, d := range descrs {
		a := array.New(d.dtype, 2, i)
		for j := range a.Len() {
			array.SetInt64At(a, j, int64(j%2))
		}
		all = append(all, Named{"a/" + d.name, array.Permute(a, 1, 0)})
	}
	all = append(all, Named{"", array.Scalar(float32(3))}, Named{"é", array.New(array.U8, 2<<20)})
	for _, deflate := range []bool{false, true} {
		var b, again bytes.Buffer
		require.NoError(t, WriteArchive(&b, all, deflate))
		require.NoError(t, WriteArchive(&again, all, deflate))
		require.Equal(t, b.Bytes(), again.Bytes())
		require.Equal(t, deflate, b.Len() < 1<<20)
		path := filepath.Join(t.TempDir(), "x.npz")
		require.NoError(t, WriteArchiveFile(path, all, deflate))
		a, err := OpenArchive(path)
		require.NoError(t, err)
		require.Len(t, a.Names(), len(all))
		for i, x := range all {
			require.Equal(t, x.Name, a.Names()[i])
			d, shape, ok := a.Type(x.Name)
			require.True(t, ok)
			require.Equal(t, x.Array.DType(), d)
			require.ElementsMatch(t, x.Array.Shape(), shape)
			got, err := a.Get(x.Name)
			require.NoError(t, err)
			require.True(t, array.Equal(x.Array, got), x.Name)
		}
		_, _, ok := a.Type("none")
		require.False(t, ok)
		_, err = a.Get("none")
		require.ErrorIs(t, err, CodeName)
	}
	require.ErrorIs(t, WriteArchive(io.Discard, []Named{{"a", all[0].Array}, {"a", all[0].Array}}, false), CodeWrite)
	require.ErrorIs(t, WriteArchive(io.Discard, []Named{{"a", array.New(array.BF16, 1)}}, false), CodeWrite)
	require.ErrorIs(t, WriteArchive(&failing{0}, all, false), io.ErrShortWrite)
}

// NumPy reads the written files, and its files are read.
func TestArchivesOfNumPy(t *testing.T) {
	python := "/usr/bin/python3"
	if exec.Command(python, "-c", "import numpy").Run() != nil {
		t.Skip("Debian's python3-numpy is not installed, which comes with python3-torch")
	}
	dir := t.TempDir()
	require.NoError(t, WriteArchiveFile(filepath.Join(dir, "in.npz"), []Named{{"x", array.FromSlice([]int16{1, 2, 3, 4, 5, 6}, 2, 3)}}, true))
	cmd := exec.Command(python, "-c", `
import numpy as np
x = np.load("in.npz")["x"]
np.savez("plain.npz", x.T, y=x * 2, s=np.float64(2.5), b=x > 3)
np.savez_compressed("packed.npz", z=np.zeros(1 << 20), f=np.asfortranarray(x), o=np.array([{}], dtype=object))
`)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	get := func(file, name string) *array.Array {
		a, err := OpenArchive(filepath.Join(dir, file))
		require.NoError(t, err)
		x, err := a.Get(name)
		require.NoError(t, err)
		return x
	}
	require.True(t, array.Equal(array.FromSlice([]int16{1, 4, 2, 5, 3, 6}, 3, 2), get("plain.npz", "arr_0")))
	require.True(t, array.Equal(array.FromSlice([]int16{2, 4, 6, 8, 10, 12}, 2, 3), get("plain.npz", "y")))
	require.True(t, array.Equal(array.Scalar(2.5), get("plain.npz", "s")))
	require.True(t, array.Equal(array.FromSlice([]bool{false, false, false, true, true, true}, 2, 3), get("plain.npz", "b")))
	require.True(t, array.Equal(array.FromSlice([]int16{1, 2, 3, 4, 5, 6}, 2, 3), get("packed.npz", "f")))
	require.Equal(t, 1<<20, get("packed.npz", "z").Len())
	a, err := OpenArchive(filepath.Join(dir, "packed.npz"))
	require.NoError(t, err)
	require.Equal(t, []string{"z", "f", "o"}, a.Names(), "objects are listed, and refused when they are read")
	d, _, ok := a.Type("o")
	require.True(t, ok)
	require.Equal(t, array.Invalid, d)
	_, err = a.Get("o")
	require.ErrorIs(t, err, CodeDType)
	require.ErrorContains(t, err, `npz: array "o": byte 20: element type is "|O"`)
}

func TestFaultyArchives(t *testing.T) {
	one := string(file(1, good, 1, 2))
	for name, c := range map[string]struct {
		b    []byte
		code diag.Code
		msg  string
	}{
		"no archive":   {[]byte(one), CodeArchive, "npz: archive cannot be read"},
		"other member": {archive(t, "a.npy", one, "notes.txt", "x"), CodeArchive, `member "notes.txt" is no array`},
		"no array":     {archive(t, "a.npy", "x"), CodeMagic, `array "a": byte 0`},
		"header":       {archive(t, "a.npy", string(file(1, "{}"))), CodeHeader, "lacks a key"},
		"cut":          {archive(t, "a.npy", one[:len(one)-1]), CodeRead, "data ends after 1 bytes"},
		"cut in data":  {archive(t, "a.npy", string(file(1, "{'descr': '|u1', 'fortran_order': False, 'shape': (60,), }\n", 1))), CodeRead, "data ends after 1 bytes"},
		"more behind":  {archive(t, "a.npy", one+"x"), CodeHeader, "bytes follow the array"},
		"huge":         {archive(t, "a.npy", string(file(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296)}"))), CodeLimit, "more than"},
		"checksum":     {bytes.Replace(archive(t, "a.npy", one), []byte("\n\x01\x02"), []byte("\n\x01\x03"), 1), CodeArchive, "checksum"},
	} {
		a, err := ParseArchive(c.b)
		if err == nil {
			_, err = a.Get("a")
		}
		require.ErrorIs(t, err, c.code, name)
		require.ErrorContains(t, err, c.msg, name)
	}
	_, err := OpenArchive(filepath.Join(t.TempDir(), "none"))
	require.ErrorIs(t, err, CodeRead)
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = OpenArchive(t.TempDir())
	require.ErrorIs(t, err, CodeRead)
}

// A small archive does not unpack to gigabytes, whatever its directory says.
func TestBombs(t *testing.T) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	f, err := w.Create("a.npy")
	require.NoError(t, err)
	const n = 300 << 20
	_, err = f.Write(file(1, fmt.Sprintf("{'descr': '|u1', 'fortran_order': False, 'shape': (%d,)}", n)))
	require.NoError(t, err)
	zeros := make([]byte, 1<<20)
	for range n >> 20 {
		_, err = f.Write(zeros)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	require.Less(t, b.Len(), 1<<20)
	_, err = ParseArchive(b.Bytes())
	require.ErrorIs(t, err, CodeArchive)
	require.ErrorContains(t, err, "more than 268435456")
	// A directory that says less than there is: reading ends there.
	lie := bytes.Clone(b.Bytes())
	at := bytes.LastIndex(lie, []byte("PK\x01\x02"))
	copy(lie[at+24:], []byte{0, 1, 0, 0})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	a, err := ParseArchive(lie)
	if err == nil {
		_, err = a.Get("a")
	}
	runtime.ReadMemStats(&after)
	require.Error(t, err)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(8<<20))
}

func TestTooLargeIsAnError(t *testing.T) {
	defer array.SetMaxBytes(array.SetMaxBytes(100))
	_, err := Read(bytes.NewReader(file(1, strings.Replace(good, "(2,)", "(101,)", 1), make([]byte, 101)...)), 1000)
	require.ErrorIs(t, err, array.CodeTooLarge)
}

func FuzzParseArchive(f *testing.F) {
	f.Add(archive(f, "a.npy", string(file(1, good, 1, 2)), "b.npy", string(file(2, good, 1, 2))))
	f.Fuzz(func(t *testing.T, in []byte) {
		a, err := ParseArchive(in)
		if err != nil {
			require.ErrorIs(t, err, CodeArchive)
			return
		}
		for _, name := range a.Names() {
			d, shape, ok := a.Type(name)
			require.True(t, ok)
			x, err := a.Get(name)
			if err != nil {
				var e *diag.Error
				require.ErrorAs(t, err, &e)
				continue
			}
			require.Equal(t, d, x.DType())
			require.Len(t, shape, x.Rank())
		}
	})
}
