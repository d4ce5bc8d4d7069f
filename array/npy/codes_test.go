package npy

import (
	"bytes"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
)

// The documented example of each code is a file, or a call, that has the fault.
func TestDocumentedExamples(t *testing.T) {
	form := regexp.MustCompile(`^version (\d), header (.*), data of (\d+) bytes$`)
	archives := map[string]func() error{
		"an archive with a member notes.txt": func() error {
			_, err := ParseArchive(archive(t, "notes.txt", "x"))
			return err
		},
		"an archive with an array a, of which b is read": func() error {
			a, err := ParseArchive(archive(t, "a.npy", string(file(1, good, 1, 2))))
			require.NoError(t, err)
			_, err = a.Get("b")
			return err
		},
	}
	for _, c := range []diag.Code{CodeArchive, CodeName} {
		info, ok := diag.Lookup(c)
		require.True(t, ok, c)
		require.ErrorIs(t, archives[info.Example](), c)
	}
	for _, c := range []diag.Code{CodeMagic, CodeHeader, CodeDType, CodeLimit, CodeRead, CodeWrite} {
		info, ok := diag.Lookup(c)
		require.True(t, ok, c)
		if info.Example == "npy.Write(w, array.New(array.BF16, 1))" {
			require.ErrorIs(t, Write(&bytes.Buffer{}, array.New(array.BF16, 1)), c)
			continue
		}
		m := form.FindStringSubmatch(info.Example)
		require.NotNil(t, m, "%s: %s", c, info.Example)
		n, err := strconv.Atoi(m[3])
		require.NoError(t, err)
		_, err = Read(bytes.NewReader(file(m[1][0]-'0', m[2], make([]byte, n)...)), 1<<20)
		require.ErrorIs(t, err, c, info.Example)
	}
}

// What is no file of arrays because the system does not give it is not called one that is cut off.
func TestUnreadable(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{dir, filepath.Join(dir, "none")} {
		for _, open := range []func(string) error{
			func(path string) error { _, err := ReadFile(path); return err },
			func(path string) error { _, err := OpenArchive(path); return err },
		} {
			err := open(path)
			require.ErrorIs(t, err, CodeRead)
			require.ErrorContains(t, err, path)
			require.ErrorContains(t, err, "check that the path is a file that can be read")
		}
	}
}
