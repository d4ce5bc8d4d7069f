package lazy_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/lazy"
	"github.com/gofx-dev/gofx/tensor"
)

func afterClose() {
	s := lazy.New(lazy.Options{})
	x := s.In(tensor.Ones(2))
	s.Close()
	x.Relu()
}

func readsInside(s *lazy.Session) error {
	x := s.In(tensor.Ones(2))
	return s.NoFlush(func() { x.Sum().Item() })
}

func negative() {
	lazy.New(lazy.Options{MaxTrace: -1})
}

func throughBarrier(s *lazy.Session, w *tensor.Tensor) {
	y := s.In(tensor.Ones(2)).Mul(w)
	s.Barrier()
	tensor.Grad(y.Mul(w).Sum(), w)
}

func readsLate(s *lazy.Session, w *tensor.Tensor) {
	for i := range 4 {
		y := s.In(tensor.Ones(2)).Mul(w)
		w.SubInPlace(y.MulScalar(0.5))
		s.Barrier()
		s.Wait()
		if i == 3 {
			y.Sum().Item()
		}
	}
}

// TestExamplesOfCodes makes the mistake of every documented code of sessions, as its example says.
func TestExamplesOfCodes(t *testing.T) {
	mistakes := map[diag.Code]func() error{
		lazy.Closed:    func() error { return panicOf(t, afterClose) },
		lazy.Forbidden: func() error { return readsInside(open(t, lazy.Options{})) },
		lazy.BadOption: func() error { return panicOf(t, negative) },
		lazy.Donated: func() error {
			return panicOf(t, func() { readsLate(open(t, lazy.Options{Donate: true}), param(1, 2)) })
		},
		lazy.Past: func() error { return panicOf(t, func() { throughBarrier(open(t, learning), param(1, 2)) }) },
	}
	for _, info := range diag.Codes() {
		if strings.HasPrefix(string(info.Code), "FX105") {
			t.Run(string(info.Code), func(t *testing.T) {
				require.Contains(t, mistakes, info.Code)
				require.ErrorIs(t, mistakes[info.Code](), info.Code)
			})
		}
	}
}
