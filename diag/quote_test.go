package diag_test

import (
	"errors"
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

func TestNamesDoNothing(t *testing.T) {
	for s, want := range map[string]string{
		"fc1.weight": "fc1.weight", "层.重み é": "层.重み é", "": "", `a"b\`: `a"b\`, "\ufffd": "\ufffd",
		"\x1b[31mred": `"\u001b[31mred"`, "a\nb\tc": `"a\nb\tc"`, "\u202egnp.exe": `"\u202egnp.exe"`, "\u009b2J": `"\u009b2J"`,
		"a\xffb": `"a\ufffdb"`, "\x7f": `"\u007f"`, "a\"\\\r": `"a\"\\\u000d"`, "\U000e0041": `"\U000e0041"`, "\xef\xbf": `"\ufffd\ufffd"`,
	} {
		require.Equal(t, want, diag.Name(s), "%q", s)
	}
	require.Equal(t, "a\n\tb \\u001b[2J", diag.Plain("a\n\tb \x1b[2J"))
	rapid.Check(t, func(t *rapid.T) {
		s := string(rapid.SliceOf(rapid.Byte()).Draw(t, "s"))
		for _, r := range diag.Name(s) + diag.Plain(s) {
			require.True(t, r >= ' ' && r != 0x7f || r == '\n' || r == '\t', "%q", r)
		}
		require.NotContains(t, diag.Name(s), "\n")
		require.Equal(t, diag.Plain(s), diag.Plain(diag.Plain(s)))
	})
}

// What a message says of a file does nothing on a terminal, wherever in the message it is.
func TestMessagesDoNothing(t *testing.T) {
	bad := "\x1b]0;x\a\u202e\n"
	e := &diag.Error{Code: "FX0001", Pos: diag.Pos{File: bad, Line: 1}, Op: bad, Msg: "m " + bad, Hint: bad, Related: []diag.Related{{Pos: diag.Pos{File: bad}, Msg: bad}}, Err: errors.New(bad)}
	for _, e := range []*diag.Error{e, {Node: bad, Msg: "m"}} {
		text := e.Error()
		require.NotContains(t, text, "\x1b")
		require.NotContains(t, text, "\a")
		require.NotContains(t, text, "\u202e")
	}
	require.Equal(t, `node %"a\nb": m`, (&diag.Error{Node: "a\nb", Msg: "m"}).Error())
}
