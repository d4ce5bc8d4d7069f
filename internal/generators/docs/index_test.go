package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// unlisted returns the names that an index does not link exactly once.
func unlisted(index string, names []string) (wrong []string) {
	for _, name := range names {
		if n := strings.Count(index, "]("+name+")"); n != 1 {
			wrong = append(wrong, fmt.Sprintf("%s is linked %d times", name, n))
		}
	}
	return wrong
}

// others returns the Markdown files next to the README.md of a folder.
func others(t *testing.T, folder string) (names []string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, "*.md"))
	require.NoError(t, err)
	for _, path := range paths {
		if name := filepath.Base(path); name != "README.md" {
			names = append(names, name)
		}
	}
	require.NotEmpty(t, names)
	return names
}

var decisionTitle = regexp.MustCompile(`^# (\d{4}): \S[^\n]*[^.\n]\n`)

func TestDecisionsAreIndexed(t *testing.T) {
	folder := filepath.Join(top, "docs", "decisions")
	index, err := os.ReadFile(filepath.Join(folder, "README.md"))
	require.NoError(t, err)
	names := others(t, folder)
	require.Empty(t, unlisted(string(index), names), "docs/decisions/README.md has one line for each decision, under its subject")
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(folder, name))
		require.NoError(t, err)
		m := decisionTitle.FindSubmatch(text)
		require.NotNil(t, m, "%s: the first line is not \"# NNNN: title\"", name)
		require.True(t, strings.HasPrefix(name, string(m[1])+"-"), "%s has the number %s in its title", name, m[1])
	}
}

func TestDocumentsAreIndexed(t *testing.T) {
	folder := filepath.Join(top, "docs")
	index, err := os.ReadFile(filepath.Join(folder, "README.md"))
	require.NoError(t, err)
	// The tutorial and the command line are named in the introduction, too.
	_, lists, found := strings.Cut(string(index), "\n## ")
	require.True(t, found)
	require.Empty(t, unlisted(lists, others(t, folder)), "docs/README.md has one line for each document, under its reader")
}

func TestUnlistedFindsGapsAndRepetitions(t *testing.T) {
	index := "- [a](a.md): one.\n- [b](b.md): two.\n- [b](b.md): two again.\n"
	require.Empty(t, unlisted(index, []string{"a.md"}))
	require.Equal(t, []string{"b.md is linked 2 times", "c.md is linked 0 times"}, unlisted(index, []string{"a.md", "b.md", "c.md"}))
	require.True(t, decisionTitle.MatchString("# 0001: A title\n"))
	require.False(t, decisionTitle.MatchString("# 0001: A sentence.\n"))
	require.False(t, decisionTitle.MatchString("# 1: A title\n"))
}
