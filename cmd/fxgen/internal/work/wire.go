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

// maxStack bounds the stack of a model that calls itself for ever: the runtime's
// own limit is more memory than many machines have to spare.
const maxStack = 256 << 20

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
	debug.SetMaxStack(maxStack)
	s.Stuck = func(err error) {
		m := message{Errors: toWire(err)}
		if err := m.write(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(1)
	}
	return Send(dir, func() (*Result, error) { return Do(context.Background(), s, &j) })
}

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

// Request writes the job of an exchange.
func Request(dir string, j *Job) error {
	text, err := json.Marshal(j)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "job.json"), text, 0o666)
}

// Choice says which of the things in a test binary the job of an exchange is about.
type Choice struct {
	Name     string
	Captured string            // the key of the function or of the constructor, "" for File and Model
	Method   string            // of modules, Forward when empty
	Params   []string          // names in the signature
	Outputs  []string          // the same of the results
	File     string            // a graph's file or folder
	Model    string            // a built-in network
	Passes   map[string]string // where the passes of -passes are declared, by the names given there
}

// FolderVariable is the environment variable that names the folder of the exchange.
const FolderVariable = "FXGEN_JOB"

const choiceFile = "choice.json"

// Choose writes the choice of an exchange.
func Choose(dir string, c *Choice) error {
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, choiceFile), text, 0o666)
}

// Chosen reads it.
func Chosen(dir string) (*Choice, error) {
	text, err := os.ReadFile(filepath.Join(dir, choiceFile))
	if err != nil {
		return nil, err
	}
	var c Choice
	return &c, json.Unmarshal(text, &c)
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

// temporary are the variables that say where temporary files go, on some system.
var temporary = []string{"TMPDIR", "TMP", "TEMP"}

// TemporaryIn has programs with an environment put temporary files into a folder.
func TemporaryIn(env []string, folder string) []string {
	for _, name := range temporary {
		env = append(env, name+"="+folder)
	}
	return env
}
