package serve

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// metrics are the server's counts, in the text format of Prometheus
// (https://prometheus.io/docs/instrumenting/exposition_formats).
type metrics struct {
	requests, reloads counters
	seconds, batches  histogram
	rows              atomic.Int64
	inFlight          atomic.Int64
	loaded            atomic.Int64
	started           int64
}

func newMetrics() *metrics {
	m := &metrics{started: time.Now().Unix()}
	m.seconds.bounds = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}
	m.batches.bounds = []float64{1, 2, 4, 8, 16, 32, 64, 128, 256}
	m.seconds.counts = make([]int64, len(m.seconds.bounds)+1)
	m.batches.counts = make([]int64, len(m.batches.bounds)+1)
	return m
}

// write writes all of them.
func (m *metrics) write(w io.Writer) {
	var b bytes.Buffer
	m.requests.write(&b, "gofx_requests_total", "Requests, by HTTP status.", "code")
	m.seconds.write(&b, "gofx_request_seconds", "Time from the start of a request to its answer.")
	gauge(&b, "gofx_requests_in_flight", "Requests that are read, waiting or computed.", "gauge", m.inFlight.Load())
	gauge(&b, "gofx_inputs_total", "Inputs of requests that were admitted.", "counter", m.rows.Load())
	m.batches.write(&b, "gofx_batch_inputs", "Inputs that are computed at once.")
	m.reloads.write(&b, "gofx_reloads_total", "Models that were loaded, or refused.", "result")
	gauge(&b, "gofx_model_loaded_timestamp_seconds", "When the model was loaded.", "gauge", m.loaded.Load())
	gauge(&b, "process_start_time_seconds", "When the process started.", "gauge", m.started)
	_, _ = w.Write(b.Bytes()) // the client may have gone
}

func head(b *bytes.Buffer, name, help, kind string) {
	fmt.Fprintf(b, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

func gauge(b *bytes.Buffer, name, help, kind string, v int64) {
	head(b, name, help, kind)
	fmt.Fprintf(b, "%s %d\n", name, v)
}

// counters count by the value of a label.
type counters struct {
	mu sync.Mutex
	by map[string]int64
}

func (c *counters) add(value string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.by == nil {
		c.by = map[string]int64{}
	}
	c.by[value]++
}

func (c *counters) write(b *bytes.Buffer, name, help, label string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	head(b, name, help, "counter")
	for _, value := range slices.Sorted(maps.Keys(c.by)) {
		fmt.Fprintf(b, "%s{%s=%q} %d\n", name, label, value, c.by[value])
	}
}

// histogram counts values up to each of its bounds.
type histogram struct {
	bounds []float64
	mu     sync.Mutex
	counts []int64 // one more than bounds
	sum    float64
}

func (h *histogram) observe(v float64) {
	i, _ := slices.BinarySearch(h.bounds, v)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.counts[i]++
	h.sum += v
}

func (h *histogram) write(b *bytes.Buffer, name, help string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	head(b, name, help, "histogram")
	total := int64(0)
	for i, n := range h.counts {
		bound := "+Inf"
		if i < len(h.bounds) {
			bound = strconv.FormatFloat(h.bounds[i], 'g', -1, 64)
		}
		total += n
		fmt.Fprintf(b, "%s_bucket{le=%q} %d\n", name, bound, total)
	}
	fmt.Fprintf(b, "%s_sum %s\n%s_count %d\n", name, strconv.FormatFloat(h.sum, 'g', -1, 64), name, total)
}
