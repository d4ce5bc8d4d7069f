package work

import (
	"bytes"
	"encoding/json"
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/shape"
)

func typeText(a *array.Array) string { return shape.TypeOf(a).String() }

// outputJSON is an output in the document of run -json. Values that JSON cannot
// say (NaN, infinities) are null.
type outputJSON struct {
	Name  string     `json:"name"`
	DType string     `json:"dtype"`
	Shape []int      `json:"shape"`
	Data  []*float64 `json:"data,omitempty"` // up to maxJSON elements
	Min   *float64   `json:"min"`
	Max   *float64   `json:"max"`
	Mean  *float64   `json:"mean"`
}

const maxJSON = 4096

func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

func reportJSON(res *Result, out []*array.Array) error {
	list := []outputJSON{}
	for i, a := range out {
		o := outputJSON{Name: res.OutputNames[i], DType: a.DType().String(), Shape: append([]int{}, a.Shape()...)}
		lo, hi, sum := math.Inf(1), math.Inf(-1), 0.0
		for k := range a.Len() {
			v := array.Float64At(a, k)
			lo, hi, sum = min(lo, v), max(hi, v), sum+v
			if a.Len() <= maxJSON {
				o.Data = append(o.Data, finite(v))
			}
		}
		o.Min, o.Max, o.Mean = finite(lo), finite(hi), finite(sum/float64(a.Len()))
		list = append(list, o)
	}
	return document(res, map[string]any{"outputs": list})
}

// document makes the result one JSON document.
func document(res *Result, v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return err
	}
	res.Text = b.String()
	return nil
}
