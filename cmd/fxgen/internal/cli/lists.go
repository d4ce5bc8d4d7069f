package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/gofx-dev/gofx/cmd/fxgen/internal/gomod"
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/linked"
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/work"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/internal/near"
	"github.com/gofx-dev/gofx/internal/opdoc"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/op"
)

// item is a line of a list.
type item = work.Item

// list makes a command that prints names with one line of documentation each.
func (a *app) list(name, short string, items func() []item) *cobra.Command {
	return listWith(a, name, short, items, func() any { return items() })
}

// listWith is list where the JSON document has more than names and lines.
func listWith(a *app, name, short string, items func() []item, document func() any) *cobra.Command {
	asJSON := false
	c := &cobra.Command{Use: name + " [flags]", Short: short, Args: exactly(0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return a.printJSON(document())
			}
			w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
			for _, it := range items() {
				fmt.Fprintf(w, "%s\t%s\n", it.Name, it.Doc)
			}
			return w.Flush()
		}}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return c
}

func (a *app) printJSON(v any) error {
	e := json.NewEncoder(a.stdout)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// modelJSON is a network in the document of models.
type modelJSON struct {
	item
	Inputs  []inputJSON    `json:"inputs"`
	Outputs []string       `json:"outputs"`
	Sizes   map[string]int `json:"sizes"` // of the symbols, in the reference
}

// inputJSON is an input of a network in the document of models.
type inputJSON struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

func (a *app) models() *cobra.Command {
	return listWith(a, "models", "List the built-in networks", work.Models, func() any {
		var l []modelJSON
		for _, m := range models.All() {
			j := modelJSON{item: item{Name: m.Name, Doc: m.Doc}, Outputs: m.Outputs, Sizes: map[string]int{}}
			for _, in := range m.Inputs {
				j.Inputs = append(j.Inputs, inputJSON{in.Name, in.Type})
			}
			maps.Copy(j.Sizes, m.Dims)
			l = append(l, j)
		}
		return l
	})
}

func (a *app) ops() *cobra.Command {
	c := a.list("ops", "List the operators, or print the reference of one", func() (l []item) {
		for _, o := range op.All() {
			l = append(l, item{Name: o.Key(), Doc: work.Sentence(o.Doc)})
		}
		return l
	})
	list := c.RunE
	c.Use = "ops [NAME] [flags]"
	c.Args = func(_ *cobra.Command, args []string) error {
		if len(args) > 1 {
			return usagef("ops takes at most one NAME, got %s", counted(len(args), "argument"))
		}
		return nil
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return list(c, nil)
		}
		text, err := reference(args[0])
		if err != nil {
			return err
		}
		if asJSON, _ := c.Flags().GetBool("json"); asJSON {
			return a.printJSON(item{Name: args[0], Doc: text})
		}
		_, err = fmt.Fprint(a.stdout, text)
		return err
	}
	return c
}

// reference returns the reference of an operator, under its name in the list or in docs/ops.md.
func reference(name string) (string, error) {
	var names []string
	for _, o := range op.All() {
		if o.Key() == name || o.Name == name {
			return opdoc.Reference(o), nil
		}
		names = append(names, o.Key())
	}
	return "", bad("there is no operator "+name, near.Hint(name, names, "fxgen ops lists them"))
}

func (a *app) passes() *cobra.Command {
	return a.list("passes", "List the passes", work.Passes)
}

func (a *app) explain() *cobra.Command {
	asJSON := false
	c := &cobra.Command{
		Use:   "explain [CODE] [flags]",
		Short: "Explain a diagnostic, or list all",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usagef("explain takes one CODE, got %d", len(args))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 && asJSON {
				list := []explanation{}
				for _, i := range diag.Codes() {
					list = append(list, explanation{i.Code, i.Title, i.Cause, i.Cure, i.Example})
				}
				return a.printJSON(list)
			}
			if len(args) == 0 {
				for _, i := range diag.Codes() {
					fmt.Fprintf(a.stdout, "%s  %s\n", i.Code, i.Title)
				}
				return nil
			}
			code := diag.Code(strings.ToUpper(args[0]))
			i, ok := diag.Lookup(code)
			if !ok {
				var known []string
				for _, c := range diag.Codes() {
					known = append(known, string(c.Code))
				}
				return bad("there is no diagnostic "+args[0], near.Hint(string(code), known, "fxgen explain lists them"))
			}
			if asJSON {
				return a.printJSON(explanation{i.Code, i.Title, i.Cause, i.Cure, i.Example})
			}
			fmt.Fprintf(a.stdout, "%s: %s\n\nCause: %s\n\nCure: %s\n", i.Code, i.Title, i.Cause, i.Cure)
			if i.Example != "" {
				fmt.Fprintf(a.stdout, "\nExample:\n\n\t%s\n", strings.ReplaceAll(strings.TrimSpace(i.Example), "\n", "\n\t"))
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return c
}

// explanation is a diagnostic in the document of explain.
type explanation struct {
	Code    diag.Code `json:"code"`
	Title   string    `json:"title"`
	Cause   string    `json:"cause"`
	Cure    string    `json:"cure"`
	Example string    `json:"example,omitempty"`
}

const licencesHelp = `licenses lists the modules that are linked into this fxgen, then those of fxdraw, the program
that fxgen builds for drawings, each with its version and its licence as an expression of SPDX.
With MODULE it prints the texts of one, with -texts those of all.`

func licencesCommand(a *app) *cobra.Command {
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
			list := linked.Modules(info)
			if len(args) == 1 {
				var names []string
				for _, m := range list {
					names = append(names, m.Module)
				}
				i := slices.Index(names, args[0])
				if i < 0 {
					return bad("no module "+args[0]+" is linked into fxgen", near.Hint(args[0], names, "fxgen licenses lists them"))
				}
				list = list[i : i+1]
			}
			switch {
			case asJSON:
				return a.printJSON(list)
			case texts || len(args) == 1:
				return linked.PrintTexts(a.stdout, list)
			}
			return linked.Print(a.stdout, list)
		}}
	c.Flags().BoolVar(&texts, "texts", false, "print the texts of all modules")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON document, with the texts")
	return c
}

// versionJSON is the output of version -json.
type versionJSON struct {
	Module string `json:"module"`
	Go     string `json:"go"`
	CPU    string `json:"cpu"`
}

func (a *app) version() *cobra.Command {
	asJSON := false
	c := &cobra.Command{Use: "version [flags]", Short: "Print the versions of gofx and Go, and what is used of the processor", Args: exactly(0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			v := versionJSON{gomod.Version(), runtime.Version(), runtime.GOARCH + " " + kernel.CPU()}
			if asJSON {
				return json.NewEncoder(a.stdout).Encode(v)
			}
			return a.say(fmt.Sprintf("%s %s\n%s\n%s\n", modulePath, v.Module, v.Go, v.CPU))
		}}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return c
}
