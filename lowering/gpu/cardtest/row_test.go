package cardtest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/gpu"
)

// way is how kernels come to the device.
type way struct {
	name   string
	target gpu.Target
}

// row is a line of the table.
type row struct {
	Job      string  `json:"job"`
	Network  string  `json:"network,omitempty"`
	Batch    int     `json:"batch,omitempty"`
	Type     string  `json:"type"`
	Unfolded bool    `json:"unfolded,omitempty"`
	Way      string  `json:"way"`
	Build    float64 `json:"build_s"` // the graph and its weights, once for all ways
	Load     float64 `json:"load_s"`  // compiling, loading and preparing weights
	Median   float64 `json:"median_ms,omitempty"`
	Least    float64 `json:"least_ms,omitempty"`
	Runs     int     `json:"runs,omitempty"`
	Launches int     `json:"launches"`
	Tensor   int     `json:"tensor"`  // of them on tensor cores
	Library  int     `json:"library"` // products and convolutions by NVIDIA's libraries
	Off      float64 `json:"off"`     // the largest error, 1 being the largest allowed
	Wrong    string  `json:"wrong,omitempty"`
	Device   string  `json:"device"`
	Driver   string  `json:"driver"`
}

func newRow(j *job, w way, info gpu.Info) *row {
	return &row{Job: j.Name, Network: j.Network, Batch: j.Batch, Type: j.Type, Unfolded: j.Unfolded, Way: w.name, Device: info.Name, Driver: info.Driver}
}

// fill runs a job, compares its results and, where it is a network, takes times.
func (r *row) fill(ctx context.Context, j *job, b *built, want []result, g gpu.Target, runs int) (err error) {
	r.Build = b.took.Seconds()
	g.TF32 = j.target().TF32
	start := time.Now()
	compiled, err := g.Compile(b.module, lowering.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, compiled.Close()) }()
	e := compiled.(*gpu.Executable)
	r.Load = time.Since(start).Seconds()
	s := e.Stats()
	r.Launches, r.Tensor, r.Library = s.Launches, s.Tensor, s.Library
	values := make([]lowering.Value, len(b.in))
	for i, a := range b.in {
		if values[i], err = e.Put(ctx, a); err != nil {
			return err
		}
		defer values[i].Close()
	}
	if err := r.compare(ctx, e, values, want); err != nil {
		return err
	}
	if r.Network == "" {
		return nil
	}
	return r.time(ctx, e, values, runs)
}

// compare runs once and looks the results up.
func (r *row) compare(ctx context.Context, e *gpu.Executable, in []lowering.Value, want []result) error {
	out, err := e.RunValues(ctx, in)
	if err != nil {
		return err
	}
	if len(out) != len(want) {
		return fmt.Errorf("%d results, expected %d", len(out), len(want))
	}
	const most = 5
	var wrong []error
	for i, v := range out {
		a, err := v.Array(ctx)
		if err != nil {
			return err
		}
		_ = v.Close() // it is only memory that is given back
		off, said := want[i].check(a)
		if r.Off = max(r.Off, off); said != "" && len(wrong) < most {
			wrong = append(wrong, errors.New(said))
		}
	}
	return errors.Join(wrong...)
}

// time takes the times of runs whose inputs and results stay on the device. What is waited for is
// the last command of a run.
func (r *row) time(ctx context.Context, e *gpu.Executable, in []lowering.Value, runs int) error {
	times := make([]time.Duration, runs)
	const warm = 3
	for k := range runs + warm {
		start := time.Now()
		out, err := e.RunValues(ctx, in)
		if err != nil {
			return err
		}
		if k >= warm {
			times[k-warm] = time.Since(start)
		}
		for _, v := range out {
			_ = v.Close()
		}
	}
	if slices.Sort(times); runs > 0 {
		r.Runs, r.Least, r.Median = runs, ms(times[0]), ms(times[runs/2])
	}
	return nil
}

func ms(d time.Duration) float64 { return math.Round(d.Seconds()*1e6) / 1e3 }

// report is the table of docs/devices.md.
func report(info gpu.Info, table []*row, now time.Time) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s, %s; %s\n\n", info.Name, info.Arch, info.Driver, now.Format(time.DateOnly))
	b.WriteString("| network | batch | type | kernels | median ms | least ms | launches | tensor cores | libraries | error of allowed |\n|---|---|---|---|---|---|---|---|---|---|\n")
	ok, failed := 0, 0
	for _, r := range table {
		if r.Wrong != "" {
			failed++
		} else {
			ok++
		}
		if r.Network == "" {
			continue
		}
		typ, off := r.Type, fmt.Sprintf("%.2f", r.Off)
		if r.Unfolded {
			typ += ", batch norms apart"
		}
		if r.Wrong != "" {
			off = "failed"
		}
		fmt.Fprintf(&b, "| %s | %d | %s | %s | %.3f | %.3f | %d | %d | %d | %s |\n", r.Network, r.Batch, typ, r.Way, r.Median, r.Least, r.Launches, r.Tensor, r.Library, off)
	}
	fmt.Fprintf(&b, "\n%d of %d programs agree, those of operators' samples among them.\n", ok, ok+failed)
	for _, r := range table {
		if u := unfoldedOf(table, r); u != nil && r.Median > 0 && u.Median > 0 {
			fmt.Fprintf(&b, "%s at batch %d, %s, kernels %s: folded batch norms save %.1f %%.\n", r.Network, r.Batch, r.Type, r.Way, 100*(1-r.Median/u.Median))
		}
	}
	return b.String()
}

// unfoldedOf returns the row of the same program with normalisations apart, nil where there is none.
func unfoldedOf(table []*row, r *row) *row {
	i := slices.IndexFunc(table, func(u *row) bool { return !r.Unfolded && u.Job == r.Job+"/unfolded" && u.Way == r.Way })
	if i < 0 {
		return nil
	}
	return table[i]
}
