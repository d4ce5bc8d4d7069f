package work

import (
	"context"
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

// Serve does the job in the file job.json of a folder and writes the result there.
func Serve(s *Source, dir string) error {
	text, err := os.ReadFile(filepath.Join(dir, "job.json"))
	if err != nil {
		return err
	}
	var j Job
	if err := json.Unmarshal(text, &j); err != nil {
		return err
	}
	return Send(dir, func() (*Result, error) { return Do(context.Background(), s, &j) })
}

// Send runs f and writes what it returns; a panic becomes an internal error.
func Send(dir string, f func() (*Result, error)) error {
	var m message
	func() {
		defer func() {
			if r := recover(); r != nil {
				m = message{Errors: []wireError{{Code: string(diag.Internal), Msg: fmt.Sprint(r), Cause: string(debug.Stack())}}}
			}
		}()
		res, err := f()
		if err != nil {
			m.Errors = toWire(err)
			return
		}
		m.Result, m.Notes = res, toWire(res.Notes)
	}()
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
	return os.WriteFile(filepath.Join(dir, ResultFile), text, 0o666)
}

func filePath(dir string, i int) string { return filepath.Join(dir, "files", strconv.Itoa(i)) }

// Request writes the job of an exchange.
func Request(dir string, j *Job) error {
	text, err := json.Marshal(j)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "job.json"), text, 0o666)
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
