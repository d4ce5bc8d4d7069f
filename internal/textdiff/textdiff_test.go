package textdiff

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestUnified(t *testing.T) {
	require.Empty(t, Unified("a", "b", "x\n", "x\n"))
	a := "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n"
	b := strings.Replace(strings.Replace(a, "2\n", "two\n", 1), "15\n", "", 1)
	require.Equal(t, `--- a
+++ b
@@ -1,5 +1,5 @@
 1
-2
+two
 3
 4
 5
@@ -12,5 +12,4 @@
 12
 13
 14
-15
 16
`, Unified("a", "b", a, b))
	require.Equal(t, "--- a\n+++ b\n@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n", Unified("a", "b", "", "x"))
}

// TestScript checks that the two sides of every edit script are the two texts.
func TestScript(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SliceOfN(rapid.SampledFrom([]string{"a\n", "b\n", "c\n"}), 0, 30)
		a, b := text.Draw(t, "a"), text.Draw(t, "b")
		var x, y []string
		changed := 0
		for _, e := range Edits(strings.Join(a, ""), strings.Join(b, "")) {
			if e.Op != '+' {
				x = append(x, e.Text)
			}
			if e.Op != '-' {
				y = append(y, e.Text)
			}
			if e.Op != ' ' {
				changed++
			}
		}
		require.Equal(t, strings.Join(a, ""), strings.Join(x, ""))
		require.Equal(t, strings.Join(b, ""), strings.Join(y, ""))
		require.Equal(t, len(a)+len(b)-2*longest(a, b), changed, "the script is a shortest one")
	})
}

// longest returns the length of the longest common subsequence.
func longest(a, b []string) int {
	row := make([]int, len(b)+1)
	for _, x := range a {
		prev := 0
		for k, y := range b {
			old := row[k+1]
			if x == y {
				row[k+1] = prev + 1
			} else {
				row[k+1] = max(row[k+1], row[k])
			}
			prev = old
		}
	}
	return row[len(b)]
}
