// Command ways compares plans whose implementations were measured (lowering.Options.Measure) with those that
// rules choose, in turns, and prints for each network which steps changed and the ratios of the times.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/passes"
)

type settings struct {
	threads, pairs int
	measure        lowering.Measure
}

func main() {
	var s settings
	flag.IntVar(&s.threads, "threads", 1, "threads of a run")
	flag.IntVar(&s.pairs, "pairs", 41, "pairs of runs, of which medians count")
	flag.StringVar(&s.measure.Folder, "folder", "-", "where choices are kept; - measures in each process")
	flag.DurationVar(&s.measure.Budget, "budget", lowering.MeasureBudget, "time that a compilation measures for")
	flag.Parse()
	s.measure.On = true
	for _, name := range flag.Args() {
		if err := compare(os.Stdout, name, s); err != nil {
			fmt.Fprintln(os.Stderr, name+":", err)
			os.Exit(1)
		}
	}
}

// open captures a network at one input and optimises it.
func open(name string) (*graph.Module, []*array.Array, map[string]int, error) {
	m := models.Lookup(name)
	if m == nil {
		return nil, nil, nil, fmt.Errorf("there is no such network")
	}
	const seed = "gofx-1"
	module := m.New()
	models.Synthetic(m, module, seed)
	var opts []fx.Option
	var in []*array.Array
	dims := map[string]int{}
	for _, v := range m.Inputs {
		opts = append(opts, fx.Input(v.Name, v.Type))
		for _, d := range v.ShapeType().Dims().Slice() {
			for _, symbol := range d.Symbols() {
				dims[symbol] = 1
			}
		}
		x, err := models.SyntheticInput(v, seed, dims)
		if err != nil {
			return nil, nil, nil, err
		}
		in = append(in, x.Array())
	}
	gm, err := fx.Trace(context.Background(), module, opts...)
	if err != nil {
		return nil, nil, nil, err
	}
	_, err = passes.Run(context.Background(), gm.Module, fx.Optimise(), passes.Options{})
	return gm.Module, in, dims, err
}

func compare(out io.Writer, name string, s settings) error {
	m, in, dims, err := open(name)
	if err != nil {
		return err
	}
	ctx, o := context.Background(), lowering.Options{Threads: s.threads, Shapes: dims}
	rules, err := cpu.Compile(m, o)
	if err != nil {
		return err
	}
	defer rules.Close()
	o.Measure = s.measure
	start := time.Now()
	measured, err := cpu.Compile(m, o)
	if err != nil {
		return err
	}
	defer measured.Close()
	load := time.Since(start)
	result, err := rules.Run(ctx, in)
	if err != nil {
		return err
	}
	var times [2][]time.Duration
	var ratios []float64
	for i := range s.pairs + 2 {
		var took [2]time.Duration
		for k := range took {
			which := (i + k) % 2
			e := [2]*cpu.Executable{rules, measured}[which]
			start := time.Now()
			if err := e.RunInto(ctx, result, in); err != nil {
				return err
			}
			took[which] = time.Since(start)
		}
		if i >= 2 {
			times[0], times[1] = append(times[0], took[0]), append(times[1], took[1])
			ratios = append(ratios, float64(took[1])/float64(took[0]))
		}
	}
	print(out, name, load, times, ratios, measured.Stats())
	return nil
}

// print writes the row of a network, and a line for each choice.
func print(out io.Writer, name string, load time.Duration, times [2][]time.Duration, ratios []float64, st cpu.Stats) {
	slices.Sort(times[0])
	slices.Sort(times[1])
	slices.Sort(ratios)
	ms := func(d time.Duration) string { return strconv.FormatFloat(d.Seconds()*1e3, 'f', 3, 64) }
	changed, open := 0, 0
	for _, m := range st.Measured {
		if m.Chosen > 0 {
			changed++
		}
		if m.Ways[0].Time == 0 {
			open++
		}
	}
	n := len(ratios)
	fmt.Fprintf(out, "| %s | %d | %d | %d | %s | %s | %s | %s | %.3f | %.3f to %.3f | %s |\n", name, len(st.Measured), open, changed,
		ms(times[0][0]), ms(times[1][0]), ms(times[0][n/2]), ms(times[1][n/2]), ratios[n/2], ratios[n/4], ratios[3*n/4], ms(load))
	for _, m := range st.Measured {
		var ways []string
		for i, w := range m.Ways {
			text := w.Name + " " + strconv.FormatFloat(w.Time.Seconds()*1e6, 'f', 1, 64)
			if i == m.Chosen {
				text = "*" + text
			}
			ways = append(ways, text)
		}
		fmt.Fprintf(out, "    %s: %s us\n", strings.Join(m.Nodes, "+"), strings.Join(ways, ", "))
	}
}
