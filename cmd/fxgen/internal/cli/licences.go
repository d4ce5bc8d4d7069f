package cli

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/gofx-dev/gofx/cmd/fxgen/internal/gomod"
	"github.com/gofx-dev/gofx/internal/licences"
	"github.com/gofx-dev/gofx/internal/near"
)

// licenceJSON is an entry of licenses -json.
type licenceJSON struct {
	Module  string `json:"module"`
	Version string `json:"version,omitempty"`
	Licence string `json:"licence"`
	Program string `json:"program"` // that has the module linked in
	// OfVersion is the version that the texts are of, where that is another one.
	OfVersion string          `json:"of_version,omitempty"`
	Texts     []licences.Text `json:"texts"`
}

// unknownLicence is SPDX's word where nothing is known: of a fork that takes the place of a module, for instance.
const unknownLicence = "NOASSERTION"

const licencesHelp = `licenses lists the modules that are linked into this fxgen, then those of fxdraw, the program
that fxgen builds for drawings, each with its version and its licence as an expression of SPDX.
With MODULE it prints the texts of one, with -texts those of all.`

func (a *app) licences() *cobra.Command {
	asJSON, texts := false, false
	c := &cobra.Command{Use: "licenses [MODULE] [flags]", Short: "List the licences of everything that is linked into fxgen", Long: licencesHelp,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usagef("licenses takes at most one MODULE, got %s", counted(len(args), "argument"))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			info, _ := debug.ReadBuildInfo()
			list := licencesOf(info)
			if len(args) == 1 {
				one, err := licenceOf(list, args[0])
				if err != nil {
					return err
				}
				list = one
			}
			switch {
			case asJSON:
				return a.printJSON(list)
			case texts || len(args) == 1:
				return printTexts(a.stdout, list)
			}
			return printLicences(a.stdout, list)
		}}
	c.Flags().BoolVar(&texts, "texts", false, "print the texts of all modules")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON document, with the texts")
	return c
}

// licencesOf lists what is linked into a program that has this information, then what fxdraw has more.
func licencesOf(info *debug.BuildInfo) (list []licenceJSON) {
	listed := map[string]bool{}
	add := func(path, version string) {
		listed[path] = true
		l := licenceJSON{Module: path, Version: version, Licence: unknownLicence, Program: "fxgen", Texts: []licences.Text{}}
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
			list = append(list, licenceJSON{Module: m.Path, Version: m.Version, Licence: m.Licence, Program: m.Program, Texts: m.Texts})
		}
	}
	return list
}

// licenceOf picks one module.
func licenceOf(list []licenceJSON, path string) ([]licenceJSON, error) {
	var names []string
	for _, l := range list {
		if l.Module == path {
			return []licenceJSON{l}, nil
		}
		names = append(names, l.Module)
	}
	return nil, bad("no module "+path+" is linked into fxgen", near.Hint(path, names, "fxgen licenses lists them"))
}

// printLicences prints a line for each module.
func printLicences(to io.Writer, list []licenceJSON) error {
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

// printTexts prints what the modules say themselves.
func printTexts(to io.Writer, list []licenceJSON) error {
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
