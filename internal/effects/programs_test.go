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

// placed matches a row that begins with a line of code.
var placed = regexp.MustCompile(`^    (\w+)\.go:\d+`)

// ours leaves rows out that are about the code of other packages, which changes without this one;
// what keeps a function from being replayed stays, without its line.
func ours(text string) (list []string) {
	title := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		m := placed.FindStringSubmatch(line)
		switch {
		case m == nil:
			title = line
		case m[1] == "memory" || m[1] == "calls" || m[1] == "when":
		case title == "  breaks":
			line = "    another package" + placed.ReplaceAllString(line, "")
		default:
			continue
		}
		list = append(list, strings.Join(strings.Fields(line), " "))
	}
	return list
}

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
	require.Equal(t, 139, n)
	got := ours(b.String())
	const file = "testdata/programs/want.txt"
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(strings.Join(got, "\n")), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, strings.Split(string(want), "\n"), got)
}
