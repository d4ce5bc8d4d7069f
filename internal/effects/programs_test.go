package effects

import (
	"context"
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write testdata/programs/want.txt")

// elsewhere matches lines of files of other packages, which change without this one.
var elsewhere = regexp.MustCompile(`(?m)^    (\w+)\.go:\d+ +`)

// Each program's summary is as in want.txt, which was read line by line.
func TestProgramsHaveTheirSummaries(t *testing.T) {
	p, err := Open(context.Background(), "./testdata/programs", os.Environ())
	require.NoError(t, err)
	var b strings.Builder
	n := 0
	for _, name := range p.Package.Types.Scope().Names() {
		if fn, err := p.Function(name); err == nil && fn.Synthetic == "" && fn.Object().Exported() && fn.Signature.Recv() == nil {
			n++
			require.NoError(t, p.Summary(fn).Explain(&b))
		}
	}
	require.Equal(t, 87, n)
	got := elsewhere.ReplaceAllStringFunc(b.String(), func(s string) string {
		if strings.Contains(s, "memory.go") || strings.Contains(s, "calls.go") {
			return s
		}
		return "    of another package  "
	})
	const file = "testdata/programs/want.txt"
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, strings.Split(string(want), "\n"), strings.Split(got, "\n"))
}
