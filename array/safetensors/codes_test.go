package safetensors

import (
	"encoding/binary"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
)

// The documented example of each code is a file, or a call, that has the fault.
func TestDocumentedExamples(t *testing.T) {
	form := regexp.MustCompile(`^8-byte length (\d+), header (.*), data of (\d+) bytes$`)
	x := array.New(array.F32)
	calls := map[string]func() error{
		`safetensors.Write(w, []safetensors.Named{{"a", x}, {"a", x}}, nil)`: func() error {
			return Write(&strings.Builder{}, []Named{{"a", x}, {"a", x}}, nil)
		},
		`safetensors.ReadFile("no/such/file.safetensors")`: func() error {
			_, err := ReadFile("no/such/file.safetensors")
			return err
		},
		`a file whose metadata has "crc32c.a":"00000000" for a tensor a with other data`: func() error {
			f, err := Parse(file(`{"__metadata__":{"crc32c.a":"00000000"},"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}`, 1))
			require.NoError(t, err)
			_, err = f.Get("a")
			return err
		},
	}
	for _, c := range []diag.Code{CodeSize, CodeSyntax, CodeDType, CodeLength, CodeRange, CodeOverlap, CodeName, CodeWrite, CodeRead, CodeChecksum} {
		info, ok := diag.Lookup(c)
		require.True(t, ok, c)
		if call, ok := calls[info.Example]; ok {
			require.ErrorIs(t, call(), c)
			continue
		}
		m := form.FindStringSubmatch(info.Example)
		require.NotNil(t, m, "%s: %s", c, info.Example)
		length, err := strconv.Atoi(m[1])
		require.NoError(t, err)
		n, err := strconv.Atoi(m[3])
		require.NoError(t, err)
		b := file(m[2], n)
		binary.LittleEndian.PutUint64(b, uint64(length))
		f, err := Parse(b)
		if err == nil {
			_, err = f.Get("a")
		}
		require.ErrorIs(t, err, c, info.Example)
	}
}
