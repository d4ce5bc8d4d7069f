package gosrc_test

import (
	"go/build/constraint"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/codegen/gosrc"
	"github.com/gofx-dev/gofx/graph"
)

// texts are meant to break out of comments.
var texts = []string{"", "x", "a\nb", "a\r\nb", "a\u2028b", "a\u2029b", "a\u0085b", "*/ x /*", "+build windows", " +build windows", "\n+build windows", "\r+build x", "\t+build x",
	"go:build windows", "//go:build windows", "\x00\x01\x1b[31m", "\u202ex", "\ufeff+build x", "\xff\xfe", "é 世界", strings.Repeat("+build x ", 500), strings.Repeat("\n+build x", 500), strings.Repeat("y", 100_000)}

// fit checks a line of a comment.
func fit(t *testing.T, from, line string, most int) {
	t.Helper()
	require.LessOrEqual(t, len([]rune(line)), most, "%.100q", from)
	require.False(t, strings.ContainsFunc(line, func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }), "%.100q gives %q", from, line)
	for _, behind := range []string{"// ", "//\t"} {
		require.False(t, constraint.IsPlusBuild(behind+line), "%.100q gives %q", from, line)
		require.False(t, constraint.IsGoBuild(behind+line), "%.100q gives %q", from, line)
	}
}

func TestCommentsAreText(t *testing.T) {
	for _, text := range texts {
		fit(t, text, gosrc.Comment(text), 510)
		fit(t, text, gosrc.CommentLine(text), 120)
		fit(t, text, gosrc.ScopeComment(graph.Scope{Path: text, Type: "x." + text}), 120)
		lines := gosrc.Paragraph(text)
		require.LessOrEqual(t, len(lines), 41)
		for _, line := range lines {
			fit(t, text, line, 110)
		}
		a := &gosrc.About{Origin: text, Doc: text, Inputs: []string{text}}
		for _, line := range a.Lines() {
			fit(t, text, line, 120)
		}
		fit(t, text, "x"+a.Input(0), 130)
		require.Empty(t, a.Output(0))
	}
}

func TestParagraphs(t *testing.T) {
	require.Equal(t, []string{"first line", "second"}, gosrc.Paragraph("first  line\n\nsecond\n"))
	lines := gosrc.Paragraph(strings.Repeat("word ", 100))
	require.Len(t, lines, 5)
	require.Len(t, lines[0], 99)
	require.Equal(t, "(+build x)", gosrc.Paragraph(strings.Repeat("a", 99) + " +build x")[1])
	long := gosrc.Paragraph(strings.Repeat("line\n", 100))
	require.Len(t, long, 41)
	require.Equal(t, "...", long[40])
}
