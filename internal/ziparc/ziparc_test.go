package ziparc

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// packed makes an archive of members whose names tell whether they are stored.
func packed(t testing.TB, names ...string) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range names {
		h := &zip.FileHeader{Name: name, Method: zip.Deflate}
		if strings.HasPrefix(name, "stored") {
			h.Method = zip.Store
		}
		f, err := w.CreateHeader(h)
		require.NoError(t, err)
		_, err = io.WriteString(f, "data of "+name)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}

// directory returns the place of the i-th record of the directory.
func directory(b []byte, i int) int {
	at := bytes.Index(b, []byte("PK\x01\x02"))
	for ; i > 0; i-- {
		at += 4 + bytes.Index(b[at+4:], []byte("PK\x01\x02"))
	}
	return at
}

func TestMembers(t *testing.T) {
	b := packed(t, "stored/a", "b")
	a, err := Open(b)
	require.NoError(t, err)
	require.Len(t, a.Members, 2)
	for _, m := range a.Members {
		got, err := m.Bytes(100)
		require.NoError(t, err)
		require.Equal(t, "data of "+m.Name, string(got))
		require.Equal(t, m, a.Find(m.Name))
		_, err = m.Bytes(3)
		require.ErrorContains(t, err, "more than 3")
	}
	require.Nil(t, a.Find("c"))
	at := bytes.Index(b, []byte("data of stored"))
	stored, ok, err := a.Find("stored/a").Stored()
	require.True(t, ok)
	require.NoError(t, err)
	require.Same(t, &b[at], &stored[0], "stored members are slices of the archive")
	_, ok, _ = a.Find("b").Stored()
	require.False(t, ok)
	b[at]++
	_, err = a.Find("stored/a").Bytes(100)
	require.ErrorIs(t, err, zip.ErrChecksum)
}

func TestFaults(t *testing.T) {
	for name, c := range map[string]struct {
		change func(b []byte) []byte
		msg    string
	}{
		"no archive": {func([]byte) []byte { return []byte("PK\x03\x04") }, "not a valid zip"},
		"empty":      {func([]byte) []byte { return nil }, "not a valid zip"},
		"cut":        {func(b []byte) []byte { return b[:len(b)/2] }, "not a valid zip"},
		"encrypted":  {func(b []byte) []byte { b[directory(b, 0)+8] |= 1; return b }, "encrypted"},
		"method":     {func(b []byte) []byte { b[directory(b, 1)+10] = 12; return b }, "method 12"},
		"two sizes":  {func(b []byte) []byte { b[directory(b, 0)+24]++; return b }, "two sizes"},
		"behind":     {func(b []byte) []byte { b[directory(b, 1)+22] = 1; return b }, "ends after"},
		"bomb":       {func(b []byte) []byte { b[directory(b, 1)+27] = 0x7f; return b }, "more than 268435456"},
		"twice":      {func([]byte) []byte { return packed(t, "a", "b", "a") }, `"a" occurs twice`},
		"long name":  {func([]byte) []byte { n := strings.Repeat("\x01", 500); return packed(t, n, n) }, `..." occurs twice`},
		"one for two": {func(b []byte) []byte {
			copy(b[directory(b, 1)+42:], b[directory(b, 0)+42:directory(b, 0)+46])
			return b
		}, "overlap"},
		"no header": {func(b []byte) []byte {
			binary.LittleEndian.PutUint32(b[directory(b, 1)+42:], 3)
			return b
		}, "not a valid zip"},
	} {
		_, err := Open(c.change(packed(t, "stored", "b")))
		require.ErrorContains(t, err, c.msg, name)
	}
}

func FuzzOpen(f *testing.F) {
	f.Add(packed(f, "stored", "b", "c/d"))
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := Open(b)
		if err != nil {
			return
		}
		total := 0
		for _, m := range a.Members {
			if got, err := m.Bytes(1 << 20); err == nil {
				require.EqualValues(t, m.Size, len(got))
				total += len(got)
			}
		}
		require.LessOrEqual(t, total, 1100*len(b), "the bound of deflate")
	})
}
