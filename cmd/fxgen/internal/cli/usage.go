package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gofx-dev/gofx/cmd/fxgen/internal/work"
	"github.com/gofx-dev/gofx/internal/near"
	"github.com/gofx-dev/gofx/lowering"
)

// usageError is a wrong command line: the errors, each on a line, and the command.
type usageError struct {
	wrong   []string
	command string
	cure    string // "" for where the command line is explained
}

func (e *usageError) Error() string { return strings.Join(e.wrong, "\n") }

func usagef(format string, args ...any) error {
	return &usageError{wrong: []string{fmt.Sprintf(format, args...)}}
}

// meant is the error of a name that the command line does not know.
func meant(wrong, dash, name string, known []string) error {
	e := &usageError{wrong: []string{wrong}}
	if n := near.Of(name, known); n != "" {
		e.cure = "did you mean " + dash + n + "?"
	}
	return e
}

// flagNames lists the flags of a command.
func flagNames(c *cobra.Command) (names []string) {
	c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return names
}

// noCommand refuses unknown verbs.
func noCommand(root *cobra.Command, name string) error {
	var names []string
	for _, c := range root.Commands() {
		names = append(names, c.Name())
	}
	return meant(fmt.Sprintf("there is no command %q", name), "fxgen ", name, names)
}

// hint is the cure, else says where the command line is explained.
func (e *usageError) hint() string {
	if e.cure != "" {
		return e.cure
	}
	if e.command == "" {
		return "fxgen -h lists the commands"
	}
	return "fxgen " + e.command + " -h lists what " + e.command + " takes"
}

// exactly demands a number of arguments.
func exactly(n int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) != n {
			return usagef("%s takes %s, got %s", c.Name(), what, counted(len(args), "argument"))
		}
		return nil
	}
}

// given refuses - as the name of a file, which would be one that is called so.
func given(c *cobra.Command) error {
	e := &usageError{}
	c.Flags().Visit(func(f *pflag.Flag) {
		if f.Value.Type() == "string" && f.Value.String() == "-" {
			e.wrong = append(e.wrong, "-"+f.Name+" -: expected a name; /dev/stdout is the standard output, ./- a file that is called so")
			_ = f.Value.Set("") // a report of this error would go there
		}
	})
	if len(e.wrong) == 0 {
		return nil
	}
	return e
}

func counted(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return strconv.Itoa(n) + " " + what
}

// flagError rewords the errors of the flag parser in plain words.
func flagError(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var bare *pflag.ValueRequiredError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown):
		name := unknown.GetSpecifiedName()
		if letters := unknown.GetSpecifiedShortnames(); letters != "" {
			name = letters
		}
		return meant(c.Name()+" has no flag -"+name, "-", name, flagNames(c))
	case errors.As(err, &bare):
		return usagef("-%s needs a value, %s", bare.GetFlag().Name, bare.GetFlag().Usage)
	case errors.As(err, &invalid):
		f := invalid.GetFlag()
		return usagef("-%s %s: expected %s", f.Name, invalid.GetValue(), kind(f.Value.Type()))
	}
	return usagef("%s", err)
}

// kind is the name for values of a flag's type.
func kind(typ string) string {
	switch typ {
	case "int":
		return "a whole number"
	case "float64":
		return "a number"
	case "duration":
		return "a time such as 30s or 2m"
	case "bool":
		return "true or false"
	}
	return "a " + typ
}

// check refuses values that no flag takes: empty ones, and numbers out of range. It finds
// all of them.
func (f *flags) check(c *cobra.Command) error {
	e := &usageError{}
	c.Flags().Visit(func(g *pflag.Flag) {
		empty := g.Value.Type() == "string" && g.Value.String() == ""
		if list, ok := g.Value.(pflag.SliceValue); ok {
			all := list.GetSlice()
			empty = len(all) == 0 || slices.Contains(all, "")
		}
		if empty {
			e.wrong = append(e.wrong, "-"+g.Name+" is empty; leave it out, or give "+g.Usage)
		}
	})
	for _, n := range []struct {
		flag  string
		value int64
		text  string
	}{
		{"threads", int64(f.threads), strconv.Itoa(f.threads)}, {"repeat", int64(f.job.Repeat), strconv.Itoa(f.job.Repeat)},
		{"min-time", int64(f.minTime), f.minTime.String()}, {"timeout", int64(f.timeout), f.timeout.String()},
		{"depth", int64(f.job.Drawing.Depth), strconv.Itoa(f.job.Drawing.Depth)},
		{"depth", int64(f.job.Depth), strconv.Itoa(f.job.Depth)}, {"top", int64(f.job.Top), strconv.Itoa(f.job.Top)},
	} {
		if n.value < 0 {
			e.wrong = append(e.wrong, "-"+n.flag+" "+n.text+" is negative, expected 0 or more")
		}
	}
	if f.threads > lowering.MaxThreads {
		e.wrong = append(e.wrong, "-threads "+strconv.Itoa(f.threads)+" is too large, expected "+strconv.Itoa(lowering.MaxThreads)+" or less, 0 for all processors")
	}
	e.wrong = append(e.wrong, passList(c, f.passes)...)
	e.wrong = append(e.wrong, f.productsOf()...)
	if f.job.Measure && f.engine != "" && f.engine != work.Plan && f.engine != work.Int8 {
		e.wrong = append(e.wrong, "-measure is for -engine plan and int8, got -engine "+f.engine)
	}
	if len(e.wrong) > 0 {
		return e
	}
	return nil
}

// productsOf reports the errors of -products.
func (f *flags) productsOf() []string {
	p := f.job.Products
	switch {
	case p == "":
		return nil
	case p != "bf16":
		return []string{"-products " + p + ": expected bf16"}
	case f.engine != "" && f.engine != work.Plan && f.engine != "gen":
		return []string{"-products is for -engine plan and gen, got -engine " + f.engine}
	case f.job.By != "" && f.engine == "" || f.device != "":
		return []string{"-products cannot be combined with -by or -device, which count f32 plans"}
	case f.job.Style == work.Module:
		return []string{"-products is for plans, got -style module, whose code has none"}
	}
	return nil
}

// passList reports the errors in the list of -passes.
func passList(c *cobra.Command, list string) (wrong []string) {
	if !c.Flags().Changed("passes") || list == "" {
		return nil
	}
	names := strings.Split(list, ",")
	for _, name := range names {
		switch name = strings.TrimSpace(name); {
		case name == "":
			return []string{"-passes " + list + ": a name between commas is missing"}
		case name == "none" && len(names) > 1:
			return []string{"-passes " + list + ": none stands alone, for no passes"}
		}
	}
	return nil
}
