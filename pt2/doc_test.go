package pt2_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/pt2"
)

var update = flag.Bool("update", false, "write the list of operators into docs/pt2.md")

// operators is the list of operators for docs/pt2.md: the overloads of each.
func operators() string {
	overloads := map[string][]string{}
	var names []string
	for _, name := range pt2.Operators() {
		base, overload, has := name, "", false
		if !strings.HasPrefix(name, "_operator") && !strings.HasPrefix(name, "torch") && !strings.HasPrefix(name, "higher_order") && !strings.HasPrefix(name, "math") && !strings.HasPrefix(name, "builtins") {
			base, overload, has = strings.Cut(name, ".")
		}
		if !slices.Contains(names, base) {
			names = append(names, base)
		}
		if !has {
			overload = "default"
		}
		overloads[base] = append(overloads[base], overload)
	}
	var list []string
	for _, base := range names {
		text := "`" + base + "`"
		if o := overloads[base]; len(o) > 1 || o[0] != "default" {
			text += " (" + strings.Join(o, ", ") + ")"
		}
		list = append(list, text)
	}
	return fmt.Sprintf("%d operators, %d with their overloads:\n\n%s.\n", len(names), len(pt2.Operators()), strings.Join(list, ", "))
}

// TestDocs compares the list of operators in docs/pt2.md with the table; -update writes it.
func TestDocs(t *testing.T) {
	const file, mark = "../docs/pt2.md", "<!-- operators -->\n"
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	before, after, found := strings.Cut(string(text), mark)
	require.True(t, found)
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(before+mark+"\n"+operators()), 0o644))
		return
	}
	require.Equal(t, "\n"+operators(), after, "go test ./pt2 -run TestDocs -update")
}
