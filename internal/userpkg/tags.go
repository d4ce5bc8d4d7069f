package userpkg

import (
	"go/build"
	"go/build/constraint"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// excluded gives for each file of a folder that is left out here the reason: a
// constraint in it, or its name.
func excluded(dir string) (list []string) {
	ctx := build.Default
	ctx.GOOS, ctx.GOARCH = runtime.GOOS, runtime.GOARCH
	ctx.BuildTags = tags()
	for _, path := range GoFiles(dir) {
		name := filepath.Base(path)
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		if ok, err := ctx.MatchFile(dir, name); ok || err != nil {
			continue
		}
		if line := constraintOf(path); line != "" {
			list = append(list, name+" by "+line)
		} else {
			list = append(list, name+" by its name")
		}
	}
	return list
}

// tags are those of the environment.
func tags() []string {
	for _, f := range strings.Fields(os.Getenv("GOFLAGS")) {
		if text, ok := strings.CutPrefix(strings.TrimPrefix(f, "-"), "-tags="); ok || strings.HasPrefix(f, "-tags=") {
			return strings.FieldsFunc(strings.TrimPrefix(text, "tags="), func(r rune) bool { return r == ',' })
		}
	}
	return nil
}

// constraintOf returns the line that says when a file is built, "" where there is none.
func constraintOf(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); constraint.IsGoBuild(line) {
			return line
		}
		if strings.HasPrefix(line, "package ") {
			break
		}
	}
	return ""
}

// LeftOut says which files of a package its tags leave out; "" for none.
func LeftOut(dir string) string {
	list := excluded(dir)
	if len(list) > maxFiles {
		list = append(slices.Clone(list[:maxFiles]), "and so on")
	}
	return strings.Join(list, ", ")
}

// maxFiles bounds the files that a message lists.
const maxFiles = 8

const tagged = "give the tags, as in GOFLAGS=-tags=NAME, or name a package that is built here"

// GoFiles lists the Go files of a folder, tests among them.
func GoFiles(dir string) []string {
	list, _ := filepath.Glob(filepath.Join(dir, "*.go"))
	return list
}
