package serve

import (
	"context"
	"fmt"
	"time"

	"github.com/gofx-dev/gofx/array"
)

// tryTimeout is the longest that a new model may take for its first batch.
const tryTimeout = 30 * time.Second

// Reload loads the model again, tries it, and computes with it from the next batch on.
// After an error the server goes on with the model that it has.
func (s *Server) Reload() error {
	s.loading.Lock() // one after the other, so that the last one asked for stays
	defer s.loading.Unlock()
	m, err := s.load()
	if err == nil {
		err = s.try(m)
	}
	if err != nil {
		s.metrics.reloads.add("refused")
		s.options.Log.Error("model refused", "error", err)
		return err
	}
	s.model.Store(&m)
	s.metrics.reloads.add("loaded")
	s.metrics.loaded.Store(time.Now().Unix())
	s.options.Log.Info("model loaded")
	return nil
}

// try computes a full batch of zeros: weights that are damaged in a way that no checksum
// knows of, such as NaN after training, are found before a client gets them.
func (s *Server) try(m Model) error {
	ctx, cancel := context.WithTimeout(context.Background(), tryTimeout)
	defer cancel()
	rows, err := forward(ctx, m, array.NewDense[float32](append([]int{s.options.MaxBatch}, s.options.Row...)...))
	if err == nil {
		err = finite(rows)
	}
	if err != nil {
		return fmt.Errorf("the model was tried on zeros: %w", err)
	}
	return nil
}
