// Package app is the command line of a generated network: files in, files out.
package app

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"time"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/npy"
)

// ValueInfo is an input or output of a model.
type ValueInfo struct{ Name, Type string }

// Model is a network as a function of arrays.
type Model struct {
	Name            string
	Inputs, Outputs []ValueInfo
	// Run takes arrays of the inputs' types, nil for one with a default.
	Run func(ctx context.Context, in []*array.Array) ([]*array.Array, error)
}

// Main runs the model as the flags of the process say, and ends it after an error.
func Main(m Model) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := Run(ctx, m, os.Args[1:], os.Stdout)
	switch {
	case errors.Is(err, flag.ErrHelp):
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// Run runs the model once: it reads the inputs, prints the results to w, and
// writes the outputs that are asked for.
func Run(ctx context.Context, m Model, args []string, w io.Writer) error {
	flags := flag.NewFlagSet(m.Name, flag.ContinueOnError)
	in, out := map[string]string{}, map[string]string{}
	flags.Func("in", "input `NAME=FILE.npy`, or NAME=ramp:2,3 for made-up numbers; repeat: "+list(m.Inputs), into(in, m.Inputs))
	flags.Func("out", "write an output, `NAME=FILE.npy`; repeat: "+list(m.Outputs), into(out, m.Outputs))
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	arrays := make([]*array.Array, len(m.Inputs))
	for i, v := range m.Inputs {
		text, ok := in[v.Name]
		if !ok {
			continue // Run says so, unless the input has a default
		}
		a, err := read(text, v.Type)
		if err != nil {
			return fmt.Errorf("-in %s: %w", v.Name, err)
		}
		arrays[i] = a
	}
	start := time.Now()
	results, err := m.Run(ctx, arrays)
	if err != nil {
		return err
	}
	took := time.Since(start)
	for i, v := range m.Outputs {
		fmt.Fprintln(w, v.Name, array.Format(results[i], shown))
		if path, ok := out[v.Name]; ok {
			if err := npy.WriteFile(path, results[i]); err != nil {
				return err
			}
		}
	}
	fmt.Fprintf(w, "%s, weights loaded and packed\n", took.Round(time.Microsecond))
	return nil
}

func list(values []ValueInfo) string {
	var all []string
	for _, v := range values {
		all = append(all, v.Name+" "+v.Type)
	}
	return strings.Join(all, ", ")
}

// into is a flag NAME=TEXT for one of the values.
func into(m map[string]string, values []ValueInfo) func(string) error {
	return func(arg string) error {
		name, text, ok := strings.Cut(arg, "=")
		if !ok {
			return fmt.Errorf("expected NAME=FILE.npy")
		}
		for _, v := range values {
			if v.Name == name {
				m[name] = text
				return nil
			}
		}
		return fmt.Errorf("no %q, expected one of %s", name, list(values))
	}
}

// shown is how many elements of an output are printed.
const shown = 10

// maxRamp is the most numbers that are made up.
const maxRamp = 1 << 28

// read returns the array of a file, or a ramp: 0, 1, 2, 3, 4, 5, 6, 0, 1 ... in the
// element type of typ.
func read(text, typ string) (*array.Array, error) {
	sizes, ok := strings.CutPrefix(text, "ramp:")
	if !ok {
		return npy.ReadFile(text)
	}
	var shape []int
	n := 1
	for _, s := range strings.Split(sizes, ",") {
		d, err := strconv.Atoi(s)
		if err != nil || d < 0 || d > 0 && n > maxRamp/d {
			return nil, fmt.Errorf("%q is no list of sizes, expected up to %d numbers", sizes, maxRamp)
		}
		shape, n = append(shape, d), n*d
	}
	numbers := make([]float32, n)
	for i := range numbers {
		numbers[i] = float32(i % 7)
	}
	name, _, _ := strings.Cut(typ, "[")
	dtype, ok := array.ParseDType(name)
	if !ok {
		return nil, fmt.Errorf("no made-up numbers of type %q", typ)
	}
	return array.Cast(array.FromSlice(numbers, shape...), dtype), nil
}
