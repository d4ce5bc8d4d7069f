package train

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/npy"
	"github.com/gofx-dev/gofx/diag"
)

// ReadNPY reads files of package npy, one array each.
func ReadNPY(paths ...string) ([]*array.Array, error) {
	var list []*array.Array
	var errs diag.List
	for _, path := range paths {
		a, err := npy.ReadFile(path)
		errs.Add(err)
		list = append(list, a)
	}
	return list, errs.Err()
}

// CSV says how a table of numbers is read.
type CSV struct {
	Header bool // the first line has names
	Comma  rune // between fields; 0 stands for a comma
	// Label is the column of labels, from 0 on, or from -1 back from the end.
	Label int
	// Values makes labels floats, to predict numbers, not classes.
	Values bool
}

// ReadCSV reads a table of numbers: its columns but one as f32[rows, columns-1], and the column of
// labels as i64[rows], or f32[rows,1] for CSV.Values. Empty lines are left out. All mistakes, up to
// ten, are in one error (FX3105), each with its line.
func ReadCSV(r io.Reader, o CSV) (inputs, labels *array.Array, err error) {
	t := &table{CSV: o, reader: csv.NewReader(r)}
	t.reader.FieldsPerRecord = -1
	if o.Comma != 0 {
		t.reader.Comma = o.Comma
	}
	if err := t.read(); err != nil {
		return nil, nil, err
	}
	inputs = array.FromSlice(t.inputs, t.rows, t.columns-1)
	if o.Values {
		return inputs, array.FromSlice(t.values, t.rows, 1), nil
	}
	return inputs, array.FromSlice(t.classes, t.rows), nil
}

// ReadCSVFile is ReadCSV of a file.
func ReadCSVFile(path string, o CSV) (inputs, labels *array.Array, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, &diag.Error{Code: BadCSV, Msg: "the table cannot be read", Err: err}
	}
	defer f.Close()
	inputs, labels, err = ReadCSV(f, o)
	var list diag.List
	list.Add(err)
	for _, e := range list {
		e.Pos.File = path
	}
	return inputs, labels, list.Err()
}

// table is a table that is being read.
type table struct {
	CSV
	reader  *csv.Reader
	errs    diag.List
	rows    int
	columns int
	label   int
	inputs  []float32
	classes []int64
	values  []float32
}

// mostErrors bounds the mistakes of one file.
const mostErrors = 10

func (t *table) read() error {
	for first := true; len(t.errs) < mostErrors; first = false {
		fields, err := t.reader.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.fault(0, err.Error())
			break
		}
		if first && t.Header {
			continue
		}
		t.row(fields)
	}
	if t.rows == 0 && len(t.errs) == 0 {
		t.fault(0, "the table has no rows, expected one and more")
	}
	return t.errs.Err()
}

func (t *table) row(fields []string) {
	line, _ := t.reader.FieldPos(0)
	if t.columns == 0 {
		t.columns, t.label = len(fields), t.Label
		if t.label < 0 {
			t.label += t.columns
		}
		if t.label < 0 || t.label >= t.columns {
			t.fault(line, "the label is column "+strconv.Itoa(t.Label)+" of "+strconv.Itoa(t.columns))
			t.label = 0
		}
	}
	if len(fields) != t.columns {
		t.fault(line, "the row has "+strconv.Itoa(len(fields))+" fields, expected "+strconv.Itoa(t.columns)+" as in the first one")
		return
	}
	t.rows++
	for i, field := range fields {
		field = strings.TrimSpace(field)
		if i == t.label && !t.Values {
			n, err := strconv.ParseInt(field, 10, 64)
			if err != nil {
				t.fault(line, "the label is "+strconv.Quote(field)+", expected a whole number")
			}
			t.classes = append(t.classes, n)
			continue
		}
		v, err := strconv.ParseFloat(field, 32)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			t.fault(line, "field "+strconv.Itoa(i)+" is "+strconv.Quote(field)+", expected a finite number")
		}
		if i == t.label {
			t.values = append(t.values, float32(v))
		} else {
			t.inputs = append(t.inputs, float32(v))
		}
	}
}

func (t *table) fault(line int, msg string) {
	t.errs.Add((&diag.Error{Code: BadCSV, Msg: msg}).At(diag.Pos{File: "csv", Line: line}))
}

// Rows returns the rows of arrays, which have the same number of them, for which keep is true: to
// split data into parts.
func Rows(data []*array.Array, keep func(row int) bool) []*array.Array {
	if len(data) == 0 || data[0].Rank() == 0 {
		return data
	}
	var rows []int
	for i := range data[0].Dim(0) {
		if keep(i) {
			rows = append(rows, i)
		}
	}
	out := make([]*array.Array, len(data))
	for i, a := range data {
		out[i] = pick(a, rows)
	}
	return out
}

// Split puts the part share of the rows of arrays aside, at random, as seed decides: at least one row, and
// not all. The rows of both parts stay in their order. Rows are independent of what they hold; sort
// out yourself what must not be in both parts.
func Split(data []*array.Array, share float64, seed uint64) (rest, aside []*array.Array, err error) {
	if len(data) == 0 || data[0].Rank() == 0 || !(share > 0 && share < 1) || data[0].Dim(0) < 2 {
		return nil, nil, diag.New(BadData, "the part "+strconv.FormatFloat(share, 'g', -1, 64)+" is to be put aside, expected a part between 0 and 1 of two rows and more")
	}
	n := data[0].Dim(0)
	shuffled := (&Batches{Data: data, Shuffle: true, Seed: seed}).order(-1)
	out := make([]bool, n)
	for _, r := range shuffled[:min(max(int(math.Round(share*float64(n))), 1), n-1)] {
		out[r] = true
	}
	return Rows(data, func(row int) bool { return !out[row] }), Rows(data, func(row int) bool { return out[row] }), nil
}

// Prefetch returns a loader that makes the next batch while one is used: for loaders that read
// files, or whose Augment takes its time. Batches are those of the loader. The loader is asked by
// one goroutine at a time.
func Prefetch(l Loader) Loader { return &prefetched{Loader: l} }

type prefetched struct {
	Loader
	mu   sync.Mutex
	next chan loaded // of the batch that is being made; nil: none is
	of   [2]int      // its epoch and number
}

type loaded struct {
	batch []*array.Array
	err   error
}

// Batch implements Loader.
func (p *prefetched) Batch(epoch, i int) ([]*array.Array, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var got loaded
	made := false
	if p.next != nil {
		got, made = <-p.next, p.of == [2]int{epoch, i}
		p.next = nil
	}
	if !made {
		got.batch, got.err = p.Loader.Batch(epoch, i)
	}
	if following := i + 1; got.err == nil && following < p.Len() {
		next := make(chan loaded, 1)
		p.next, p.of = next, [2]int{epoch, following}
		go func() {
			batch, err := p.Loader.Batch(epoch, following)
			next <- loaded{batch, err}
		}()
	}
	return got.batch, got.err
}

// String describes the loader, as checkpoints do.
func (p *prefetched) String() string {
	if s, ok := p.Loader.(fmt.Stringer); ok {
		return s.String()
	}
	return "batches of a loader"
}

// pick returns some rows of an array.
func pick(a *array.Array, rows []int) *array.Array {
	out := array.New(a.DType(), append([]int{len(rows)}, a.Shape()[1:]...)...)
	if a.IsContiguous() && a.Len() > 0 {
		src, dst := array.Bytes(a), array.Bytes(out)
		size := len(src) / a.Dim(0)
		for i, r := range rows {
			copy(dst[i*size:(i+1)*size], src[r*size:(r+1)*size])
		}
		return out
	}
	for i, r := range rows {
		array.Copy(array.Select(out, 0, i), array.Select(a, 0, r))
	}
	return out
}
