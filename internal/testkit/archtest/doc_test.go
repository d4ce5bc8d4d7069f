package archtest

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRoomsSayWhatTheyAre holds that doc.go is where a newcomer reads about a room, and
// that it names the file to read first. A room of one file has both in that file.
func TestRoomsSayWhatTheyAre(t *testing.T) {
	comments, text, files := map[string][]string{}, map[string]string{}, map[string]int{}
	for _, s := range handWritten(t) {
		if strings.HasSuffix(s.path, "_test.go") {
			continue
		}
		room := path.Dir(s.path)
		files[room]++
		if s.file.Doc != nil {
			comments[room] = append(comments[room], path.Base(s.path))
			text[room] = s.file.Doc.Text()
		}
	}
	for _, room := range onDisk(t) {
		if files[room] == 1 {
			require.Len(t, comments[room], 1, "%s has no package comment", room)
			continue
		}
		require.Equal(t, []string{"doc.go"}, comments[room], "the package comment of %s", room)
		first := regexp.MustCompile(`(?s)\bRead\s+(\w+\.go)\s+first`).FindStringSubmatch(text[room])
		require.NotNil(t, first, "%s/doc.go does not say which file to read first", room)
		for _, m := range regexp.MustCompile(`(?:^|[^\w/])(\w+\.go)\b`).FindAllStringSubmatch(text[room], -1) {
			require.FileExists(t, filepath.Join(root(t), room, m[1]), "%s/doc.go names it", room)
		}
		for _, name := range regexp.MustCompile(`\bdocs/[\w-]+\.md\b`).FindAllString(text[room], -1) {
			require.FileExists(t, filepath.Join(root(t), name), "%s/doc.go", room)
		}
	}
}

// TestArchitectureNamesWhatExists holds the files and kernels that docs/architecture.md
// names to the tree, and its picture to the rows. Its walks have a test of their own.
func TestArchitectureNamesWhatExists(t *testing.T) {
	doc := architecture(t)
	picture := between(t, doc, "```rooms\n", "```")
	require.Equal(t, Picture(), picture, "the picture of rooms; archtest.Picture has the text")
	for _, m := range regexp.MustCompile("`kernel\\.(\\w+)`").FindAllStringSubmatch(doc, -1) {
		require.NotNil(t, kernelScope(t).Lookup(m[1]), "kernel.%s", m[1])
	}
	for _, m := range regexp.MustCompile("`([\\w./]+/[\\w.]+\\.(?:go|md))`").FindAllStringSubmatch(doc, -1) {
		require.FileExists(t, filepath.Join(root(t), m[1]))
	}
}

func architecture(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root(t), "docs", "architecture.md"))
	require.NoError(t, err)
	return string(data)
}

func between(t *testing.T, text, from, to string) string {
	t.Helper()
	_, rest, ok := strings.Cut(text, from)
	require.True(t, ok, "no %q", from)
	inner, _, ok := strings.Cut(rest, to)
	require.True(t, ok, "no %q after %q", to, from)
	return inner
}
