package source

import (
	"io/fs"
	"os"
	"runtime/debug"
	"sync"

	"github.com/gofx-dev/gofx/compile/state"
	"github.com/gofx-dev/gofx/diag"
)

// Code is the code of which tables were made. A generated file has one for all of its tables.
type Code struct {
	File     string // the generated file, with its package's path
	Command  string // that writes it
	Go       string // "go1.26"
	Lines    Lines  // functions and calls are known by their lines, which count as code then
	Packages []Package
	Modules  []Module
}

// Package is a package of the main module.
type Package struct{ Path, Hash string }

// Module is another module.
type Module struct {
	Path    string
	Version string // Replaced where a folder stands for the module
}

// Replaced is the version of a module for which a folder stands.
const Replaced = "(replaced)"

// Files are the Go files of a package. A nil *Files is a program that embeds none, by the tag fxnosource.
type Files struct {
	files  fs.FS
	once   [OfAll + 1]sync.Once
	hashes [OfAll + 1]string
	errs   [OfAll + 1]error
}

var registered sync.Map // *Files by the path of the package

// Register notes the Go files of a package.
func Register(path string, files fs.FS) *Files {
	f := &Files{files: files}
	registered.Store(path, f)
	return f
}

func (f *Files) hash(lines Lines) (string, error) {
	f.once[lines].Do(func() { f.hashes[lines], f.errs[lines] = Hash(f.files, lines) })
	return f.hashes[lines], f.errs[lines]
}

// Check panics with state.Stale where the program's code is not c. own are the files of the
// generated file's package.
func (c *Code) Check(own *Files) {
	if own == nil {
		return
	}
	if v := minor(); v != c.Go {
		c.stale("the program is built with " + v + ", the table is of " + c.Go)
	}
	for _, p := range c.Packages {
		f, ok := registered.Load(p.Path)
		if !ok {
			c.stale("the package " + p.Path + " has no file fx_source.go, which embeds its code")
		}
		if got, err := f.(*Files).hash(c.Lines); err != nil {
			c.stale("the code of " + p.Path + " cannot be read: " + err.Error())
		} else if got != p.Hash {
			c.stale("the package " + p.Path + " has other code than its table was made of")
		}
	}
	c.modules()
}

// modules compares the versions of modules.
func (c *Code) modules() {
	info, ok := debug.ReadBuildInfo()
	var at func(path string) string
	switch {
	case ok && len(info.Deps) > 0:
		at = func(path string) string { return linked(info, path) }
	case len(c.Modules) > 0: // a test, which does not tell what it is made of
		text, err := goMod(os.Getwd)
		if err != nil {
			c.stale("the program does not tell the versions of its modules, and there is no go.mod: build with the tag fxnosource, and let fxgen check find what is stale")
		}
		at = text.version
	}
	for _, m := range c.Modules {
		if v := at(m.Path); v != m.Version {
			c.stale("the module " + m.Path + " is " + named(v) + ", in the table " + named(m.Version))
		}
	}
}

func named(version string) string {
	switch version {
	case "":
		return "not there"
	case Replaced:
		return "a folder that stands for it"
	}
	return version
}

// linked returns the version of a module in a program.
func linked(info *debug.BuildInfo, path string) string {
	for _, d := range info.Deps {
		switch {
		case d.Path != path:
		case d.Replace != nil:
			return Version(d.Version, d.Replace.Path, d.Replace.Version)
		default:
			return Version(d.Version, "", "")
		}
	}
	return ""
}

// Version names the version of a module, of which another one may stand for it.
func Version(version, replacement, of string) string {
	if replacement != "" {
		version = of
	}
	switch {
	case version == "" || version == "(devel)":
		return Replaced
	case replacement != "":
		return replacement + "@" + version
	}
	return version
}

func (c *Code) stale(msg string) {
	panic((&diag.Error{Code: state.Stale, Op: c.File, Msg: msg, Hint: "run " + c.Command + " in its folder"}).At(diag.Here()))
}
