// Command sharded lays Bert out over meshes of devices, and prints for each what one device
// holds, computes and sends, and how long a run is predicted to take. With a PJRT plugin it runs the last one.
package main

import (
	"context"
	_ "embed"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cost"
	"github.com/gofx-dev/gofx/lowering/shard"
	"github.com/gofx-dev/gofx/lowering/xla"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tracer"
)

// device has the peaks of a data sheet; describe your own.
//
//go:embed device.json
var device string

// options are the command's options.
type options struct {
	config     models.BertConfig
	batch, seq int
	meshes     string // sizes of data and tensor: 8x1,2x4
	stages     int
	links      map[string]shard.Link
	program    string // a file, for the last of the meshes
	run        bool
	plugin     string
	devices    int
}

func main() {
	o := options{config: models.BertBase}
	flag.IntVar(&o.batch, "batch", 32, "texts of one run")
	flag.IntVar(&o.seq, "seq", 128, "tokens of a text")
	flag.IntVar(&o.config.NumLayers, "layers", o.config.NumLayers, "layers of the network")
	flag.StringVar(&o.meshes, "meshes", "1x1,8x1,4x2,2x4,1x4", "sizes of data and tensor of each mesh")
	flag.IntVar(&o.stages, "stages", 3, "stages of a pipeline, each over the last of the meshes")
	flag.StringVar(&o.program, "program", "", "a file for the StableHLO of the last mesh")
	flag.BoolVar(&o.run, "run", false, "run the network over the last of the meshes")
	flag.StringVar(&o.plugin, "plugin", "", "the PJRT plugin that runs it, a name or a file; GOFX_PJRT_PLUGIN, or the one that is found")
	flag.IntVar(&o.devices, "devices", 0, "devices that XLA's plugin for processors makes; 0: as many as it likes")
	data := flag.Float64("data-rate", 50e9, "bytes a second that a device sends along data")
	tensor := flag.Float64("tensor-rate", 450e9, "bytes a second that a device sends along tensor")
	flag.Parse()
	o.links = map[string]shard.Link{"data": {Rate: *data, Latency: 10 * time.Microsecond}, "tensor": {Rate: *tensor, Latency: 2 * time.Microsecond}}
	if err := run(os.Stdout, o); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run prints the meshes, the plan of the last one, and the stages.
func run(w io.Writer, o options) error {
	d, err := cost.ReadDevice(strings.NewReader(device), "device.json")
	if err != nil {
		return err
	}
	m, err := capture(o)
	if err != nil {
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "mesh\tdevices\tweights\tGFLOP\tsends\tcompute\texchange\ttexts/s")
	var last *shard.Plan
	for _, text := range strings.Split(o.meshes, ",") {
		mesh, err := parse(text)
		if err != nil {
			return err
		}
		if last, err = shard.Propagate(m, lowering.Options{}, layout(m, mesh)); err != nil {
			return err
		}
		e, err := last.Estimate(d, o.links)
		if err != nil {
			return err
		}
		sum := last.Totals()
		fmt.Fprintf(t, "%s\t%d\t%s\t%.1f\t%s\t%v\t%v\t%.0f\n", mesh, mesh.Partitions(), shard.Bytes(sum.Weights), float64(sum.Flops)/1e9, shard.Bytes(sent(sum)),
			e.Compute.Round(10*time.Microsecond), e.Exchange.Round(10*time.Microsecond), float64(o.batch)/e.Time().Seconds())
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(w, "\n%s", last)
	if err := pipeline(w, m, o, d, last.Mesh); err != nil {
		return err
	}
	if o.run {
		if err := onDevices(w, m, o, last.Mesh); err != nil {
			return err
		}
	}
	if o.program == "" {
		return nil
	}
	p, err := xla.EmitSharded(last)
	if err != nil {
		return err
	}
	return os.WriteFile(o.program, []byte(p.String()), 0o644)
}

// capture records the network for one size of batch.
func capture(o options) (*graph.Module, error) {
	tokens := shape.TensorType(models.Lookup("bert_base").Inputs[0].DType(), shape.ConstDims(o.batch, o.seq))
	t := tracer.Tracer{Inputs: []tracer.Input{{Name: "input_ids", Type: tokens}, {Name: "attention_mask", Type: tokens}}}
	net := models.NewBert(o.config)
	if o.run {
		made := *models.Lookup("bert_base")
		made.New = func() any { return models.NewBert(o.config) }
		models.Synthetic(&made, net, "sharded")
	}
	return t.Trace(context.Background(), net)
}

// pipeline prints stages, each over a mesh of its own.
func pipeline(w io.Writer, m *graph.Module, o options, d *cost.Device, mesh shard.Mesh) error {
	p, err := shard.Stages(m, lowering.Options{}, o.stages)
	if err != nil {
		return err
	}
	plans, err := p.Propagate(layout(m, mesh))
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "\n%d stages, each over %s; %.0f%% of the time a device waits with 16 batches\n", o.stages, mesh, 100*p.Bubble(16))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "stage\tcalls\tGFLOP\tweights\treceives\tweights of a device\tsends\ttime")
	for i, s := range p.Stages {
		e, err := plans[i].Estimate(d, o.links)
		if err != nil {
			return err
		}
		sum := plans[i].Totals()
		fmt.Fprintf(t, "%d\t%d\t%.1f\t%s\t%s\t%s\t%s\t%v\n", i, s.Calls, float64(s.Flops)/1e9, shard.Bytes(s.Weights), shard.Bytes(s.Received),
			shard.Bytes(sum.Weights), shard.Bytes(sent(sum)), e.Time().Round(10*time.Microsecond))
	}
	return t.Flush()
}

// sent are the bytes of all exchanges.
func sent(t shard.Totals) (n int64) {
	for _, b := range t.Sent {
		n += b
	}
	return n
}

// parse reads the sizes of data and tensor, 2x4.
func parse(text string) (shard.Mesh, error) {
	a, b, _ := strings.Cut(text, "x")
	data, err := strconv.Atoi(a)
	if err != nil {
		return nil, fmt.Errorf("mesh %q: expected sizes such as 2x4", text)
	}
	tensor, err := strconv.Atoi(b)
	if err != nil {
		return nil, fmt.Errorf("mesh %q: expected sizes such as 2x4", text)
	}
	return shard.Mesh{{Name: "data", Size: data}, {Name: "tensor", Size: tensor}}, nil
}
