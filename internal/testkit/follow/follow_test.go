package follow

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

const page = "Write `a/note.go`:\n\n```go\npackage a\n```\n\nThen\n\n```sh\ncat a/note.go\n```\n\nprints\n\n```\npackage a\n```\n\n" +
	"<!-- a quotation -->\n```go\nnobody writes this\n```\n"

func TestReaderFollowsPages(t *testing.T) {
	r := Reader{Dir: t.TempDir(), Env: os.Environ(), Then: func(line string) []string {
		return []string{"echo after: '" + line + "' >>log; cat a/note.go"}
	}}
	require.NoError(t, r.Follow(page))
	require.Equal(t, []int{1, 1, 1}, []int{r.Files, r.Commands, r.Outputs})
	log, err := os.ReadFile(filepath.Join(r.Dir, "log"))
	require.NoError(t, err)
	require.Equal(t, "after: cat a/note.go\n", string(log))
}

func TestReader_findsMistakesOfThePage(t *testing.T) {
	for name, c := range map[string]struct{ page, want string }{
		"output":  {"```sh\necho two\n```\n\nprints\n\n```\none\n```\n", "it prints\ntwo"},
		"command": {"```sh\necho no; exit 3\n```\n", "echo no; exit 3: exit status 3\nno\n"},
		"file":    {"A file:\n\n```go\npackage a\n```\n", "no name of a file stands before"},
		"block":   {"Look:\n\n```\nbox\n```\n", "a block is neither a file"},
	} {
		t.Run(name, func(t *testing.T) {
			r := Reader{Dir: t.TempDir(), Env: os.Environ()}
			require.ErrorContains(t, r.Follow(c.page), c.want)
		})
	}
}

func TestOutputNamesTheFolderOfTheGuide(t *testing.T) {
	r := Reader{Dir: t.TempDir(), Env: os.Environ()}
	require.NoError(t, r.Follow("```sh\npwd -P\n```\n\nprints\n\n```\n/home/gopher/shop\n```\n"))
}
