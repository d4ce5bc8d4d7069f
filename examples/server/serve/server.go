package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gofx-dev/gofx/array"
)

// Model is the interface of generated packages.
type Model interface {
	Forward(ctx context.Context, x array.Dense[float32]) (array.Dense[float32], error)
}

// Options are the limits of a server. All but MaxWait and Log have to be set.
type Options struct {
	Row         []int         // the sizes of one input, without the first one
	MaxBatch    int           // the most inputs of a request, and of a batch
	MaxWait     time.Duration // the longest that an input waits for others
	Workers     int           // how many batches are computed at once
	MaxRequests int           // the most requests at once, from their first byte to their answer
	MaxBody     int64         // the most bytes of a request
	Timeout     time.Duration // the longest that a request waits for its answer
	Log         *slog.Logger
}

// Threads is how many goroutines a model should compute with when there are so many workers.
func Threads(workers int) int { return max(1, runtime.GOMAXPROCS(0)/max(1, workers)) }

// Server answers requests. It is made by New; its methods may be called at any time.
type Server struct {
	options  Options
	width    int // elements of a row
	load     func() (Model, error)
	model    atomic.Pointer[Model]
	loading  sync.Mutex
	admitted chan struct{}
	batches  *batcher
	metrics  *metrics
	draining atomic.Bool
}

// New returns a server for the model that load gives, which Reload calls again.
func New(load func() (Model, error), o Options) (*Server, error) {
	width := 1
	for _, d := range o.Row {
		if d < 1 || width > math.MaxInt32/d {
			return nil, fmt.Errorf("sizes of a row are %v, expected positive ones", o.Row)
		}
		width *= d
	}
	if o.MaxBatch < 1 || o.Workers < 1 || o.MaxRequests < 1 || o.MaxBody < 1 || o.Timeout <= 0 || o.MaxWait < 0 {
		return nil, errors.New("limits have to be positive: batch, workers, requests, body, timeout")
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{options: o, width: width, load: load, admitted: make(chan struct{}, o.MaxRequests), metrics: newMetrics()}
	if err := s.Reload(); err != nil {
		return nil, err
	}
	s.batches = newBatcher(s)
	return s, nil
}

// Drain makes the server not ready, so that nobody sends it new requests; it goes on to
// answer those that come all the same, and announces with each answer that the connection
// is closed after it. Connections that are idle stay open: to close one while its client
// sends the next request would lose that.
func (s *Server) Drain() { s.draining.Store(true) }

// announcing tells clients of a server that drains to connect again, elsewhere.
func (s *Server) announcing(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.draining.Load() {
			w.Header().Set("Connection", "close")
		}
		h.ServeHTTP(w, r)
	})
}

// Close ends the computations. Requests that still wait get an error.
func (s *Server) Close() { s.batches.close() }

// Handler answers POST /v1/predict, GET /healthz and GET /readyz.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/predict", s.predict)
	s.health(mux)
	return s.announcing(mux)
}

// Admin answers GET /metrics, POST /reload and health. It is not for everyone.
func (s *Server) Admin() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		s.metrics.write(w)
	})
	mux.HandleFunc("POST /reload", func(w http.ResponseWriter, _ *http.Request) {
		if err := s.Reload(); err != nil {
			answer(w, http.StatusUnprocessableEntity, failure{err.Error()})
			return
		}
		answer(w, http.StatusOK, struct{}{})
	})
	s.health(mux)
	return mux
}

func (s *Server) health(mux *http.ServeMux) {
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, struct{}{}) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if s.draining.Load() {
			answer(w, http.StatusServiceUnavailable, failure{"shutting down"})
			return
		}
		answer(w, http.StatusOK, struct{}{})
	})
}

// predict answers one request.
func (s *Server) predict(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	s.metrics.inFlight.Add(1)
	defer s.metrics.inFlight.Add(-1)
	outputs, err := s.answerTo(w, r)
	status := http.StatusOK
	if err == nil {
		answer(w, status, result{outputs})
	} else {
		status = s.status(err)
		if status == http.StatusServiceUnavailable {
			w.Header().Set("Retry-After", "1")
		}
		msg := err.Error()
		if status == http.StatusInternalServerError {
			s.options.Log.Error("prediction failed", "error", err)
			msg = "the prediction failed" // internal errors are not the client's business
		}
		answer(w, status, failure{msg})
	}
	s.metrics.requests.add(strconv.Itoa(status))
	s.metrics.seconds.observe(time.Since(start).Seconds())
}

// status is the HTTP status of an error.
func (s *Server) status(err error) int {
	var r *refusal
	switch {
	case errors.As(err, &r):
		return r.status
	case errors.Is(err, errClosed):
		return http.StatusServiceUnavailable
	case errors.Is(err, context.DeadlineExceeded):
		return http.StatusGatewayTimeout
	case errors.Is(err, context.Canceled):
		return 499 // the client has gone: nobody reads it, the counters do
	}
	return http.StatusInternalServerError
}

func (s *Server) answerTo(w http.ResponseWriter, r *http.Request) ([]row, error) {
	select {
	case s.admitted <- struct{}{}:
		defer func() { <-s.admitted }()
	default:
		return nil, refuse(http.StatusServiceUnavailable, "%d requests are waiting, try again later", s.options.MaxRequests)
	}
	there, stop := whileThere(r.Context())
	defer stop()
	ctx, cancel := context.WithTimeout(there, s.options.Timeout)
	defer cancel()
	rows, err := s.rows(http.MaxBytesReader(w, r.Body, s.options.MaxBody), r.Header.Get("Content-Type"))
	if err != nil {
		return nil, err
	}
	s.metrics.rows.Add(int64(len(rows)))
	return s.batches.compute(ctx, rows)
}
