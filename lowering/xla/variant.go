package xla

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/shard"
	"github.com/gofx-dev/gofx/lowering/xla/pjrt"
)

var _ lowering.Divided = Target{}

// variant is the program for some values of the symbols, or up to their bounds.
type variant struct {
	refused error // why there is none up to the bounds; nothing else is set then
	program *Program
	args    []place // of main
	results []place
	code    *lowering.CacheEntry[*pjrt.Executable]
	order   []int // of the devices that the plugin lists: the partitions
}

func (v *variant) drop() {
	if v.code != nil {
		v.code.Release()
	}
}

// RunStats counts the runs of an executable by the programs that they took.
type RunStats struct {
	// Sizes are the programs of the executable: for values of the symbols, or up to their bounds.
	Sizes lowering.CacheStats
	// Bounded are runs of a program for all sizes up to Target.Bounds, Own those of a program for
	// their sizes; Outside of the latter have a size beyond its bound, or of 0.
	Bounded, Own, Outside int
	// Refused is why a program up to the bounds was not there when it was last asked for: an error of
	// EmitBounded, or of the plugin, which is not asked again. It is nil where none was refused.
	Refused error
}

// counts are the numbers of RunStats.
type counts struct {
	sync.Mutex
	RunStats
}

// Stats returns what the executable did so far; Runtime.Stats counts what was compiled.
func (e *Executable) Stats() RunStats {
	e.counts.Lock()
	defer e.counts.Unlock()
	s := e.counts.RunStats
	s.Sizes = e.sized.Stats()
	return s
}

func (e *Executable) count(f func(s *RunStats)) {
	e.counts.Lock()
	defer e.counts.Unlock()
	f(&e.counts.RunStats)
}

// bounded reports bounds that are none of symbols whose sizes are open.
func (e *Executable) bounded(g *graph.Graph) error {
	if err := checkBounds(g, e.bounds); err != nil {
		return err
	}
	if len(e.bounds) > 0 && e.layout != nil {
		return diag.New(lowering.BadOption, "bounds of sizes and a layout over devices are given, of which a target takes one").
			WithHint("leave Bounds out: a program is made for each size, and parts of tensors have sizes that are known")
	}
	var open []string
	for _, s := range e.symbols {
		open = append(open, s.Name)
	}
	var errs diag.List
	for _, name := range slices.Sorted(maps.Keys(e.bounds)) {
		if !slices.Contains(open, name) {
			errs = append(errs, diag.New(lowering.BadOption, "symbol "+name+" has a bound, and its size is pinned or follows from others").
				WithHint("sizes that are open: "+strings.Join(open, ", ")))
		}
	}
	return errs.Err()
}

// Divide implements lowering.Divided: a part has the bounds of the symbols that are sizes of its
// operands. A layout is of a whole graph, and refused.
func (t Target) Divide(whole *graph.Module) (func(part *graph.Module) lowering.Target, error) {
	if t.Layout != nil {
		return nil, diag.New(lowering.BadOption, "a layout over devices is given for a graph that is split").
			WithHint("compile the whole graph for target " + Name + "; parts of a split run on one device")
	}
	if err := checkBounds(whole.Graph, t.Bounds); err != nil {
		return nil, err
	}
	return func(part *graph.Module) lowering.Target {
		p := t
		p.Bounds = map[string]int{}
		for _, s := range lowering.NewEntry(part.Graph).Open() {
			if most, ok := t.Bounds[s.Name]; ok {
				p.Bounds[s.Name] = most
			}
		}
		return p
	}, nil
}

// forRun returns the program that a run takes, and counts it.
func (e *Executable) forRun(ctx context.Context, sizes []int) (*lowering.CacheEntry[*variant], error) {
	outside := false
	if len(e.bounds) > 0 {
		for i, s := range e.symbols {
			most, bound := e.bounds[s.Name]
			outside = outside || bound && (sizes[i] < 1 || sizes[i] > most)
		}
	}
	if len(e.bounds) > 0 && !outside {
		h, err := e.upTo(ctx, sizes)
		if err != nil {
			return nil, err
		}
		if h.Value.refused == nil {
			e.count(func(s *RunStats) { s.Bounded++ })
			return h, nil
		}
		h.Release()
	}
	h, err := e.forSizes(ctx, sizes)
	if err != nil {
		return nil, err
	}
	e.count(func(s *RunStats) {
		s.Own++
		if outside {
			s.Outside++
		}
	})
	return h, nil
}

// forSizes returns the program for values of the symbols, for one more user.
func (e *Executable) forSizes(ctx context.Context, sizes []int) (*lowering.CacheEntry[*variant], error) {
	return e.sized.Hold(ctx, fmt.Sprint(sizes), func() (*variant, error) {
		o := e.options(sizes, nil)
		program, err := e.emit(o)
		if err != nil {
			return nil, err
		}
		return e.compiled(ctx, program, o.Key())
	})
}

// upTo returns the program for all sizes up to the bounds, and the sizes of symbols that have none, for
// one more user: one that is refused where there is none.
func (e *Executable) upTo(ctx context.Context, sizes []int) (*lowering.CacheEntry[*variant], error) {
	o := e.options(sizes, e.bounds)
	most := lowering.Options{Shapes: e.bounds}
	key := "up to " + most.Key() + " of " + o.Key()
	return e.sized.Hold(ctx, key, func() (*variant, error) {
		v, err := e.upToBounds(ctx, o, key)
		if err == nil || ctx.Err() != nil || isBug(err) {
			return v, err
		}
		e.count(func(s *RunStats) { s.Refused = err })
		return &variant{refused: err}, nil
	})
}

func (e *Executable) upToBounds(ctx context.Context, o lowering.Options, key string) (*variant, error) {
	program, err := EmitBounded(e.module, lowering.Options{Shapes: o.Shapes, Donate: o.Donate}, e.bounds)
	if err != nil {
		return nil, err
	}
	for _, t := range append(program.code.Arguments(), program.code.Results()...) { // arrays of the host are as large
		if n, ok := array.NumElems(t.Dims); !ok || n > math.MaxInt/8 {
			return nil, diag.New(array.CodeTooLarge, t.String()+" has more bytes than any memory").WithHint("leave the symbol without a bound, or give it a smaller one")
		} else if err := array.TooLarge(t.String(), int64(n*t.Elem.Size())); err != nil {
			return nil, err
		}
	}
	return e.compiled(ctx, program, key)
}

func isBug(err error) bool {
	var d *diag.Error
	return errors.As(err, &d) && d.Code == diag.Internal
}

// options are those of a compilation, with the sizes of symbols except for some.
func (e *Executable) options(sizes []int, but map[string]int) lowering.Options {
	o := e.opts
	o.Shapes = map[string]int{}
	if e.layout != nil { // the module is not prepared
		maps.Copy(o.Shapes, e.opts.Shapes)
	}
	for i, s := range e.symbols {
		if _, bound := but[s.Name]; !bound {
			o.Shapes[s.Name] = sizes[i]
		}
	}
	return o
}

// emit returns the program for the sizes of options.
func (e *Executable) emit(o lowering.Options) (*Program, error) {
	if e.layout == nil { // results are chosen
		return Emit(e.module, lowering.Options{Shapes: o.Shapes, Donate: o.Donate, Into: o.Into})
	}
	plan, err := shard.Propagate(e.module, o, *e.layout)
	if err != nil {
		return nil, err
	}
	return emitSharded(plan, o.Donate)
}

// compiled returns a program as it runs on the devices of the executable.
func (e *Executable) compiled(ctx context.Context, p *Program, options string) (v *variant, err error) {
	if e.tf32 {
		p.code.Main.RoundProducts()
	}
	v = &variant{program: p}
	if v.args, err = placesOf(e.devices, p.code.Arguments(), p.code.Shardings); err != nil {
		return nil, err
	}
	if v.results, err = placesOf(e.devices, p.code.Results(), p.code.ResultShardings); err != nil {
		return nil, err
	}
	var on []*pjrt.Device
	if e.layout != nil {
		on = e.devices
	}
	if v.code, err = e.runtime.compile(ctx, p.String(), options, e.folder, on); err != nil {
		return nil, err
	}
	if n := len(v.code.Value.Outputs()); n != len(v.results) {
		v.drop()
		return nil, diag.New(lowering.BadOutput, fmt.Sprintf("the plugin's program has %d results, expected %d", n, len(v.results)))
	}
	v.order = orderOf(v.code.Value, e.devices)
	return v, nil
}

// orderOf says of each device that a compiled program lists which partition it has. A program for one
// device runs where the plugin says, which Execute checks.
func orderOf(code *pjrt.Executable, devices []*pjrt.Device) []int {
	if len(devices) == 1 {
		return []int{0}
	}
	var order []int
	for _, d := range code.Devices() {
		order = append(order, slices.Index(devices, d))
	}
	return order
}

// execute runs the program on arguments at their places.
func (v *variant) execute(ctx context.Context, c *pjrt.Client, args []*placed, donate []int) ([]*placed, error) {
	lists := make([][]*pjrt.Buffer, len(v.order))
	for i, partition := range v.order {
		for _, a := range args {
			lists[i] = append(lists[i], a.buffers[partition])
		}
	}
	out, err := v.code.Value.ExecuteAll(ctx, lists, donate...)
	if err != nil {
		return nil, err
	}
	results := make([]*placed, len(v.results))
	for k, at := range v.results {
		results[k] = &placed{place: at, client: c, buffers: make([]*pjrt.Buffer, len(v.order))}
		for i, partition := range v.order {
			results[k].buffers[partition] = out[i][k]
		}
	}
	return results, nil
}
