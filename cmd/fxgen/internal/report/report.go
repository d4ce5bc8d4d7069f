// Package report writes the diagnostics of a command in the forms that other tools read: SARIF for editors and for the
// pages of code hosts, and the JSON of go vet. Where a diagnostic goes to the terminal, package cli decides.
//
// Read report.go, then sarif.go.
package report

import (
	"encoding/json"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"golang.org/x/mod/modfile"

	"github.com/gofx-dev/gofx/diag"
)

// Run is a run of fxgen that has ended.
type Run struct {
	Version  string // of gofx
	Dir      string // the working folder, to which paths of diagnostics are relative
	Args     []string
	ExitCode int
	// Found are the diagnostics. Those without a code are about the command line, or about the machine.
	Found diag.List
}

// Vet returns the diagnostics in the form of go vet -json: by the import path of the package, or by the folder where a file
// is no Go code of a module, under the name of the analyzer, fxgen. Notes are left out, since everything in that form is a mistake.
func (r *Run) Vet() ([]byte, error) {
	type finding struct {
		Category string `json:"category,omitempty"`
		Posn     string `json:"posn"`
		Message  string `json:"message"`
	}
	tree := map[string]map[string][]finding{}
	for _, e := range r.Found {
		if e.Note {
			continue
		}
		f := finding{string(e.Code), "-", text(e)} // as package token prints an unknown place
		folder := "."
		if at, part := parted(e.Pos, r.Dir); at.File != "" {
			folder = path.Dir(filepath.ToSlash(at.File))
			at.File = absolute(at.File, r.Dir)
			if path.Ext(at.File) == ".go" {
				folder = importPath(filepath.Dir(at.File), folder)
			}
			f.Posn, f.Message = at.String(), strings.TrimPrefix(part+": "+f.Message, ": ")
		}
		if tree[folder] == nil {
			tree[folder] = map[string][]finding{}
		}
		tree[folder]["fxgen"] = append(tree[folder]["fxgen"], f)
	}
	return indented(tree)
}

// importPath is the path by which Go code imports the package in a folder, other where no module is around it.
func importPath(folder, other string) string {
	for root := folder; ; root = filepath.Dir(root) {
		if text, err := os.ReadFile(filepath.Join(root, "go.mod")); err == nil {
			rel, err := filepath.Rel(root, folder)
			if name := modfile.ModulePath(text); name != "" && err == nil {
				return path.Join(name, filepath.ToSlash(rel))
			}
			return other
		}
		if root == filepath.Dir(root) {
			return other
		}
	}
}

// OwnVet reports whether a file may be what Vet has written: nothing in it is of another analyzer.
func OwnVet(data []byte) bool {
	var tree map[string]map[string]json.RawMessage
	if json.Unmarshal(data, &tree) != nil {
		return false
	}
	for _, analyzers := range tree {
		if _, ok := analyzers["fxgen"]; !ok || len(analyzers) != 1 {
			return false
		}
	}
	return true
}

func indented(v any) ([]byte, error) {
	out, err := json.MarshalIndent(v, "", "\t")
	return append(out, '\n'), err
}

// text is the message with its cause.
func text(e *diag.Error) string {
	if e.Err == nil {
		return e.Msg
	}
	return strings.TrimPrefix(e.Msg+": "+e.Err.Error(), ": ")
}

// parted takes a place in a model's file apart, such as model.onnx: test_data_set_0: a part of the file is no part of
// its name.
func parted(p diag.Pos, dir string) (at diag.Pos, part string) {
	file, part, found := strings.Cut(p.File, ": ")
	if !found {
		return p, ""
	}
	if _, err := os.Stat(absolute(p.File, dir)); err == nil { // a file with such a name
		return p, ""
	}
	p.File = file
	return p, part
}

func absolute(file, dir string) string {
	if filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(dir, file)
}

// uri names a file: relative ones as they are, absolute ones as a URL.
func uri(file string) string {
	slashed := filepath.ToSlash(file)
	if !filepath.IsAbs(file) {
		return (&url.URL{Path: slashed}).String()
	}
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed // C:/...
	}
	return (&url.URL{Scheme: "file", Path: slashed}).String()
}

// columns turns columns of bytes, as Go counts them, into columns of characters. Each file is read once.
type columns struct {
	dir   string
	files map[string][]string
}

func (c *columns) of(p diag.Pos) int {
	if p.Col <= 1 {
		return p.Col
	}
	lines, ok := c.files[p.File]
	if !ok {
		at := absolute(p.File, c.dir)
		if data, err := os.ReadFile(at); err == nil && filepath.Ext(at) != ".onnx" && len(data) < 16<<20 {
			lines = strings.Split(string(data), "\n")
		}
		c.files[p.File] = lines
	}
	if p.Line < 1 || p.Line > len(lines) || p.Col-1 > len(lines[p.Line-1]) {
		return p.Col
	}
	return 1 + utf8.RuneCountInString(lines[p.Line-1][:p.Col-1])
}
