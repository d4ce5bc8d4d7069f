package cli

import (
	"bytes"
	"errors"
	"go/scanner"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gofx-dev/gofx/cmd/fxgen/internal/fix"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/internal/textdiff"
)

func (a *app) fix() *cobra.Command {
	var write, differ bool
	c := &cobra.Command{Use: "fix [flags] PATH...", Short: "Rewrite Go code for the functions of this version", Long: fixHelp,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("fix takes Go files and folders, got none")
			}
			return nil
		}}
	c.Flags().BoolVar(&write, "w", false, "write the files; without it the differences are printed")
	c.Flags().BoolVar(&differ, "diff", false, "print the differences, and exit with 1 if there are any")
	c.RunE = func(_ *cobra.Command, paths []string) error {
		if write && differ {
			return usagef("-w writes files and -diff leaves them: give one of them")
		}
		files, err := goFiles(paths)
		if err != nil {
			return err
		}
		changed, problems, err := a.fixed(files)
		switch {
		case err != nil:
			return err
		case write:
			w := &writer{ctx: a.ctx, force: true}
			a.writers = append(a.writers, w)
			err = w.write(changed)
		default:
			err = a.printFixes(changed)
		}
		if err != nil {
			return err
		}
		if mistakes := a.noted(problems); len(mistakes) > 0 {
			return mistakes
		}
		if differ && len(changed) > 0 {
			return errDiffers
		}
		return nil
	}
	return c
}

const fixHelp = `fix rewrites Go code that calls package tensor in forms of earlier versions:
x.Mean(std.ReduceAttrs{Dim: op.IntList(2, 3)}) becomes x.Mean(2, 3). It prints the
differences, or writes the files with -w. It needs no code that compiles, looks at
the syntax of one file at a time, and keeps comments. Calls that look like one of a
tensor and cannot be rewritten are reported, and the exit code is 1.

A PATH is a Go file, or a folder with all Go files below it except those in testdata,
in vendor, and in folders whose names begin with . or _. Generated files stay as
they are: generate them again.`

// fixed rewrites files. It returns those that change, and the calls that stay.
func (a *app) fixed(files []string) (changed []target, problems diag.List, err error) {
	var wrong diag.List
	for _, path := range files {
		src, err := os.ReadFile(path)
		if err != nil {
			return nil, nil, bad(err.Error(), "name Go files and folders")
		}
		out, list, err := fix.Source(path, src)
		if err != nil {
			wrong = append(wrong, noGo(path, err))
			continue
		}
		for _, p := range list {
			problems = append(problems, &diag.Error{Code: codeUnfixed, Pos: diag.Pos{File: p.Pos.Filename, Line: p.Pos.Line, Col: p.Pos.Column},
				Msg: p.Msg, Hint: p.Hint, Note: p.Note})
		}
		if !bytes.Equal(src, out) {
			changed = append(changed, target{path, out})
		}
	}
	if len(wrong) > 0 {
		return nil, nil, wrong
	}
	return changed, problems, nil
}

// noGo is the error of a file that cannot be parsed.
func noGo(path string, err error) *diag.Error {
	e := &diag.Error{Code: codeUnfixed, Pos: diag.Pos{File: path}, Msg: err.Error(), Hint: "fix rewrites files that are Go; correct the syntax first"}
	var list scanner.ErrorList
	if errors.As(err, &list) {
		e.Msg, e.Pos.Line, e.Pos.Col = list[0].Msg, list[0].Pos.Line, list[0].Pos.Column
	}
	return e
}

func (a *app) printFixes(changed []target) error {
	for _, t := range changed {
		before, _ := contents(t.path)
		name := filepath.ToSlash(t.path)
		if err := a.say(textdiff.Unified(name, name, string(before), string(t.data))); err != nil {
			return err
		}
	}
	return nil
}

// noted prints the notes among diagnostics and returns the others.
func (a *app) noted(l diag.List) (mistakes diag.List) {
	var notes diag.List
	for _, e := range l {
		if e.Note {
			notes = append(notes, e)
		} else {
			mistakes = append(mistakes, e)
		}
	}
	a.diagnostics(notes)
	return mistakes
}

// goFiles returns the Go files of paths, each once.
func goFiles(paths []string) (files []string, err error) {
	seen := map[string]bool{}
	add := func(path string) {
		if path = filepath.Clean(path); !seen[path] {
			seen[path] = true
			files = append(files, path)
		}
	}
	for _, path := range paths {
		path = strings.TrimSuffix(path, "...") // as the go command's ./...
		if path == "" {
			path = "."
		}
		info, err := os.Stat(path)
		switch {
		case err != nil:
			return nil, bad("there is no file or folder "+path, "name Go files and folders")
		case !info.IsDir() && filepath.Ext(path) != ".go":
			return nil, bad(path+" is no Go file", "name Go files and folders")
		case !info.IsDir():
			add(path)
			continue
		}
		err = filepath.WalkDir(path, func(file string, d fs.DirEntry, err error) error {
			name := d.Name()
			switch {
			case err != nil:
				return err
			case d.IsDir() && file != path && (name == "testdata" || name == "vendor" || name[0] == '.' || name[0] == '_'):
				return fs.SkipDir
			case !d.IsDir() && d.Type().IsRegular() && filepath.Ext(name) == ".go":
				add(file)
			}
			return nil
		})
		if err != nil {
			return nil, bad(err.Error(), "name Go files and folders")
		}
	}
	return files, nil
}
