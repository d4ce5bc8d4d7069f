package cost_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/lowering/cost"
)

// desk does 1 GFLOP/s, reads 2 GB/s from a cache of 1 MB and 1 GB/s from beyond.
func desk() *cost.Device {
	return &cost.Device{Name: "desk", Threads: 2, Cores: 8, Float: 1e9, Memory: []cost.Level{{Bytes: 1e6, Rate: 2e9}, {Rate: 1e9}}}
}

func TestRoofline(t *testing.T) {
	d := desk()
	w := &cost.Work{Memory: cost.Memory{Weights: 5e6}, Steps: []cost.Step{
		{Kind: "a", Times: 1, Flops: 3e6, Values: 1e6},                         // 3 ms of arithmetic, 0.5 ms of memory
		{Kind: "b", Times: 1, Flops: 1e6, Weights: 4e6, Values: 1e6},           // 4.5 ms of memory
		{Kind: "c", Times: 10, Flops: 1e6, Values: 10e6},                       // ten times 1 MB
		{Kind: "d", Times: 1, Flops: 4e6, Int8: true, Values: 2e6, Scope: "s"}, // bytes
	}}
	e, err := d.Estimate(w)
	require.NoError(t, err)
	require.Equal(t, 3*time.Millisecond+4500*time.Microsecond+5*time.Millisecond+4*time.Millisecond, e.Time)
	require.Equal(t, e.Roof, e.Time)
	require.EqualValues(t, 5e6, e.PeakBytes)
	rows := e.By(func(s *cost.Step) string { return s.Scope })
	require.Len(t, rows, 2)
	require.Equal(t, 3, rows[0].Steps)
	require.InDelta(t, 12.5, rows[0].MS, 1e-9)
	require.True(t, rows[0].Memory, "two of three")
	require.InDelta(t, 2, rows[1].Each, 1e-9)
	require.False(t, rows[1].Memory)

	d.Int8, d.Base = 4e9, 100
	e, err = d.Estimate(w)
	require.NoError(t, err)
	require.InDelta(t, 2e-3, e.Steps[3].Seconds, 1e-9, "bounded by memory now")
	require.EqualValues(t, 5e6+100, e.PeakBytes)
	require.Equal(t, 3, w.By(func(s *cost.Step) string { return s.Scope })[0].Steps)
}

// What laws make, with noise, is found again: those of kinds, and the general one.
func TestCalibrateFindsLaws(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	laws := map[string]cost.Law{"Conv 3x3": {Fixed: 2e-6, Compute: 0.5, Memory: 1.5}, "Linear": {Fixed: 1e-6, Compute: 1.2, Memory: 2}}
	d := desk()
	var runs []cost.Run
	for _, model := range []string{"one", "two", "three"} {
		w := &cost.Work{Name: model, Memory: cost.Memory{Weights: 5e6, Arena: 1e5}}
		times := map[int]time.Duration{}
		whole := time.Duration(0)
		for i := range 60 {
			s := cost.Step{At: i, Kind: "Linear", Times: 1, Flops: int64(1e4 * math.Exp(6*r.Float64())), Values: int64(1e3 * math.Exp(6*r.Float64()))}
			if i%2 == 0 {
				s.Kind = "Conv 3x3"
			}
			l := laws[s.Kind]
			memory := float64(s.Values) / 2e9
			seconds := l.Fixed + max(l.Compute*float64(s.Flops)/1e9, l.Memory*memory)
			times[i] = time.Duration(1e9 * seconds * (1 + 0.1*(r.Float64()-0.5)))
			whole += times[i]
			w.Steps = append(w.Steps, s)
		}
		run := d.Measured(w, times, whole)
		require.Len(t, run.Samples, 60)
		run.PeakBytes = w.Memory.Total() + 7e6
		runs = append(runs, run)
	}
	d.Calibrate(runs...)
	require.EqualValues(t, 7e6, d.Base)
	for kind, want := range laws {
		got := d.Laws[kind]
		require.InEpsilon(t, want.Compute, got.Compute, 0.03, kind)
		require.InEpsilon(t, want.Memory, got.Memory, 0.03, kind)
		require.InDelta(t, want.Fixed, got.Fixed, 1e-6, kind)
		require.Equal(t, 90, got.Steps)
	}
	require.Contains(t, d.Laws, "Conv", "convolutions of other kinds")
	require.Contains(t, d.Laws, "", "what nobody has seen")

	e, err := d.Estimate(&cost.Work{Steps: []cost.Step{{Kind: "Conv 3x3", Times: 1, Flops: 1e6}, {Kind: "Conv 5x5", Times: 1, Flops: 1e6}, {Kind: "Pool", Times: 1, Flops: 1e6}}})
	require.NoError(t, err)
	require.InEpsilon(t, 0.5e-3, e.Steps[0].Seconds, 0.03)
	require.InEpsilon(t, 0.5e-3, e.Steps[1].Seconds, 0.03)
	require.Greater(t, e.Steps[2].Seconds, 0.5e-3)
	require.True(t, e.Steps[2].Known)

	// A run of a model replaces the one before.
	d.Calibrate(runs[0])
	require.Len(t, d.Runs, 3)
	var text bytes.Buffer
	require.NoError(t, d.Write(&text))
	again, err := cost.ReadDevice(&text, "desk.json")
	require.NoError(t, err)
	require.Equal(t, d, again)
}

// Few steps, and those of the bodies of loops, make no law.
func TestCalibrateWithLittle(t *testing.T) {
	d := desk()
	w := &cost.Work{Name: "m", Steps: []cost.Step{{At: 0, Kind: "a", Times: 1, Flops: 1e6}, {At: 1, Kind: "b", Times: 1, Flops: 1e6}, {At: 1, Kind: "c", Times: 4, Flops: 1e6}}}
	run := d.Measured(w, map[int]time.Duration{0: time.Millisecond, 1: time.Second}, time.Second)
	require.Len(t, run.Samples, 1)
	d.Calibrate(run)
	require.Len(t, d.Laws, 1)
	e, err := d.Estimate(w)
	require.NoError(t, err)
	require.InDelta(t, 1e-3, e.Steps[0].Seconds, 1e-9)

	d = desk()
	d.Calibrate(cost.Run{Model: "nothing"}, cost.Run{Model: "no time", Samples: []cost.Sample{{Kind: "a", Times: 1}}})
	require.Empty(t, d.Laws)
	e, err = d.Estimate(w)
	require.NoError(t, err)
	require.False(t, e.Steps[0].Known)
}

func TestBadDevices(t *testing.T) {
	const good = `{"name": "d", "threads": 1, "flops": 1e9, "memory": [{"bytes": 10, "rate": 2}, {"rate": 1}]}`
	_, err := cost.ReadDevice(strings.NewReader(good), "d.json")
	require.NoError(t, err)
	for text, want := range map[string]string{
		"":                        "d.json:1: the description is not of the expected form",
		good + "{}":               "something follows the description",
		"{\n\"colour\": \"red\"}": "d.json:2: the description is not of the expected form: json: unknown field \"colour\"",
		strings.Replace(good, `"threads": 1`, `"threads": 0`, 1):                                                   `d.json: device "d": threads is 0, expected 1 to 65536`,
		strings.Replace(good, `"flops": 1e9, `, ``, 1):                                                             "flops is 0, expected operations a second",
		strings.Replace(good, `1e9`, `-1e9`, 1):                                                                    "flops is -1e+09",
		strings.Replace(good, `"rate": 2`, `"rate": 0`, 1):                                                         "level 0 of memory has the rate 0",
		strings.Replace(good, `"bytes": 10, `, ``, 1):                                                              "level 0 of memory holds 0 bytes",
		strings.Replace(good, `{"rate": 1}`, `{"bytes":5,"rate":1}`, 1):                                            "level 1 of memory is no larger than the one before",
		`{"threads": 1, "flops": 1, "memory": []}`:                                                                 "memory has no level",
		strings.Replace(good, `"threads"`, `"cores": -1, "threads"`, 1):                                            "cores is -1",
		strings.Replace(good, `"threads"`, `"bytes": -1, "threads"`, 1):                                            "bytes of memory are negative",
		strings.Replace(good, `"threads"`, `"bandwidth": -1, "threads"`, 1):                                        "bandwidth is -1",
		strings.Replace(good, `"threads"`, `"int8_ops": -1, "threads"`, 1):                                         "int8_ops is -1",
		strings.Replace(good, `"threads"`, `"laws": {"a": {"fixed": -1}}, "threads"`, 1):                           `the law of "a" has a term that is negative`,
		strings.Replace(good, `"threads"`, `"runs": [{"model": "m", "samples": [{"seconds": -1}]}], "threads"`, 1): `a sample of the run of "m" is negative`,
	} {
		_, err := cost.ReadDevice(strings.NewReader(text), "d.json")
		require.ErrorIs(t, err, cost.BadDevice, text)
		require.ErrorContains(t, err, want, text)
		var e *diag.Error
		require.ErrorAs(t, err, &e)
	}
	for _, text := range []string{strings.Replace(good, "1e9", "1e-9", 1), strings.Replace(good, `"rate": 1}`, `"rate": 1, "read": -1}`, 1)} {
		_, err := cost.ReadDevice(strings.NewReader(text), "d.json")
		require.ErrorContains(t, err, "a second")
	}
	_, err = (&cost.Device{}).Estimate(&cost.Work{})
	require.ErrorIs(t, err, cost.BadDevice)
}
