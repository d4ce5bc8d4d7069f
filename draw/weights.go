package draw

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
)

// What a page tells of a weight: of larger tensors it looks at so many elements, spread
// evenly, and says so.
const (
	mostLooked  = 1 << 16
	bins        = 24
	firstValues = 8
)

// pageTensor describes the values of a tensor of the state, from a stage on.
type pageTensor struct {
	path          int // of strings
	stage         int
	elements      int
	looked        int // elements that the rest is about
	least, most   float64
	mean, spread  float64 // spread is the standard deviation
	zeros         int
	odd           int // infinite or no number; not in the fields above
	first, counts []float64
}

// MarshalJSON writes a list.
func (t pageTensor) MarshalJSON() ([]byte, error) {
	return json.Marshal([]any{t.path, t.stage, t.elements, t.looked, short(t.least), short(t.most), short(t.mean), short(t.spread), t.zeros, t.odd, texts(t.first), t.counts})
}

// short is a number of four digits.
func short(f float64) json.RawMessage {
	return json.RawMessage(strconv.FormatFloat(f, 'g', 4, 64))
}

// digits prints a number of four digits, without an exponent where it is neither very
// large nor very small. The page's digits prints alike.
func digits(f float64) string {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(f, 'g', 4, 64), 64)
	if err != nil {
		rounded = f // larger than any number when it is rounded
	}
	return fmt.Sprint(rounded)
}

// texts prints values, which may be infinite.
func texts(list []float64) []string {
	out := make([]string, len(list))
	for i, f := range list {
		out[i] = digits(f)
	}
	return out
}

// recordTensors describes the tensors of a module that are new in a stage, or have other
// values than in the stage before.
func (r *Report) recordTensors(m *graph.Module, stage int) {
	for _, p := range m.Params() {
		if p.Value == nil || r.values[p.Path] == p.Value || p.Value.Len() == 0 {
			continue
		}
		r.values[p.Path] = p.Value
		t := look(p.Value)
		t.path, t.stage = r.text(p.Path), stage
		r.tensors = append(r.tensors, t)
	}
}

// look describes the values of an array.
func look(a *array.Array) pageTensor {
	n := a.Len()
	t := pageTensor{elements: n, least: math.Inf(1), most: math.Inf(-1), first: []float64{}, counts: make([]float64, bins)}
	for i := range min(n, firstValues) {
		t.first = append(t.first, array.Float64At(a, i))
	}
	step := 1
	if n > mostLooked {
		step = (n+mostLooked-1)/mostLooked | 1 // odd: channels are mostly even in number
	}
	values := make([]float64, 0, min(n, mostLooked))
	sum := 0.0
	for i := 0; i < n; i += step {
		t.looked++
		v := array.Float64At(a, i)
		if math.IsNaN(v) || math.IsInf(v, 0) {
			t.odd++
			continue
		}
		if v == 0 {
			t.zeros++
		}
		values, sum = append(values, v), sum+v
		t.least, t.most = min(t.least, v), max(t.most, v)
	}
	if len(values) == 0 {
		t.least, t.most = 0, 0
		return t
	}
	t.mean = sum / float64(len(values))
	squares, width := 0.0, t.most-t.least
	for _, v := range values {
		squares += (v - t.mean) * (v - t.mean)
		at := 0
		if width > 0 {
			at = min(bins-1, int((v-t.least)/width*bins))
		}
		t.counts[at]++
	}
	t.spread = math.Sqrt(squares / float64(len(values)))
	return t
}
