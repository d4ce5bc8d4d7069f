package cli

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/weights"
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/work"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/shape"
)

func (a *app) stats() *cobra.Command {
	var f flags
	c := onSource("stats", "Count nodes, parameters, operations and memory; list the tensors of a file", "one SOURCE, or a file of tensors")
	f.sourceFlags(c)
	f.productsFlag(c)
	c.Flags().StringVar(&f.job.By, "by", "", "count what the steps of the plan take, summed up by step, scope (modules) or op")
	c.Flags().IntVar(&f.job.Depth, "depth", 0, "levels of modules of a scope, 0 for all")
	c.Flags().IntVar(&f.job.Top, "top", 20, "the most rows with -by or -device, 0 for all")
	f.deviceFlag(c, ", by scope without -by")
	c.Flags().Float64Var(&f.job.Rate, "rate", 0, "requests a second: how many such machines serve them, each a run")
	c.Flags().DurationVar(&f.latency, "latency", 0, "the time that 99 of 100 requests of -rate may take")
	c.Flags().StringArrayVar(&f.turns, "turns", nil, "NAME=N: how often a while runs its body, 1 if it is not said (repeat)")
	f.jsonFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		if file, _ := weights.Split(args[0]); weights.IsFile(file) && filepath.Ext(args[0]) != ".pt2" {
			err := plainFlags(c, "json")
			if err == nil {
				return a.tensorStats(args[0], f.json)
			}
			if filepath.Ext(args[0]) != ".gguf" { // whose decoder is a graph, where one is asked about
				return err
			}
		}
		var standard []string
		switch by := f.job.By; {
		case by != "" && !slices.Contains([]string{work.ByStep, work.ByScope, work.ByOp}, by):
			return usagef("-by %s: expected step, scope or op", by)
		case f.job.Depth > 0 && by != work.ByScope && (by != "" || f.device == ""):
			return usagef("-depth %d is for -by scope", f.job.Depth)
		case by != "" || f.device != "":
			standard = work.Optimise() // the graphs that plans are made of
		}
		res, _, err := a.job(c, &f, work.Stats, standard, args[0])
		return a.sayOf(res, err)
	}
	return c
}

// plainFlags refuses flags that are about graphs, where there is none.
func plainFlags(c *cobra.Command, allowed ...string) error {
	e := &usageError{}
	c.Flags().Visit(func(g *pflag.Flag) {
		if !slices.Contains(allowed, g.Name) && g.Name != "max-bytes" {
			e.wrong = append(e.wrong, "-"+g.Name+" is for sources that are captured; files of tensors are listed as they are")
		}
	})
	if len(e.wrong) > 0 {
		return e
	}
	return nil
}

// tensorJSON is a tensor of a file.
type tensorJSON struct {
	Name   string   `json:"name"`
	Type   string   `json:"type"`
	Format string   `json:"format,omitempty"` // in the file, where it says more than the type
	Bytes  int      `json:"bytes"`            // in memory
	Min    *float64 `json:"min"`              // of the finite elements
	Max    *float64 `json:"max"`
	NaN    int      `json:"nan"`
	Inf    int      `json:"inf"`
}

// tensorStats reads every tensor of a file, so that a fault anywhere is found.
func (a *app) tensorStats(path string, asJSON bool) error {
	list, err := tensorsOf(path)
	if err != nil {
		return err
	}
	if asJSON {
		e := json.NewEncoder(a.stdout)
		e.SetIndent("", "  ")
		return e.Encode(map[string]any{"tensors": list})
	}
	elems, bytes := 0, 0
	for _, t := range list {
		text := strings.TrimSpace(diag.Name(t.Name) + " " + t.Type)
		if t.Format != "" {
			text += " from " + t.Format
		}
		text += fmt.Sprintf("  %d bytes", t.Bytes)
		if t.Min != nil {
			text += fmt.Sprintf("  %.6g .. %.6g", *t.Min, *t.Max)
		}
		if t.NaN+t.Inf > 0 {
			text += fmt.Sprintf("  %d NaN, %d infinite", t.NaN, t.Inf)
		}
		fmt.Fprintln(a.stdout, text)
		bytes += t.Bytes
		elems++
	}
	fmt.Fprintf(a.stdout, "%d tensors, %d bytes\n", elems, bytes)
	return nil
}

// tensorsOf reads the tensors of a file, one after the other.
func tensorsOf(path string) ([]tensorJSON, error) {
	f, err := weights.Open(path)
	if err != nil {
		return nil, in(path, err)
	}
	defer f.Close()
	var list []tensorJSON
	var errs diag.List
	for _, name := range f.Names() {
		x, err := f.Get(name)
		if err != nil {
			errs.Add(in(path, err))
			continue
		}
		t := tensorOf(name, x)
		if format := f.Format(name); quantised.MatchString(format) {
			t.Format = format
		}
		list = append(list, t)
	}
	return list, errs.Err()
}

// quantised are the names of GGUF's blocks.
var quantised = regexp.MustCompile(`^I?Q\d`)

// in puts the file's name before an error about its contents.
func in(path string, err error) error {
	if e, ok := err.(*diag.Error); ok {
		c := *e
		if c.Pos.File == "" && !strings.Contains(c.Msg, path) {
			c.Pos.File = path
		}
		return &c
	}
	return err
}

func tensorOf(name string, x *array.Array) tensorJSON {
	t := tensorJSON{Name: name, Type: shape.TypeOf(x).String(), Bytes: x.Len() * x.DType().Size()}
	lo, hi := math.Inf(1), math.Inf(-1)
	for i := range x.Len() {
		switch v := array.Float64At(x, i); {
		case math.IsNaN(v):
			t.NaN++
		case math.IsInf(v, 0):
			t.Inf++
		default:
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	if lo <= hi {
		t.Min, t.Max = &lo, &hi
	}
	return t
}
