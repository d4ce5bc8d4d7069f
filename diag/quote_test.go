package diag_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofx-dev/gofx/diag"
)

func TestQuoteIsALiteralOfASCII(t *testing.T) {
	require.Equal(t, `"a\"b\\\n\t\x00\xc3\xa9"`, diag.Quote("a\"b\\\n\t\x00é"))
	rapid.Check(t, func(t *rapid.T) {
		s := string(rapid.SliceOf(rapid.Byte()).Draw(t, "s"))
		q := diag.Quote(s)
		for _, c := range []byte(q) {
			require.True(t, c >= ' ' && c <= '~')
		}
		back, err := strconv.Unquote(q)
		require.NoError(t, err)
		require.Equal(t, s, back)
	})
}
