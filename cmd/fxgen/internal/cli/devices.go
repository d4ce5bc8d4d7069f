package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gofx-dev/gofx/cmd/fxgen/internal/accel"
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/work"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/lowering/cost"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/lowering/gpu"
	"github.com/gofx-dev/gofx/lowering/xla/pjrt"
)

// devices lists, or describes this machine for stats -device.
func (a *app) devices() *cobra.Command {
	c := a.list("devices", "List the targets that this program can run graphs on, or describe this machine", func() []item {
		return append([]item{{Name: cpu.Target{}.Name(), Doc: fmt.Sprintf("This machine's processor: %s, %d threads.", runtime.GOARCH, runtime.GOMAXPROCS(0))}}, accelerators()...)
	})
	var f flags
	calibrate := false
	list := c.RunE
	c.Use, c.Args = "devices [flags] [-calibrate SOURCE...]", nil
	c.Flags().BoolVar(&calibrate, "calibrate", false, "measure this machine and what networks take on it, and print the description as JSON")
	f.sourceFlags(c)
	f.computeFlags(c)
	c.Flags().IntVar(&f.job.Repeat, "repeat", 10, "the number of runs of each network, of which each step's median counts")
	c.RunE = func(c *cobra.Command, args []string) error {
		if calibrate {
			return a.calibrate(c, &f, args)
		}
		if len(args) > 0 {
			return usagef("devices takes no arguments without -calibrate, got %s", args[0])
		}
		e := &usageError{}
		c.Flags().Visit(func(g *pflag.Flag) {
			if g.Name != "json" {
				e.wrong = append(e.wrong, "-"+g.Name+" is for -calibrate, a list has no networks")
			}
		})
		if len(e.wrong) > 0 {
			return e
		}
		return list(c, args)
	}
	return c
}

// accelerators lists the devices of the gpu target, and why there are none of a kind.
func accelerators() []item {
	var items []item
	devices, _ := gpu.Devices() // the error is that of all kinds
	for _, d := range devices {
		i := d.Info()
		items = append(items, item{Name: d.Name(), Doc: fmt.Sprintf("Target gpu: %.1f GiB, %d units; %s.", float64(i.Memory)/(1<<30), i.Units, i.Driver)})
	}
	absent := gpu.Absent()
	for _, kind := range slices.Sorted(maps.Keys(absent)) {
		items = append(items, item{Name: kind, Doc: "No device: " + reason(absent[kind]) + "."})
	}
	return append(items, plugin())
}

// plugin is the PJRT plugin that engine xla takes, or why there is none.
func plugin() item {
	p, err := pjrt.Open("")
	if err != nil {
		return item{Name: accel.XLA, Doc: "No plugin: " + reason(err) + "."}
	}
	major, minor := p.Version()
	return item{Name: accel.XLA, Doc: fmt.Sprintf("Target xla: plugin %s, PJRT %d.%d.", p.Path(), major, minor)}
}

// reason is an error in one line, without code and cure.
func reason(err error) string {
	e, ok := errors.AsType[*diag.Error](err)
	switch {
	case !ok:
		return err.Error()
	case e.Err != nil:
		return e.Msg + ": " + reason(e.Err)
	}
	return e.Msg
}

// calibrate describes this machine by its peaks, and by the times of networks.
func (a *app) calibrate(c *cobra.Command, f *flags, sources []string) error {
	f.engine = work.Plan
	if err := f.check(c); err != nil {
		return err
	}
	if f.threads > 0 {
		runtime.GOMAXPROCS(f.threads)
	}
	done := a.busy("measuring this machine")
	d := work.ThisDevice(f.threads)
	done()
	var runs []cost.Run
	for _, s := range sources {
		one := *f
		res, _, err := a.job(c, &one, work.Measure, f.pipeline(), s)
		if err != nil {
			return err
		}
		var m work.Measured
		if err := json.Unmarshal([]byte(res.Text), &m); err != nil {
			return err
		}
		runs = append(runs, d.Measured(m.Work, m.Steps, m.Whole))
	}
	if len(runs) > 0 {
		d.Calibrate(runs...)
	}
	return d.Write(a.stdout)
}
