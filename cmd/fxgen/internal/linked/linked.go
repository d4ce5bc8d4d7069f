// Package linked tells which modules are linked into this fxgen, and under which licences: by the program's own build
// information, and by the table of package internal/licences.
//
// Read Modules first.
package linked

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"
	"text/tabwriter"

	"github.com/gofx-dev/gofx/cmd/fxgen/internal/gomod"
	"github.com/gofx-dev/gofx/internal/licences"
)

// Module is a module with its licence, as fxgen licenses -json prints it.
type Module struct {
	Module  string `json:"module"`
	Version string `json:"version,omitempty"`
	Licence string `json:"licence"`
	Program string `json:"program"` // that has the module linked in
	// OfVersion is the version that the texts are of, where that is another one.
	OfVersion string          `json:"of_version,omitempty"`
	Texts     []licences.Text `json:"texts"`
}

// Unknown is SPDX's word where nothing is known: of a fork that takes the place of a module, for instance.
const Unknown = "NOASSERTION"

// Modules lists what is linked into a program that has this information, then what fxdraw has more.
func Modules(info *debug.BuildInfo) (list []Module) {
	listed := map[string]bool{}
	add := func(path, version string) {
		listed[path] = true
		l := Module{Module: path, Version: version, Licence: Unknown, Program: "fxgen", Texts: []licences.Text{}}
		if m, ok := licences.Of(path); ok {
			l.Licence, l.Texts = m.Licence, m.Texts
			if m.Version != version && m.Version != "" {
				l.OfVersion = m.Version
			}
		}
		list = append(list, l)
	}
	add(gomod.Path, gomod.Version())
	add(licences.Std, strings.TrimPrefix(runtime.Version(), "go"))
	if info != nil {
		for _, m := range info.Deps {
			switch {
			case m.Path == gomod.Path:
			case m.Replace == nil:
				add(m.Path, m.Version)
			case m.Replace.Version == "": // a folder: another text than the module's may be in it
				add(m.Path+" => "+m.Replace.Path, "")
			default:
				add(m.Replace.Path, m.Replace.Version)
			}
		}
	}
	for _, m := range licences.All() {
		if m.Program != "fxgen" && !listed[m.Path] {
			list = append(list, Module{Module: m.Path, Version: m.Version, Licence: m.Licence, Program: m.Program, Texts: m.Texts})
		}
	}
	return list
}

// Print prints a line for each module.
func Print(to io.Writer, list []Module) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	for _, l := range list {
		note := ""
		if l.OfVersion != "" {
			note = "  (as of " + l.OfVersion + ")"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s%s\n", l.Program, l.Module, l.Version, l.Licence, note)
	}
	return w.Flush()
}

// PrintTexts prints what the modules say themselves.
func PrintTexts(to io.Writer, list []Module) error {
	for _, l := range list {
		for _, t := range l.Texts {
			if _, err := fmt.Fprintf(to, "==> %s %s: %s <==\n\n%s\n\n", l.Module, l.Version, t.File, strings.TrimRight(t.Text, "\n")); err != nil {
				return err
			}
		}
		if len(l.Texts) == 0 {
			if _, err := fmt.Fprintf(to, "==> %s %s: no text is known <==\n\n", l.Module, l.Version); err != nil {
				return err
			}
		}
	}
	return nil
}
