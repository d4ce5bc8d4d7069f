package fx_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReadmeShowsTheExample(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	src, err := os.ReadFile("example_test.go")
	require.NoError(t, err)
	code, output, found := strings.Cut(string(src), "\t// Output:\n")
	code = strings.NewReplacer("package fx_test\n", "package main\n", "func Example() {", "func main() {").Replace(code)
	require.True(t, found)
	require.Contains(t, string(readme), "```go\n"+strings.TrimRight(code, "\n")+"\n}\n```")
	var lines []string
	for _, l := range strings.Split(strings.TrimRight(strings.TrimSuffix(output, "}\n"), "\n"), "\n") {
		lines = append(lines, strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(l), "//"), " "))
	}
	require.Contains(t, string(readme), "```\n"+strings.Join(lines, "\n")+"\n```")
}
