// Package counts counts what gofx does with workloads of papers that are about numbers of things rather than times. The numbers do
// not depend on the machine, except in Workers.
package counts

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lazy"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/tensor"
)

// Tell is told a count.
type Tell func(name string, n float64)

func (tell Tell) int(name string, n int) { tell(name, float64(n)) }

// inSession runs f in a session whose counts do not depend on the compiler's speed.
func inSession(o lazy.Options, f func(s *lazy.Session) error) (lazy.Stats, error) {
	o.Synchronous = true
	s := lazy.New(o)
	err := f(s)
	st := s.Stats()
	if e := s.Close(); err == nil {
		err = e
	}
	return st, err
}

func vector(v ...float32) *tensor.Tensor { return tensor.FromSlice(v) }

// Chains counts the graphs of a chain of 8, 16 and 32 calls that runs a hundred times: W1.
func Chains(tell Tell) error {
	for _, k := range []int{8, 16, 32} {
		const times = 100
		st, err := inSession(lazy.Options{}, func(s *lazy.Session) error {
			x, by := s.In(vector(1, 2, 3)), s.In(vector(1.5, 2.5, 3.5))
			for range times {
				y := x
				for i := range k {
					switch i % 4 {
					case 0:
						y = y.Add(by)
					case 1:
						y = y.Mul(by)
					case 2:
						y = y.Div(by)
					default:
						y = y.Sub(by)
					}
				}
				y.Array()
			}
			return nil
		})
		if err != nil {
			return err
		}
		tell.int(fmt.Sprintf("%d calls: graphs", k), st.Graphs)
		tell.int("calls of the longest", st.Longest)
		tell.int("compiled runs of 100", st.Hits)
	}
	return nil
}

// Figures counts what small programs of the figures of LazyTensor do: a factor that takes special numbers, updates of a parameter,
// writes through views of one tensor: W15.
func Figures(tell Tell) error {
	st, err := inSession(lazy.Options{}, func(s *lazy.Session) error {
		x := s.In(vector(1, 2, 3))
		for i := range 10 {
			x.MulScalar(float64(i)).AddScalar(1).Array()
		}
		return nil
	})
	if err != nil {
		return err
	}
	tell.int("numbers: graphs", st.Graphs)
	st, err = inSession(lazy.Options{Donate: true}, func(s *lazy.Session) error {
		w := tensor.Param(array.FromSlice([]float32{1, 2}))
		for i := range 10 {
			w.SubInPlace(s.In(vector(float32(i), 1)).MulScalar(0.5))
			if err := s.Barrier(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	tell.int("updates: donated", st.Donated)
	tell.int("copied", st.Copied)
	st, err = inSession(lazy.Options{}, func(s *lazy.Session) error {
		x := s.In(tensor.Arange(24).Cast(array.F32).Reshape(2, 3, 4).Clone())
		x.Permute(1, 2, 0).AddScalarInPlace(42)
		x.Select(0, 1).Slice(1, 1, 3).MulScalarInPlace(-1)
		if got, want := x.Sum().Item(), viewed(); got != want {
			return fmt.Errorf("the sum is %g, want %g", got, want)
		}
		return nil
	})
	flushes := 0
	for _, n := range st.Flushes {
		flushes += n
	}
	tell.int("views: flushes", flushes)
	return err
}

// viewed is the sum that the writes of Figures leave: 42 more everywhere, and two of four columns of the second matrix with the
// other sign.
func viewed() (sum float64) {
	for i := range 24 {
		v := float64(i + 42)
		if column := i % 4; i >= 12 && column >= 1 && column < 3 {
			v = -v
		}
		sum += v
	}
	return sum
}

// Nodes counts the nodes of ResNet-50's graph: W40.
func Nodes(tell Tell) error {
	net := models.Lookup("resnet50").New()
	for _, v := range []struct {
		name string
		o    []fx.Option
	}{{"nodes, flat", []fx.Option{fx.Flat()}}, {"nodes, modules", nil}} {
		m, err := fx.Trace(context.Background(), net, v.o...)
		if err != nil {
			return err
		}
		tell.int(v.name, m.Graph.Len())
	}
	return nil
}

// Fusion counts the batch norms of ResNet-50 before and after the passes that everybody gets: W42.
func Fusion(tell Tell) error {
	spec := models.Lookup("resnet50")
	m, err := fx.Trace(context.Background(), spec.New(), fx.Flat(), fx.Input("x", spec.Inputs[0].Type))
	if err != nil {
		return err
	}
	tell.int("batch norms before", norms(m.Graph))
	if _, err := passes.Run(context.Background(), m.Module, fx.Optimise(), passes.Options{}); err != nil {
		return err
	}
	tell.int("batch norms after", norms(m.Graph))
	return nil
}

func norms(g *graph.Graph) (n int) {
	for range g.Calls(std.BatchNorm) {
		n++
	}
	return n
}

// classes matches a row of the table of programs: a class, how many there are, and how many have a record.
var classes = regexp.MustCompile(`(?m)^\| ([a-z-]+) \| (\d+) \| (\d+) \| \d+ \|$`)

// Programs counts programs of the corpus by class, and those with a record: W35. The page of the corpus, which its tests write,
// is read below a folder of documentation.
func Programs(docs string) func(tell Tell) error {
	return func(tell Tell) error {
		page, err := os.ReadFile(docs + "/compile-cases.md")
		if err != nil {
			return err
		}
		static, captured := 0.0, 0.0
		for _, row := range classes.FindAllStringSubmatch(string(page), -1) {
			all, _ := strconv.ParseFloat(row[2], 64)
			with, _ := strconv.ParseFloat(row[3], 64)
			tell(strings.TrimSpace(row[1])+": programs", all)
			tell(row[1]+": records", with)
			if row[1] != "dynamic" && row[1] != "break" { // breaks are no class of the paper's
				static, captured = static+all, captured+with
			}
		}
		if static == 0 {
			return fmt.Errorf("%s/compile-cases.md has no table of classes", docs)
		}
		tell("percent of static programs", 100*captured/static)
		return nil
	}
}
