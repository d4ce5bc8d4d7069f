package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
)

// double is a model of rows of two numbers, which it doubles. It takes a time, fails at
// 13, gives NaN for 17, and remembers its batches.
type double struct {
	takes   time.Duration
	mu      sync.Mutex
	batches []int
	ended   error // of the context of the last batch that ended early
}

func (m *double) Forward(ctx context.Context, x array.Dense[float32]) (y array.Dense[float32], err error) {
	m.mu.Lock()
	m.batches = append(m.batches, x.Dim(0))
	m.mu.Unlock()
	if m.takes > 0 {
		select {
		case <-time.After(m.takes):
		case <-ctx.Done():
			m.mu.Lock()
			m.ended = ctx.Err()
			m.mu.Unlock()
			return y, ctx.Err()
		}
	}
	y = array.NewDense[float32](x.Dim(0), 2)
	for i, v := range x.Data() {
		switch v {
		case 13:
			return y, errors.New("secret: 13")
		case 17:
			v = float32(math.NaN())
		}
		y.Data()[i] = 2 * v
	}
	return y, nil
}

// sizes forgets the batches until now, and returns those from then on, without the one that tried the model.
func (m *double) sizes() []int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.batches[1:]
}

// options are limits for tests, which time does not pass in unless they wait.
var options = Options{Row: []int{2}, MaxBatch: 8, MaxWait: 10 * time.Millisecond, Workers: 1, MaxRequests: 16, MaxBody: 1000, Timeout: time.Second}

func newServer(t *testing.T, m Model, o Options) *Server {
	s, err := New(func() (Model, error) { return m, nil }, o)
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s
}

// post sends a body and returns the answer.
func post(h http.Handler, path, body string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("POST", path, strings.NewReader(body)))
	return w
}

// ask posts n rows [v, 0], [v+1, 0], ... and requires their doubles.
func ask(t *testing.T, s *Server, v, n int) {
	var in, out []row
	for i := range n {
		in, out = append(in, row{float32(v + i), 0}), append(out, row{2 * float32(v+i), 0})
	}
	body, err := json.Marshal(question{in})
	assert.NoError(t, err)
	w := post(s.Handler(), "/v1/predict", string(body))
	var r result
	if assert.Equal(t, 200, w.Code, w.Body) && assert.NoError(t, json.Unmarshal(w.Body.Bytes(), &r)) {
		assert.Equal(t, out, r.Outputs)
	}
}

// A request alone waits for others as long as it may, and no longer.
func TestOneWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &double{}
		s := newServer(t, m, options)
		defer s.Close()
		start := time.Now()
		ask(t, s, 100, 3)
		require.Equal(t, options.MaxWait, time.Since(start))
		require.Equal(t, []int{3}, m.sizes())
	})
}

// A full batch does not wait, and the requests that do not fit go into the next one.
func TestBatchesFill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &double{takes: time.Millisecond}
		s := newServer(t, m, options)
		defer s.Close()
		start := time.Now()
		var wait sync.WaitGroup
		for i := range 3 {
			wait.Go(func() { ask(t, s, 100*(i+1), 3) })
			synctest.Wait()
		}
		require.Equal(t, []int{6}, m.sizes(), "nine do not fit")
		require.Zero(t, time.Since(start), "a batch that nothing fits into waited")
		wait.Go(func() { ask(t, s, 500, 5) })
		wait.Wait()
		require.Equal(t, []int{6, 8}, m.sizes())
		require.Equal(t, 2*time.Millisecond, time.Since(start))
	})
}

// While all workers compute, requests gather; then they do not wait again.
func TestBusyWorkersGather(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &double{takes: 100 * time.Millisecond}
		o := options
		o.Workers = 2
		o.MaxWait = 0
		s := newServer(t, m, o)
		defer s.Close()
		start := time.Now()
		var wait sync.WaitGroup
		for i := range 7 {
			wait.Go(func() { ask(t, s, 100*(i+1), 1) })
			synctest.Wait()
		}
		wait.Wait()
		require.Equal(t, []int{1, 1, 5}, m.sizes())
		require.Equal(t, 200*time.Millisecond, time.Since(start))
	})
}

// A request that takes too long is told so, and its computation ends, as nobody waits for it.
func TestTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &double{}
		s := newServer(t, m, options)
		defer s.Close()
		m.takes = time.Hour
		start := time.Now()
		w := post(s.Handler(), "/v1/predict", `{"inputs": [[1, 2]]}`)
		require.Equal(t, 504, w.Code, w.Body)
		require.Equal(t, options.Timeout, time.Since(start))
		synctest.Wait()
		require.ErrorIs(t, m.ended, context.Canceled)
		m.takes = 0
		ask(t, s, 1, 1)
	})
}

// A client that goes away takes its computation with it, but not that of others.
func TestClientGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &double{takes: 500 * time.Millisecond}
		s := newServer(t, m, options)
		defer s.Close()
		ctx, cancel := context.WithCancel(t.Context())
		var wait sync.WaitGroup
		var gone *httptest.ResponseRecorder
		wait.Go(func() {
			gone = httptest.NewRecorder()
			s.Handler().ServeHTTP(gone, httptest.NewRequest("POST", "/v1/predict", strings.NewReader(`{"inputs": [[1, 2]]}`)).WithContext(ctx))
		})
		wait.Go(func() { ask(t, s, 100, 1) })
		time.Sleep(100 * time.Millisecond)
		cancel()
		wait.Wait()
		require.Equal(t, 499, gone.Code)
		require.Equal(t, []int{2}, m.sizes())
		require.NoError(t, m.ended)
	})
}

// More requests than are admitted are refused at once; those inside are answered. Requests
// that were given up hold no place.
func TestTooMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &double{}
		s := newServer(t, m, options)
		defer s.Close()
		m.takes = time.Hour
		for round := range 3 { // all of the queue is given up, three times
			var wait sync.WaitGroup
			for range options.MaxRequests {
				wait.Go(func() {
					assert.Equal(t, 504, post(s.Handler(), "/v1/predict", `{"inputs": [[1, 2]]}`).Code)
				})
			}
			synctest.Wait()
			w := post(s.Handler(), "/v1/predict", `{"inputs": [[1, 2]]}`)
			require.Equal(t, 503, w.Code, round)
			require.Equal(t, "1", w.Header().Get("Retry-After"))
			wait.Wait()
		}
		synctest.Wait()
		m.takes = 0
		ask(t, s, 1, 8)
		text := post(s.Admin(), "/reload", "").Body.String()
		require.Equal(t, "{}\n", text)
		require.Contains(t, scrape(t, s), `gofx_requests_total{code="503"} 3`)
		require.Contains(t, scrape(t, s), `gofx_requests_total{code="504"} 48`)
		require.Contains(t, scrape(t, s), "gofx_requests_in_flight 0")
	})
}

func TestRefusals(t *testing.T) {
	s := newServer(t, &double{}, options)
	h := s.Handler()
	for _, c := range []struct {
		body, want string
		code       int
	}{
		{`{"inputs": [[1, 2], [3e0, -4.5E+1]]}`, `{"outputs":[[2,4],[6,-90]]}`, 200},
		{`{"inputs": [[0, -0]]} ` + "\n", `{"outputs":[[0,-0]]}`, 200},
		{`{"inputs": [[7, 8]], "inputs": [[1, 2]]}`, `{"outputs":[[2,4]]}`, 200}, // the last one, as always in JSON
		{``, "EOF", 400},
		{`{"inputs": [[1, 2]]`, "unexpected EOF", 400},
		{`{"inputs": [[1, 2]]} {}`, "more after the end", 400},
		{`{"inputs": [[1, 2]]} x`, "invalid character", 400},
		{`[[1, 2]]`, "cannot unmarshal", 400},
		{`{"input": [[1, 2]]}`, "unknown field", 400},
		{`{"INPUTS": [[1, 2]]}`, "unknown field", 400},
		{`{"Inputs": [[7, 8]], "inputs": [[1, 2]]}`, "unknown field", 400},
		{`{}`, "0 inputs, expected 1 to 8", 400},
		{`null`, "0 inputs, expected 1 to 8", 400},
		{`{"inputs": null}`, "0 inputs", 400},
		{`{"inputs": [null]}`, "no array of numbers", 400},
		{`{"inputs": [[1, null]]}`, "number 1 of an input is none", 400},
		{`{"inputs": [[7, 8]], "inputs": [[1, null]]}`, "number 1 of an input is none", 400},
		{`{"inputs": [["1", 2]]}`, "number 0 of an input is none", 400},
		{`{"inputs": [[[1], 2]]}`, "number 0 of an input is none", 400},
		{`{"inputs": [{"a": 1}]}`, "no array of numbers", 400},
		{`{"inputs": [[1, NaN]]}`, "invalid character", 400},
		{`{"inputs": [[1, 1e39]]}`, "number 1 of an input is beyond float32", 400},
		{`{"inputs": [[1]]}`, "input 0 has 1 numbers, expected 2", 400},
		{`{"inputs": [[1, 2], []]}`, "input 1 has 0 numbers, expected 2", 400},
		{`{"inputs": [[1, 2, 3]]}`, "input 0 has 3 numbers, expected 2", 400},
		{`{"inputs": [` + strings.Repeat("[1,2],", 8) + `[1,2]]}`, "9 inputs, expected 1 to 8", 400},
		{`{"inputs": [[1, 2]` + strings.Repeat(" ", 1000) + `]}`, "more than 1000 bytes", 413},
		{`{"inputs": ` + strings.Repeat("[", 900), "", 400},
		{`{"inputs": [[17, 2]]}`, "input 0 has numbers that are not finite", 422},
		{`{"inputs": [[3e38, 2]]}`, "input 0 has numbers that are not finite", 422},
		{`{"inputs": [[13, 2]]}`, `{"error":"the prediction failed"}`, 500},
	} {
		w := post(h, "/v1/predict", c.body)
		assert.Equal(t, c.code, w.Code, "%s: %s", c.body, w.Body)
		assert.Contains(t, strings.ReplaceAll(w.Body.String(), `\"`, `"`), c.want, c.body)
		assert.NotContains(t, w.Body.String(), "secret")
		assert.True(t, json.Valid(w.Body.Bytes()), w.Body)
	}
	r := httptest.NewRequest("POST", "/v1/predict", strings.NewReader("inputs=1"))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	require.Equal(t, 415, w.Code)
	w = httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", "/v1/predict", nil))
	require.Equal(t, 405, w.Code)
	require.Equal(t, 404, post(h, "/reload", "").Code, "the public address reloads")
	require.Equal(t, 404, post(h, "/metrics", "").Code)
}

// An input that the model fails at fails alone, in whatever batch it came.
func TestFaultsStayApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &double{}
		s := newServer(t, m, options)
		defer s.Close()
		var wait sync.WaitGroup
		codes := map[int]int{13: 500, 17: 422}
		for v, code := range codes {
			wait.Go(func() {
				assert.Equal(t, code, post(s.Handler(), "/v1/predict", fmt.Sprintf(`{"inputs": [[0, %d]]}`, v)).Code)
			})
		}
		for i := range 3 {
			wait.Go(func() { ask(t, s, 100*(i+1), 2) })
		}
		wait.Wait()
		require.Equal(t, 8, m.sizes()[0])
		require.Len(t, m.sizes(), 1+5, "the batch, and each request by itself")
	})
}

// Closing answers everybody who waits, once.
func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &double{}
		o := options
		o.MaxBatch = 2
		s := newServer(t, m, o)
		m.takes = time.Hour
		var wait sync.WaitGroup
		for range 5 {
			wait.Go(func() {
				assert.Equal(t, 503, post(s.Handler(), "/v1/predict", `{"inputs": [[1, 2]]}`).Code)
			})
		}
		synctest.Wait()
		s.Close()
		wait.Wait()
		assert.Equal(t, 503, post(s.Handler(), "/v1/predict", `{"inputs": [[1, 2]]}`).Code)
		s.Close()
	})
}

func TestHealth(t *testing.T) {
	s := newServer(t, &double{}, options)
	get := func(h http.Handler, path string) int {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		return w.Code
	}
	for _, h := range []http.Handler{s.Handler(), s.Admin()} {
		require.Equal(t, 200, get(h, "/healthz"))
		require.Equal(t, 200, get(h, "/readyz"))
	}
	s.Drain()
	for _, h := range []http.Handler{s.Handler(), s.Admin()} {
		require.Equal(t, 200, get(h, "/healthz"))
		require.Equal(t, 503, get(h, "/readyz"))
	}
	ask(t, s, 1, 1)
}

func TestOptionsAreChecked(t *testing.T) {
	load := func() (Model, error) { return &double{}, nil }
	for _, change := range []func(*Options){
		func(o *Options) { o.Row = []int{0} },
		func(o *Options) { o.Row = []int{1 << 30, 1 << 30, 1 << 30} },
		func(o *Options) { o.MaxBatch = 0 },
		func(o *Options) { o.Workers = 0 },
		func(o *Options) { o.MaxRequests = 0 },
		func(o *Options) { o.MaxBody = 0 },
		func(o *Options) { o.MaxWait = -1 },
		func(o *Options) { o.Timeout = 0 },
	} {
		o := options
		change(&o)
		_, err := New(load, o)
		require.Error(t, err)
	}
	_, err := New(func() (Model, error) { return nil, errors.New("no file") }, options)
	require.ErrorContains(t, err, "no file")
	require.Positive(t, Threads(1000))
}

// explosive is a model that panics at 13.
type explosive struct{ double }

func (m *explosive) Forward(ctx context.Context, x array.Dense[float32]) (y array.Dense[float32], err error) {
	y, err = m.double.Forward(ctx, x)
	if err != nil {
		panic("secret: " + err.Error())
	}
	return y, nil
}

// A panic of the model is the fault of the input at which it panics, in whatever batch that
// came; the process goes on.
func TestPanicsStayApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, &explosive{}, options)
		defer s.Close()
		var wait sync.WaitGroup
		wait.Go(func() {
			w := post(s.Handler(), "/v1/predict", `{"inputs": [[0, 13]]}`)
			assert.Equal(t, 500, w.Code)
			assert.NotContains(t, w.Body.String(), "secret")
		})
		for i := range 3 {
			wait.Go(func() { ask(t, s, 100*(i+1), 2) })
		}
		wait.Wait()
		ask(t, s, 500, 1)
	})
	_, err := New(func() (Model, error) { return panics{}, nil }, options)
	require.ErrorContains(t, err, "the model panicked: always")
}

type panics struct{}

func (panics) Forward(context.Context, array.Dense[float32]) (array.Dense[float32], error) {
	panic("always")
}
