package serve

import (
	"context"
	"errors"
	"math"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
)

// times is a model that multiplies by a number.
type times float32

func (m times) Forward(_ context.Context, x array.Dense[float32]) (array.Dense[float32], error) {
	y := array.NewDense[float32](x.Shape()...)
	for i, v := range x.Data() {
		y.Data()[i] = (v + 1) * float32(m)
	}
	return y, nil
}

// wide is a model with another number of rows than its input.
type wide struct{}

func (wide) Forward(context.Context, array.Dense[float32]) (array.Dense[float32], error) {
	return array.NewDense[float32](1, 2), nil
}

func TestReloadKeepsWhatWorks(t *testing.T) {
	var next Model = times(2)
	var wrong error
	s, err := New(func() (Model, error) { return next, wrong }, options)
	require.NoError(t, err)
	defer s.Close()
	answers := func(want string) {
		t.Helper()
		require.Equal(t, `{"outputs":[`+want+"]}\n", post(s.Handler(), "/v1/predict", `{"inputs":[[0,1]]}`).Body.String())
	}
	answers("[2,4]")
	next = times(3)
	answers("[2,4]")
	require.Equal(t, 200, post(s.Admin(), "/reload", "").Code)
	answers("[3,6]")

	wrong = errors.New("weights are missing")
	w := post(s.Admin(), "/reload", "")
	require.Equal(t, 422, w.Code)
	require.Contains(t, w.Body.String(), "weights are missing")
	wrong = nil
	for _, m := range []Model{times(math.NaN()), times(math.Inf(1)), wide{}, failing{}} {
		next = m
		require.Equal(t, 422, post(s.Admin(), "/reload", "").Code, "%v", m)
		answers("[3,6]")
	}
	next = times(4)
	require.NoError(t, s.Reload())
	answers("[4,8]")
	text := scrape(t, s)
	require.Contains(t, text, `gofx_reloads_total{result="loaded"} 3`)
	require.Contains(t, text, `gofx_reloads_total{result="refused"} 5`)
}

type failing struct{}

func (failing) Forward(context.Context, array.Dense[float32]) (y array.Dense[float32], err error) {
	return y, errors.New("fails")
}

// scrape returns the metrics after it has read them as Prometheus does.
func scrape(t *testing.T, s *Server) string {
	t.Helper()
	w := httptest.NewRecorder()
	s.Admin().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	require.Equal(t, 200, w.Code)
	require.Equal(t, "text/plain; version=0.0.4; charset=utf-8", w.Header().Get("Content-Type"))
	text := w.Body.String()
	require.True(t, strings.HasSuffix(text, "\n"))
	sample := regexp.MustCompile(`^([a-z_]+?)(_bucket|_sum|_count)?(?:\{([a-z]+)="([^"\\]*)"\})? (\S+)$`)
	kinds, last := map[string]string{}, map[string]float64{}
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		if rest, ok := strings.CutPrefix(line, "# TYPE "); ok {
			name, kind, _ := strings.Cut(rest, " ")
			require.NotContains(t, kinds, name, "a metric twice")
			kinds[name] = kind
			continue
		}
		if strings.HasPrefix(line, "# HELP ") {
			continue
		}
		m := sample.FindStringSubmatch(line)
		require.NotNil(t, m, line)
		v, err := strconv.ParseFloat(m[5], 64)
		require.NoError(t, err, line)
		name := m[1]
		if kinds[name] == "" {
			name += m[2]
		}
		require.NotEmpty(t, kinds[name], "%s has no type", line)
		if kinds[name] != "histogram" {
			continue
		}
		switch m[2] {
		case "_bucket":
			require.GreaterOrEqual(t, v, last[name], "buckets are cumulative: %s", line)
			last[name] = v
			last[name+m[4]] = v
		case "_count":
			require.Equal(t, last[name+"+Inf"], v, line)
		}
	}
	return text
}

func TestMetrics(t *testing.T) {
	s := newServer(t, &double{}, options)
	require.Contains(t, scrape(t, s), "gofx_request_seconds_count 0\n")
	for n := 1; n <= 3; n++ {
		ask(t, s, 100, n)
	}
	post(s.Handler(), "/v1/predict", "{}")
	text := scrape(t, s)
	for _, want := range []string{
		`gofx_requests_total{code="200"} 3`, `gofx_requests_total{code="400"} 1`, "gofx_request_seconds_count 4", "gofx_inputs_total 6",
		`gofx_batch_inputs_bucket{le="1"} 1`, `gofx_batch_inputs_bucket{le="2"} 2`, `gofx_batch_inputs_bucket{le="4"} 3`, "gofx_batch_inputs_sum 6",
		"gofx_requests_in_flight 0", `gofx_reloads_total{result="loaded"} 1`,
	} {
		require.Contains(t, text, want+"\n")
	}
}
