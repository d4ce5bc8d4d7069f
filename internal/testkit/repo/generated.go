package repo

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Generated is the output of a command: files by their paths below a folder,
// whose names end in _gen.go and whose first line is the header.
type Generated struct {
	Dir, Header string
	Files       map[string][]byte
}

// WriteGenerated is the main function of a command: it writes the files that
// generate returns for a folder of this module.
func WriteGenerated(command, dir string, generate func(dir string) (*Generated, error)) {
	if err := WithGenerated(dir, generate, (*Generated).write); err != nil {
		fmt.Fprintln(os.Stderr, command+":", err)
		os.Exit(1)
	}
}

// WithGenerated runs f on the files that generate returns for a folder of this module.
func WithGenerated(dir string, generate func(dir string) (*Generated, error), f func(*Generated) error) error {
	root, err := Root()
	if err != nil {
		return err
	}
	g, err := generate(filepath.Join(root, dir))
	if err != nil {
		return err
	}
	return f(g)
}

// write writes the files and removes other files that an earlier run has written.
func (g *Generated) write() error {
	old, err := g.written()
	if err != nil {
		return err
	}
	for name := range old {
		if _, keep := g.Files[name]; !keep {
			if err := os.Remove(filepath.Join(g.Dir, name)); err != nil {
				return err
			}
		}
	}
	for name, src := range g.Files {
		if err := os.WriteFile(filepath.Join(g.Dir, name), src, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// Current returns an error that names a file which a run would write, change or remove.
func (g *Generated) Current() error {
	old, err := g.written()
	if err != nil {
		return err
	}
	for name, src := range g.Files {
		if !bytes.Equal(old[name], src) {
			return fmt.Errorf("%s is stale: run go generate", filepath.Join(g.Dir, name))
		}
		delete(old, name)
	}
	for name := range old {
		return fmt.Errorf("nothing writes %s any more: run go generate", filepath.Join(g.Dir, name))
	}
	return nil
}

// written returns the files that an earlier run has written.
func (g *Generated) written() (map[string][]byte, error) {
	found := map[string][]byte{}
	err := filepath.WalkDir(g.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_gen.go") {
			return err
		}
		src, err := os.ReadFile(path)
		if err == nil && bytes.HasPrefix(src, []byte(g.Header)) {
			var name string
			name, err = filepath.Rel(g.Dir, path)
			found[filepath.ToSlash(name)] = src
		}
		return err
	})
	return found, err
}
