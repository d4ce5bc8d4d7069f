package cli

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/npy"
	"github.com/gofx-dev/gofx/array/safetensors"
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/work"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/shape"
)

func (a *app) stats() *cobra.Command {
	var f flags
	c := onSource("stats", "Count nodes, parameters, operations and memory; list the tensors of a file", "one SOURCE, .safetensors or .npy file")
	f.sourceFlags(c)
	f.shapeFlag(c)
	f.jsonFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		if ext := filepath.Ext(args[0]); !strings.Contains(args[0], "#") && (ext == ".safetensors" || ext == ".npy") {
			if err := plainFlags(c, "json"); err != nil {
				return err
			}
			return a.tensorStats(args[0], ext, f.json)
		}
		res, _, err := a.job(c, &f, work.Stats, nil, args[0])
		return a.sayOf(res, err)
	}
	return c
}

// plainFlags refuses flags that are about graphs, where there is none.
func plainFlags(c *cobra.Command, allowed ...string) error {
	e := &usageError{}
	c.Flags().Visit(func(g *pflag.Flag) {
		if !slices.Contains(allowed, g.Name) {
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
	Name  string   `json:"name"`
	Type  string   `json:"type"`
	Bytes int      `json:"bytes"`
	Min   *float64 `json:"min"` // of the finite elements
	Max   *float64 `json:"max"`
	NaN   int      `json:"nan"`
	Inf   int      `json:"inf"`
}

// tensorStats reads every tensor of a file, so that a fault anywhere is found.
func (a *app) tensorStats(path, ext string, asJSON bool) error {
	var list []tensorJSON
	var errs diag.List
	if ext == ".npy" {
		x, err := npy.ReadFile(path)
		if err != nil {
			return in(path, err)
		}
		list = append(list, tensorOf("", x))
	} else {
		f, err := safetensors.ReadFile(path)
		if err != nil {
			return in(path, err)
		}
		for _, name := range f.Names() {
			x, err := f.Get(name)
			if err != nil {
				errs.Add(in(path, err))
				continue
			}
			list = append(list, tensorOf(name, x))
		}
	}
	if err := errs.Err(); err != nil {
		return err
	}
	if asJSON {
		e := json.NewEncoder(a.stdout)
		e.SetIndent("", "  ")
		return e.Encode(map[string]any{"tensors": list})
	}
	elems, bytes := 0, 0
	for _, t := range list {
		text := strings.TrimSpace(t.Name+" "+t.Type) + fmt.Sprintf("  %d bytes", t.Bytes)
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
