package counts

import (
	"context"
	"fmt"

	"github.com/gofx-dev/gofx/bench/nets"
	"github.com/gofx-dev/gofx/compile"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/lazy"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

// Graphs counts the graphs in which a trace, a session and compiled functions capture networks, in three calls each: W34. A trace
// that is refused counts as none.
func Graphs(list []nets.Paper) func(tell Tell) error {
	return func(tell Tell) error {
		for _, p := range list {
			if err := graphsOf(p.Model, tell); err != nil {
				return fmt.Errorf("%s: %w", p.Model.Name, err)
			}
		}
		return nil
	}
}

func graphsOf(m *models.Model, tell Tell) error {
	module := m.New()
	models.Synthetic(m, module, "graphs")
	var opts []fx.Option
	var in []*tensor.Tensor
	for _, v := range m.Inputs {
		opts = append(opts, fx.Input(v.Name, v.Type))
		x, err := models.SyntheticInput(v, "graphs", m.Dims)
		if err != nil {
			return err
		}
		in = append(in, x)
	}
	traces := 0
	if _, err := fx.Trace(context.Background(), module, opts...); err == nil {
		traces = 1
	}
	tell.int(m.Name+": trace", traces)
	st, err := inSession(lazy.Options{}, func(s *lazy.Session) error {
		for range 3 {
			var x []*tensor.Tensor
			for _, v := range in {
				x = append(x, s.In(v))
			}
			out := nn.RunAll(module, x...)
			if err := s.Barrier(); err != nil {
				return err
			}
			for _, y := range out {
				y.Array()
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	tell.int(m.Name+": session", st.Graphs)
	f, err := nets.New(module, compile.Strict())
	if err != nil {
		return err
	}
	defer f.Close()
	for range 3 {
		f.Call(in...)
	}
	tell.int(m.Name+": records", f.Stats().Records)
	tell.int("hits", f.Stats().Hits)
	return nil
}
