package certificate

import (
	"errors"
	"io"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/safetensors"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/tensor"
)

// TB is the part of testing.TB that Check needs.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Logf(format string, args ...any)
}

// Call calls a model. It returns the results in any structure, and the call's error.
type Call = func(in []*array.Array) (any, error)

// Check calls a model with the inputs of each sample of a file and fails the test if a
// result is not the sample's, or if a call fails. Tests that fxgen generates call it.
func Check(t TB, file string, run Call) {
	t.Helper()
	CheckSteps(t, file, func() (Call, error) { return run, nil })
}

// CheckSteps is Check for models that remember: start makes a model as it is in the
// beginning. Samples that continue another are further calls of its model, and take results
// of the call before where they say so.
func CheckSteps(t TB, file string, start func() (Call, error)) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v", err)
		return
	}
	c, err := Read(data)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
		return
	}
	if len(c.Samples) == 0 {
		t.Fatalf("%s has no samples", file)
	}
	var w walk
	for i := range c.Samples {
		s := &c.Samples[i]
		got, run, err := w.step(s, start)
		if !run {
			continue // the one that it continues has failed
		}
		var reached []Tolerance
		if err == nil {
			reached, err = s.Compare(got)
		}
		if err != nil {
			t.Errorf("%s: %v", s.Name, err)
			continue
		}
		for i, r := range reached {
			t.Logf("%s: output %d is within %.3g, relative %.3g", s.Name, i, r.Abs, r.Rel)
		}
	}
}

// walk calls models with samples, one after the other.
type walk struct {
	call   Call
	before []*array.Array
	failed bool
}

// step calls the model with a sample; run is not set where the call before has failed.
func (w *walk) step(s *Sample, start func() (Call, error)) (got []*array.Array, run bool, err error) {
	if s.Continues && w.failed {
		return nil, false, nil
	}
	w.failed = true
	if !s.Continues || w.call == nil {
		if w.call, err = start(); err != nil {
			return nil, true, err
		}
		w.before = nil
	}
	results, err := w.call(s.Arrays(w.before...))
	if err != nil {
		return nil, true, err
	}
	got, w.before, w.failed = Unpack([]any{results}), nil, false
	for _, a := range got { // the next call may reuse their memory
		w.before = append(w.before, array.Clone(a))
	}
	return got, true, nil
}

// Compare compares the results of a call with the sample's outputs, all of them, and
// returns how far each is from its own.
func (s *Sample) Compare(got []*array.Array) (reached []Tolerance, err error) {
	if len(got) != len(s.Outputs) {
		return nil, differs("there are " + strconv.Itoa(len(got)) + " outputs, expected " + strconv.Itoa(len(s.Outputs)))
	}
	var errs diag.List
	for i := range s.Outputs {
		r, err := s.Outputs[i].Compare(got[i])
		var e *diag.Error
		if errors.As(err, &e) {
			e.Msg = "output " + strconv.Itoa(i) + " " + e.Msg
			errs.Add(e)
		}
		reached = append(reached, r)
	}
	return reached, errs.Err()
}

// floors are how far results of float types may be from the expected ones whatever these
// are: some roundings of 1. If a detector finds nothing, all its results are rounding
// errors of a sigmoid.
var floors = map[array.DType]float64{array.F64: 1e-14, array.F32: 1e-6, array.F16: 1e-3, array.BF16: 8e-3}

// slack is how much further from a sample than its tolerance results may be when the
// sample is made.
const slack = 10

// Reach notes how far results are from the outputs, and widens the tolerances where that
// is needed. The error says which are so far off that something else was computed.
func (s *Sample) Reach(got []*array.Array) error {
	wide := Sample{Name: s.Name, Outputs: slices.Clone(s.Outputs)}
	for i := range wide.Outputs {
		o := &wide.Outputs[i]
		o.Allowed.Abs *= slack
		o.Allowed.Rel *= slack
		o.Allowed.Abs = max(o.Allowed.Abs, floors[o.DType])
		if o.DType == array.I8 || o.DType == array.U8 { // which quantised models round to
			o.Allowed.Abs = 1
		}
	}
	reached, err := wide.Compare(got)
	if err != nil {
		return err
	}
	for i, r := range reached {
		o := &s.Outputs[i]
		o.Reached = r
		if r.Abs > o.Allowed.Abs { // by rounding, which is another on other processors
			o.Allowed.Abs = max(2*r.Abs, floors[o.DType])
		}
		o.Allowed.Abs = max(o.Allowed.Abs, 2*r.Abs)
		if !o.DType.IsFloat() {
			o.Allowed.Abs = r.Abs
		}
	}
	return nil
}

// Load opens a file of weights and calls a package's Load with it.
func Load[M any](file string, load func(r io.ReaderAt, size int64) (M, error)) (m M, err error) {
	f, err := os.Open(file)
	if err != nil {
		return m, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return m, err
	}
	return load(f, info.Size())
}

// Bind opens a file of weights and calls the New of a package that takes its tensors by their names.
func Bind[M any](file string, make func(find func(name string) (*array.Array, error), threads int) (M, error)) (m M, err error) {
	f, err := safetensors.ReadFile(file)
	if err != nil {
		return m, err
	}
	return make(f.Get, runtime.GOMAXPROCS(0))
}

// Unpack returns the arrays in the results of a call of generated code, in order:
// tensors, arrays, and those in structs by their exported fields, in slices, and in maps
// by sorted keys. Errors among the results are left out.
func Unpack(results []any) (out []*array.Array) {
	for _, r := range results {
		if r == nil {
			continue
		}
		if _, ok := r.(error); !ok {
			out = unpack(out, reflect.ValueOf(r))
		}
	}
	return out
}

func unpack(out []*array.Array, v reflect.Value) []*array.Array {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return out
		}
		switch x := v.Interface().(type) {
		case *tensor.Tensor:
			return append(out, x.Array())
		case *array.Array:
			return append(out, x)
		}
		return unpack(out, v.Elem())
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			out = unpack(out, v.Index(i))
		}
	case reflect.Map:
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, k := range keys {
			out = unpack(out, v.MapIndex(k))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				out = unpack(out, v.Field(i))
			}
		}
	}
	return out
}
