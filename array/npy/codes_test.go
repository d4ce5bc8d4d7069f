package npy

import (
	"bytes"
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
