package userpkg

import (
	"errors"
	"go/build"
	"go/build/constraint"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/gofx-dev/gofx/diag"
)

// coded gives a refusal of this package the code of its cause.
func coded(c diag.Code, err error) error {
	var e *diag.Error
	if errors.As(err, &e) && e.Code == badSource {
		e.Code = c
	}
	return err
}

// excluded gives for each file of a folder that is left out here the reason: a
// constraint in it, or its name.
func excluded(dir string) (list []string) {
	ctx := build.Default
	ctx.GOOS, ctx.GOARCH = runtime.GOOS, runtime.GOARCH
	ctx.BuildTags = tags()
	for _, path := range goFiles(dir) {
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

// leftOut says which files of a package its tags leave out; "" for none.
func leftOut(dir string) string {
	list := excluded(dir)
	if len(list) > maxNames {
		list = append(slices.Clone(list[:maxNames]), "and so on")
	}
	return strings.Join(list, ", ")
}

const tagged = "give the tags, as in GOFLAGS=-tags=NAME, or name a package that is built here"
