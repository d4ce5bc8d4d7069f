package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
	"golang.org/x/mod/zip"

	"github.com/gofx-dev/gofx/internal/testkit/repo"
)

// published is a module of the release.
type published struct {
	dir     string // below the root, "." for gofx itself
	version module.Version
}

// tag is the name of the module's tag.
func (p published) tag() string {
	if p.dir == "." {
		return p.version.Version
	}
	return p.dir + "/" + p.version.Version
}

// checkVersion refuses a text that is no version of gofx's module path.
func checkVersion(version string) error {
	if !semver.IsValid(version) || semver.Canonical(version) != version {
		return fmt.Errorf("got version %q, want one such as v0.1.0", version)
	}
	return module.Check(repo.Module, version)
}

// setRequirements has every nested module require the version of gofx, in its go.mod and in the go.mod of its tools.
// Replacements stay: in a checkout the examples use the checkout. It returns the files that have changed.
func setRequirements(root, version string) (changed []string, err error) {
	dirs, err := nested(root)
	if err != nil {
		return nil, err
	}
	for _, dir := range dirs {
		files, err := filepath.Glob(filepath.Join(root, dir, "*.mod"))
		if err != nil {
			return nil, err
		}
		for _, path := range files {
			set, err := setRequirement(path, version)
			if err != nil {
				return nil, err
			}
			if set {
				changed = append(changed, filepath.ToSlash(filepath.Join(dir, filepath.Base(path))))
			}
		}
	}
	return changed, nil
}

// setRequirement sets the version of gofx in a file that requires it.
func setRequirement(path, version string) (changed bool, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return false, err
	}
	f, err := modfile.Parse(path, text, nil)
	if err != nil {
		return false, err
	}
	for _, r := range f.Require {
		changed = changed || r.Mod.Path == repo.Module && r.Mod.Version != version
	}
	if !changed {
		return false, nil
	}
	if err := f.AddRequire(repo.Module, version); err != nil {
		return false, err
	}
	f.Cleanup()
	text, err = f.Format()
	if err != nil {
		return false, err
	}
	return true, os.WriteFile(path, text, 0o666)
}

// publishedIn lists the modules of a tree that other modules can require: gofx, and nested ones whose path is that
// of their folder and that are not internal.
func publishedIn(root, version string) (list []published, err error) {
	dirs, err := nested(root)
	if err != nil {
		return nil, err
	}
	for _, dir := range append([]string{"."}, dirs...) {
		text, err := os.ReadFile(filepath.Join(root, dir, "go.mod"))
		if err != nil {
			return nil, err
		}
		path := modfile.ModulePath(text)
		want := repo.Module
		if dir != "." {
			want += "/" + dir
		}
		if path == want && !strings.HasPrefix(dir, "internal/") {
			list = append(list, published{dir, module.Version{Path: path, Version: version}})
		}
	}
	return list, nil
}

// writeProxy writes the modules of a tree into a folder, in the layout of a module proxy, and returns them.
func writeProxy(ctx context.Context, root, proxy, version string, at time.Time) ([]published, error) {
	list, err := publishedIn(root, version)
	if err != nil {
		return nil, err
	}
	for _, p := range list {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if p.dir != "." { // the go command takes the repository's licence for modules that have none
			if err := copyFile(filepath.Join(root, "LICENSE"), filepath.Join(root, p.dir, "LICENSE")); err != nil {
				return nil, err
			}
		}
		if err := p.write(root, proxy, at); err != nil {
			return nil, fmt.Errorf("%s: %w", p.version, err)
		}
	}
	return list, nil
}

// write writes one module into a proxy.
func (p published) write(root, proxy string, at time.Time) error {
	path, err := module.EscapePath(p.version.Path)
	if err != nil {
		return err
	}
	dir := filepath.Join(proxy, filepath.FromSlash(path), "@v")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	mod, err := os.ReadFile(filepath.Join(root, p.dir, "go.mod"))
	if err != nil {
		return err
	}
	info, err := json.Marshal(map[string]any{"Version": p.version.Version, "Time": at})
	if err != nil {
		return err
	}
	base := filepath.Join(dir, p.version.Version)
	for name, data := range map[string][]byte{filepath.Join(dir, "list"): []byte(p.version.Version + "\n"), base + ".mod": mod, base + ".info": info} {
		if err := os.WriteFile(name, data, 0o666); err != nil {
			return err
		}
	}
	return writeTo(base+".zip", func(w io.Writer) error {
		return zip.CreateFromDir(w, p.version, filepath.Join(root, p.dir))
	})
}

// writeTo writes a file by a function.
func writeTo(path string, write func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := write(f); err != nil {
		_ = f.Close() // the first error tells more
		return err
	}
	return f.Close()
}
