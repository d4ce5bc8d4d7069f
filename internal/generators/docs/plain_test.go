package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// banned are phrases that no document and no package comment uses, each with words that say it plainly.
var banned = []struct{ phrase, better string }{
	{`behind`, "after, following, or: name what is hidden"},
	{`beside`, "next to, with, in addition to"},
	{`but for`, "except"},
	{`anew`, "again"},
	{`not to be had`, "missing, or: not installed"},
	{`of its own accord`, "by itself"},
	{`without further ado`, "by default, or nothing"},
	{`(?:what|that) (?:is|are) there`, "present, existing, built-in, or the name of the thing"},
	{`is none of`, "is not one of"},
	{`as far as that goes`, "as far as possible"},
	{`to and fro`, "in both directions"},
	{`to be had`, "available"},
	{`in earnest`, "name the limit"},
	{`hostile until proved otherwise`, "treated as hostile"},
	{`all else`, "everything else"},
	{`one's own`, "your own"},
}

var bannedWords = func() (list []*regexp.Regexp) {
	for _, b := range banned {
		list = append(list, regexp.MustCompile(`(?i)\b`+strings.ReplaceAll(b.phrase, " ", `\s+`)+`\b`))
	}
	return list
}()

// awkward lists the banned phrases of a text with their lines.
func awkward(text string) (found []string) {
	for i, re := range bannedWords {
		for _, at := range re.FindAllStringIndex(text, -1) {
			line := 1 + strings.Count(text[:at[0]], "\n")
			found = append(found, fmt.Sprintf("line %d says %q; say: %s", line, text[at[0]:at[1]], banned[i].better))
		}
	}
	return found
}

var (
	fenced     = regexp.MustCompile("(?s)```.*?\n```")
	inlineCode = regexp.MustCompile("`[^`\n]*`")
	heads      = regexp.MustCompile(`(?m)^\|.*\bbeside\b.*\|$`)
)

// prose returns a page without code; lines stay where they are.
func prose(page string) string {
	blank := func(s string) string { return strings.Repeat("\n", strings.Count(s, "\n")) }
	return inlineCode.ReplaceAllString(fenced.ReplaceAllStringFunc(page, blank), "CODE")
}

func TestDocumentsAreInPlainEnglish(t *testing.T) {
	all := pages(t)
	more, err := filepath.Glob(filepath.Join(top, "examples", "*", "README.md"))
	require.NoError(t, err)
	for _, generated := range []string{"ops.md", "errors.md", "grad.md"} { // written from op/std and diag
		more = append(more, filepath.Join(top, "docs", generated))
	}
	for _, path := range more {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		all[path] = string(text)
	}
	for path, page := range all {
		name, err := filepath.Rel(top, path)
		require.NoError(t, err)
		name = filepath.ToSlash(name)
		if strings.HasPrefix(name, "docs/bench") {
			page = heads.ReplaceAllStringFunc(page, func(string) string { return "" }) // the column named so
		}
		for _, f := range awkward(prose(page)) {
			t.Errorf("%s: %s", name, f)
		}
	}
}

func TestPackageCommentsAreInPlainEnglish(t *testing.T) {
	seen := 0
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := d.Name(); d.IsDir() && (name == ".git" || name == "testdata" || name == ".venv") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		doc := packageComment(t, path, src)
		if doc == "" {
			return nil
		}
		seen++
		for _, f := range awkward(doc) {
			t.Errorf("%s: %s", path, f)
		}
		return nil
	})
	require.NoError(t, err)
	require.Greater(t, seen, 50)
}

// packageComment returns the comment of a file's package clause.
func packageComment(t *testing.T, path string, src []byte) string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), path, src, parser.PackageClauseOnly|parser.ParseComments)
	if err != nil || f.Doc == nil || ast.IsGenerated(f) {
		return ""
	}
	return f.Doc.Text()
}

func TestAwkwardFindsPhrases(t *testing.T) {
	require.Equal(t, []string{`line 2 says "behind"; say: after, following, or: name what is hidden`}, awkward("The graph\nbehind the pass"))
	require.Len(t, awkward("All but\nfor one, made Anew."), 2)
	require.Len(t, awkward("it finds what is there."), 1)
	require.Len(t, awkward("The passes that are there"), 1)
	require.Empty(t, awkward("The built-in passes after this one, except two. There are those."))
	require.Empty(t, awkward(prose("`-beside 4` and\n```sh\nrun behind\n```\n")))
	require.Equal(t, "Package x is behind.\n", packageComment(t, "x.go", []byte("// Package x is behind.\npackage x\n")))
}
