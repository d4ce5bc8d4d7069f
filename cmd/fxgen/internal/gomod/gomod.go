// Package gomod lets the go command build programs that fxgen needs in a module whose
// go.mod requires gofx for the user's own code alone. fxgen and its test stand on more
// modules than that. They come into a copy of go.mod, which goes when the program is built.
package gomod

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/gofx-dev/gofx/cmd/fxgen/internal/proc"
)

// Path is the path of gofx's module.
const Path = "github.com/gofx-dev/gofx"

// complaints are parts of what the go command says where go.mod or go.sum lack modules, or
// where it cannot download or check one.
var complaints = []string{
	"missing go.sum entry", "updates to go.mod needed", "no required module provides package ", "import lookup disabled by -mod=vendor",
	"module lookup disabled by GOPROXY=off", "verifying module: ", "dial tcp",
}

// Lacks returns the line in which the go command complains that modules are missing that a
// program of fxgen needs, "" if it does not.
func Lacks(out string) string {
	for line := range strings.Lines(out) {
		if slices.ContainsFunc(complaints, func(text string) bool { return strings.Contains(line, text) }) {
			return strings.TrimSpace(line)
		}
	}
	return ""
}

// Skew is the error that fxgen is of another version than the gofx that go.mod requires.
type Skew struct {
	Fxgen, Required string // versions
}

func (e *Skew) Error() string {
	return fmt.Sprintf("fxgen is %s, go.mod requires %s %s", e.Fxgen, Path, e.Required)
}

// module is what the go command says of gofx in the user's module.
type module struct {
	Dir, GoMod, Version string
	Replace             *struct{}
}

// Complete writes a go.mod and a go.sum into a folder: those of the module that dir is in,
// and what gofx's own require. It returns the flags with which the go command builds by
// them. They fit the version of gofx that the module requires; a [Skew] says that fxgen is of
// another one.
func Complete(ctx context.Context, dir string, env []string, folder string) (flags []string, err error) {
	ask := func(to any, args ...string) error {
		cmd := proc.Command(ctx, "go", args...)
		cmd.Dir, cmd.Env = dir, env
		out, err := cmd.Output()
		return errors.Join(err, json.Unmarshal(out, to))
	}
	var at struct{ GOMOD, GOWORK string }
	var gofx module
	var its struct {
		Require []struct{ Path, Version string }
	}
	if err := ask(&at, "env", "-json", "GOMOD", "GOWORK"); err != nil {
		return nil, err
	}
	if at.GOWORK != "" && at.GOWORK != "off" {
		return nil, errors.New("the go command takes no other go.mod in a workspace")
	}
	if err := ask(&gofx, "list", "-mod=readonly", "-m", "-json", Path); err != nil {
		return nil, err
	}
	if err := skewed(Version(), &gofx); err != nil {
		return nil, err
	}
	if err := ask(&its, "mod", "edit", "-json", gofx.GoMod); err != nil {
		return nil, err
	}
	var lines strings.Builder
	for _, r := range its.Require {
		fmt.Fprintf(&lines, "require %s %s\n", r.Path, r.Version)
	}
	to := filepath.Join(folder, "go.mod")
	if err := join(to, lines.String(), at.GOMOD); err != nil {
		return nil, err
	}
	err = join(filepath.Join(folder, "go.sum"), "", strings.TrimSuffix(at.GOMOD, ".mod")+".sum", filepath.Join(gofx.Dir, "go.sum"))
	return []string{"-modfile=" + to, "-mod=mod"}, err
}

// skewed compares the version of fxgen with that of gofx in the user's module. A checkout
// has none.
func skewed(fxgen string, gofx *module) error {
	if gofx.Replace == nil && strings.HasPrefix(fxgen, "v") && fxgen != gofx.Version {
		return &Skew{fxgen, gofx.Version}
	}
	return nil
}

// join writes files one after the other, and more text, into a file. One that does not
// exist is empty: a go.sum may be missing.
func join(to, more string, files ...string) error {
	var b strings.Builder
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		b.Write(text)
		b.WriteString("\n")
	}
	return os.WriteFile(to, []byte(b.String()+more), 0o666)
}

// built is the version of a program that fxgen builds from its own source in the module cache, where the
// go command calls the main module "(devel)". The linker sets it; Stamp has the flag.
var built string

// Stamp is the flag of go build by which a program has the version of this one.
func Stamp() string { return "-ldflags=-X=" + Path + "/cmd/fxgen/internal/gomod.built=" + Version() }

// Version is the version of gofx that this program was built from: as the main module, or
// as a requirement of another one. It is "(devel)" in a checkout.
func Version() string {
	if built != "" {
		return built
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(unknown)"
	}
	if info.Main.Path == Path {
		return info.Main.Version
	}
	for _, m := range info.Deps {
		if m.Path == Path {
			if m.Replace != nil {
				return "(devel)"
			}
			return m.Version
		}
	}
	return "(unknown)"
}
