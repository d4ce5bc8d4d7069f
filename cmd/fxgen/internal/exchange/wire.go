package exchange

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"

	"github.com/gofx-dev/gofx/diag"
)

// ResultFile is the file that an exchange with a test binary ends with; where it
// is missing, the binary did not get that far.
const ResultFile = "result.json"

// message is a result or an error as JSON.
type message struct {
	Result *Result
	Files  []string // names; the contents are in files/0, files/1, ...
	Notes  []wireError
	Errors []wireError
}

// wireError is a diag.Error as JSON.
type wireError struct {
	Code, Node, Op, Phase, Msg, Hint, Cause string
	Pos                                     diag.Pos
	Related                                 []diag.Related
	Note                                    bool
}

func toWire(err error) (out []wireError) {
	var l diag.List
	if !errors.As(err, &l) {
		var e *diag.Error
		if !errors.As(err, &e) {
			return []wireError{{Msg: err.Error()}}
		}
		l = diag.List{e}
	}
	for _, e := range l {
		w := wireError{string(e.Code), e.Node, e.Op, e.Phase, e.Msg, e.Hint, "", e.Pos, e.Related, e.Note}
		if e.Err != nil {
			w.Cause = e.Err.Error()
		}
		out = append(out, w)
	}
	return out
}

func fromWire(ws []wireError) (l diag.List) {
	for _, w := range ws {
		e := &diag.Error{Code: diag.Code(w.Code), Pos: w.Pos, Node: w.Node, Op: w.Op, Phase: w.Phase, Msg: w.Msg, Hint: w.Hint, Related: w.Related, Note: w.Note}
		if w.Cause != "" {
			e.Err = errors.New(w.Cause)
		}
		l = append(l, e)
	}
	return l
}

// Fail writes an error as the result.
func Fail(dir string, err error) error { return (&message{Errors: toWire(err)}).write(dir) }

// Send runs f and writes its result; a panic becomes an internal error, and a
// goroutine that the model's code stopped becomes its mistake.
func Send(dir string, f func() (*Result, error)) (err error) {
	var m message
	defer func() {
		if r := recover(); r != nil {
			m = message{Errors: []wireError{{Code: string(diag.Internal), Msg: fmt.Sprint(r), Cause: string(debug.Stack())}}}
		} else if m.Result == nil && m.Errors == nil {
			m.Errors = toWire(diag.New(Died, "the model's code stopped its goroutine (runtime.Goexit)").At(codePos()).
				WithHint("return an error, or panic"))
		}
		err = m.write(dir)
	}()
	res, err := f()
	if err != nil {
		m.Errors = toWire(err)
		return nil
	}
	m.Result, m.Notes = res, toWire(res.Notes)
	return nil
}

func (m *message) write(dir string) error {
	if m.Result != nil {
		if err := os.MkdirAll(filepath.Join(dir, "files"), 0o777); err != nil {
			return err
		}
		for i, file := range m.Result.Files {
			m.Files = append(m.Files, file.Name)
			if err := os.WriteFile(filePath(dir, i), file.Data, 0o666); err != nil {
				return err
			}
		}
	}
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	tmp := filepath.Join(dir, ResultFile+".tmp") // the reader sees all or nothing
	if err := os.WriteFile(tmp, text, 0o666); err != nil {
		return err
	}
	return os.Rename(tmp, filepath.Join(dir, ResultFile))
}

func filePath(dir string, i int) string { return filepath.Join(dir, "files", strconv.Itoa(i)) }

const jobFile = "job.json"

// Requested reads the job of an exchange.
func Requested(dir string, job any) error {
	text, err := os.ReadFile(filepath.Join(dir, jobFile))
	if err != nil {
		return err
	}
	return json.Unmarshal(text, job)
}

// Request writes it.
func Request(dir string, job any) error {
	text, err := json.Marshal(job)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, jobFile), text, 0o666)
}

// Receive reads the result of an exchange. An error of the job itself is a
// diag.List; missing tells that there is no result.
func Receive(dir string) (res *Result, missing bool, err error) {
	text, err := os.ReadFile(filepath.Join(dir, ResultFile))
	if err != nil {
		return nil, true, err
	}
	var m message
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, true, err
	}
	if len(m.Errors) > 0 {
		return nil, false, fromWire(m.Errors)
	}
	m.Result.Notes = fromWire(m.Notes)
	for i, name := range m.Files {
		data, err := os.ReadFile(filePath(dir, i))
		if err != nil {
			return nil, true, err
		}
		m.Result.Files[i] = File{name, data}
	}
	return m.Result, false, nil
}
