package cost

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/diag"
)

// Device describes what runs are predicted for. Rates are those of as many threads as
// one run has, together; what is 0 is not known. The JSON form is Read's and Write's.
type Device struct {
	Name    string `json:"name"`
	Threads int    `json:"threads"` // of one run
	// Cores is how many threads the machine runs at once, Bytes the memory that it has,
	// Bandwidth the bytes a second that all of them together get from it: for fleets.
	Cores     int     `json:"cores,omitempty"`
	Bytes     int64   `json:"bytes,omitempty"`
	Bandwidth float64 `json:"bandwidth,omitempty"`

	Float float64 `json:"flops"`              // operations a second on floats, two for each multiply-add
	Int8  float64 `json:"int8_ops,omitempty"` // on bytes; 0: as on floats
	// Memory has the levels of memory, the smallest first.
	Memory []Level `json:"memory"`
	// Base are the bytes that a process has besides the model.
	Base int64 `json:"base_bytes,omitempty"`

	// Laws say what steps take, by their kind, by the kernel alone, and under "" what
	// all others take. Calibrate fits them to Runs. Without them a step takes the time
	// of the roofline.
	Laws map[string]Law `json:"laws,omitempty"`
	Runs []Run          `json:"runs,omitempty"`
}

// Level is memory that holds so many bytes, 0 for any number, at bytes a second: of what
// is read and written, and of what is only read, where that is known to be another rate.
type Level struct {
	Bytes int64   `json:"bytes,omitempty"`
	Rate  float64 `json:"rate"`
	Read  float64 `json:"read,omitempty"`
}

// maxDevice bounds the size of a description.
const maxDevice = 64 << 20

// ReadDevice reads a description; file is its name for messages. Fields that do not
// exist are refused.
func ReadDevice(r io.Reader, file string) (*Device, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxDevice+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxDevice {
		return nil, diag.New(BadDevice, "the description has more than "+strconv.Itoa(maxDevice)+" bytes, expected fewer")
	}
	d := &Device{}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err = dec.Decode(d); err == nil && dec.More() {
		err = errors.New("something follows the description, expected one object")
	}
	if err != nil {
		return nil, notJSON(err, file, text)
	}
	if err := d.Check(); err != nil {
		err.(*diag.Error).Pos.File = file
		return nil, err
	}
	return d, nil
}

// notJSON is the error of a text that cannot be decoded, with the line where it went wrong.
func notJSON(err error, file string, text []byte) error {
	e := diag.New(BadDevice, "the description is not of the expected form: "+err.Error()).
		WithHint("docs/cost.md has an example")
	at := 0
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	if errors.As(err, &syntax) {
		at = int(syntax.Offset)
	} else if errors.As(err, &kind) {
		at = int(kind.Offset)
	} else if _, field, ok := strings.Cut(err.Error(), "unknown field "); ok {
		at = max(bytes.Index(text, []byte(field)), 0)
	}
	e.Pos = diag.Pos{File: file, Line: 1 + bytes.Count(text[:min(at, len(text))], []byte("\n"))}
	return e
}

// Write writes the description.
func (d *Device) Write(w io.Writer) error {
	text, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return err
}

// Check says what is missing in a description or contradicts itself.
func (d *Device) Check() error {
	bad := func(what string) error {
		return diag.New(BadDevice, "device "+strconv.Quote(d.Name)+": "+what)
	}
	rate := func(v float64) bool { return v >= 1 && !math.IsInf(v, 0) }
	switch {
	case d.Threads < 1 || d.Threads > maxThreads:
		return bad("threads is " + strconv.Itoa(d.Threads) + ", expected 1 to " + strconv.Itoa(maxThreads))
	case d.Cores < 0 || d.Cores > maxThreads:
		return bad("cores is " + strconv.Itoa(d.Cores) + ", expected 0 to " + strconv.Itoa(maxThreads))
	case d.Bytes < 0 || d.Base < 0:
		return bad("bytes of memory are negative")
	case !rate(d.Float):
		return bad("flops is " + number(d.Float) + ", expected operations a second")
	case d.Int8 != 0 && !rate(d.Int8):
		return bad("int8_ops is " + number(d.Int8) + ", expected operations a second")
	case d.Bandwidth != 0 && !rate(d.Bandwidth):
		return bad("bandwidth is " + number(d.Bandwidth) + ", expected bytes a second")
	case len(d.Memory) == 0:
		return bad("memory has no level, expected one or more")
	}
	for i, l := range d.Memory {
		last := i == len(d.Memory)-1
		switch {
		case l.Read != 0 && !rate(l.Read):
			return bad("level " + strconv.Itoa(i) + " of memory has the rate " + number(l.Read) + " for reading, expected bytes a second")
		case !rate(l.Rate):
			return bad("level " + strconv.Itoa(i) + " of memory has the rate " + number(l.Rate) + ", expected bytes a second")
		case l.Bytes < 0 || l.Bytes == 0 && !last:
			return bad("level " + strconv.Itoa(i) + " of memory holds " + strconv.FormatInt(l.Bytes, 10) + " bytes, expected more")
		case i > 0 && l.Bytes > 0 && l.Bytes <= d.Memory[i-1].Bytes:
			return bad("level " + strconv.Itoa(i) + " of memory is no larger than the one before, expected the smallest first")
		}
	}
	return d.checkLaws(bad)
}

// maxThreads is more than any machine has, maxTerm more than any term of a law is.
const (
	maxThreads = 1 << 16
	maxTerm    = 1e9
)

func (d *Device) checkLaws(bad func(string) error) error {
	for name, l := range d.Laws {
		if slices.ContainsFunc(l.terms(), func(v float64) bool { return !(v >= 0 && v <= maxTerm) }) {
			return bad("the law of " + strconv.Quote(name) + " has a term that is negative or huge, expected 0 to 1e9")
		}
	}
	for i := range d.Runs {
		for _, s := range d.Runs[i].Samples {
			if slices.ContainsFunc(append(s.terms(), s.Seconds), func(v float64) bool { return !(v >= 0 && v <= maxTerm) }) {
				return bad("a sample of the run of " + strconv.Quote(d.Runs[i].Model) + " is negative or huge, expected 0 to 1e9")
			}
		}
	}
	return nil
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }

// level is where a working set lies.
func (d *Device) level(bytes int64) Level {
	i := slices.IndexFunc(d.Memory, func(l Level) bool { return l.Bytes == 0 || bytes <= l.Bytes })
	if i < 0 {
		i = len(d.Memory) - 1
	}
	l := d.Memory[i]
	if l.Read == 0 {
		l.Read = l.Rate
	}
	return l
}

// far reports whether a working set is beyond all levels but the last.
func (d *Device) far(bytes int64) bool {
	return len(d.Memory) < 2 || bytes > d.Memory[len(d.Memory)-2].Bytes
}

// least are the seconds that the parts of a step take at best: arithmetic, reading so many
// bytes of the state, which come from where all lies that a run touches before it reads
// them again, and moving other values, which were written just before.
func (d *Device) least(s *Step, w *Work, weights int64) Sample {
	ops := d.Float
	if s.Int8 && d.Int8 > 0 {
		ops = d.Int8
	}
	times := max(s.Times, 1)
	return Sample{Kind: s.Kind, Times: s.Times, Compute: float64(s.Flops) / ops,
		Memory: float64(weights)/d.level(w.Memory.Total()).Read + float64(s.Values)/d.level(s.Values/times).Rate}
}

// Roof is the roofline: the least seconds, where arithmetic and memory go on at the
// same time and weights take no more bytes than the model gives them. memory tells that
// memory bounds it.
func (d *Device) Roof(s *Step, w *Work) (seconds float64, memory bool) {
	l := d.least(s, w, s.Weights)
	return max(l.Compute, l.Memory), l.Memory > l.Compute
}
