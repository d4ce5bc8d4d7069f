package train

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/safetensors"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/internal/swap"
	"github.com/gofx-dev/gofx/internal/textdiff"
	"github.com/gofx-dev/gofx/shape"
)

// Checkpoints says where the state of training is kept. A checkpoint is a safetensors file with
// the whole state of the step's graph: parameters, buffers, keys of dropout, the state of the
// optimiser and its counters. Its metadata tell where training stood and what the step computes.
// Training that goes on from one gives the same bits as training that was not stopped.
type Checkpoints struct {
	// Dir is the folder, which is made if necessary. "" keeps none. While one Fit trains in it,
	// another one is refused (FX3110), also in another process, where files have locks (Linux, macOS).
	Dir string
	// Every is the number of steps from one to the next; 0 keeps one after each epoch alone.
	Every int
	// Keep is how many are kept, the last ones; 0 stands for 1.
	Keep int
	// Restart does not go on from the checkpoints of the folder. The first new one takes the
	// place of all of them, whatever their steps are.
	Restart bool
}

const (
	checkpointVersion = "1"
	checkpointPrefix  = "step-"
	checkpointSuffix  = ".safetensors"
	unfinished        = ".checkpoint-"
	claimed           = ".checkpoints.lock"
)

// begin goes to the last checkpoint and keeps other trainings out of the folder until release is called:
// each would remove the checkpoints of the other. What is refused changes nothing in the folder.
func (r *run) begin() (release func(), err error) {
	c := r.Checkpoints
	if c.Dir == "" {
		return func() {}, r.resume()
	}
	if by := swap.Owner(c.Dir, claimed); by != "" {
		return nil, c.inUse(by)
	}
	from, _ := c.Last() // who trains from now on is found by it
	if err := r.resume(); err != nil {
		return nil, err
	}
	if r.ended() { // which can be read where nothing can be written
		return func() {}, nil
	}
	release, by, err := swap.Claim(c.Dir, claimed)
	switch {
	case err != nil:
		return nil, unwritten(err)
	case by != "":
		return nil, c.inUse(by)
	}
	if last, err := c.Last(); err != nil || last != from {
		err = errors.Join(err, r.resume())
		if err != nil {
			release()
			return nil, err
		}
	}
	return release, nil
}

func (c Checkpoints) inUse(by string) error {
	return diag.New(FolderInUse, by+" trains with checkpoints in "+c.Dir+", expected a folder that no other training uses").
		WithHint("wait until that training has ended, or give this one another folder in Checkpoints.Dir")
}

// files returns the checkpoints of a folder, the last one first.
func (c Checkpoints) files() ([]string, error) {
	entries, err := os.ReadDir(c.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, (&diag.Error{Code: BadCheckpoint, Msg: "the folder of checkpoints cannot be read", Err: err}).WithHint("check that the path is a folder with the right permissions, or give another one")
	}
	var list []string
	for _, e := range entries {
		if number(e.Name()) >= 0 && e.Type().IsRegular() {
			list = append(list, e.Name())
		}
	}
	slices.SortFunc(list, func(a, b string) int { return number(b) - number(a) })
	return list, nil
}

// Last returns the path of the checkpoint that training would go on from, "" where there is none.
func (c Checkpoints) Last() (string, error) {
	list, err := c.files()
	if err != nil || len(list) == 0 {
		return "", err
	}
	return filepath.Join(c.Dir, list[0]), nil
}

// number is the step of a file, -1 for other names.
func number(name string) int {
	rest, ok := strings.CutPrefix(name, checkpointPrefix)
	rest, end := strings.CutSuffix(rest, checkpointSuffix)
	n, err := strconv.Atoi(rest)
	if !ok || !end || err != nil || n < 0 {
		return -1
	}
	return n
}

// save writes a checkpoint.
func (r *run) save() error {
	c := r.Checkpoints
	if c.Dir == "" {
		return nil
	}
	r.mark()
	at, err := json.Marshal(r.at)
	if err != nil {
		return err
	}
	meta := map[string]string{"gofx.checkpoint": checkpointVersion, "gofx.position": string(at), "gofx.step": r.Step.text(), "gofx.loader": describe(r.batches)}
	name := fmt.Sprintf("%s%08d%s", checkpointPrefix, r.at.Step, checkpointSuffix)
	if err := writeAtomic(filepath.Join(c.Dir, name), r.Step.tensors(), meta); err != nil {
		return unwritten(err)
	}
	if r.wrote == nil {
		r.wrote = map[string]bool{}
	}
	r.wrote[name] = true
	return r.forget()
}

func unwritten(err error) error {
	return (&diag.Error{Code: BadCheckpoint, Msg: "the checkpoint cannot be written", Err: err}).WithHint("check the permissions and the space of the folder, or choose another one")
}

// forget removes the checkpoints that are not kept. Those of a training that this one does not
// go on from go as soon as there is a new one: their steps may be later ones.
func (r *run) forget() error {
	c := r.Checkpoints
	list, err := c.files()
	if err != nil {
		return err
	}
	keep := max(c.Keep, 1)
	for _, name := range list {
		if keep > 0 && (!c.Restart || r.wrote[name]) {
			keep--
			continue
		}
		if err := os.Remove(filepath.Join(c.Dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return unwritten(err)
		}
	}
	return nil
}

// writeAtomic writes a file that is whole or not there.
func writeAtomic(path string, tensors []safetensors.Named, meta map[string]string) error {
	return swap.Write(path, unfinished, func(w io.Writer) error { return safetensors.Write(w, tensors, meta) })
}

// tensors returns the state of the step, as the model has it.
func (s *Step) tensors() []safetensors.Named {
	var list []safetensors.Named
	for _, p := range s.module.Params() {
		list = append(list, safetensors.Named{Name: p.Path, Array: p.Value})
	}
	return list
}

// text is what the step computes.
func (s *Step) text() string { return s.module.String() }

// describe tells what a loader gives, where it says so.
func describe(l Loader) string {
	text := strconv.Itoa(l.Len()) + " batches"
	if s, ok := l.(fmt.Stringer); ok {
		text += ": " + s.String()
	}
	return text
}

// resume goes to the last checkpoint, if there is one.
func (r *run) resume() error {
	c := r.Checkpoints
	if c.Dir == "" || c.Restart {
		r.mark()
		return nil
	}
	list, err := c.files()
	if err != nil {
		return err
	}
	if len(list) > 0 {
		if err := r.from(filepath.Join(c.Dir, list[0])); err != nil {
			return err
		}
	}
	r.mark()
	return nil
}

// from takes the state of a checkpoint: all of it, or none.
func (r *run) from(path string) error {
	f, err := safetensors.ReadFile(path)
	if err != nil {
		return &diag.Error{Code: BadCheckpoint, Msg: "the checkpoint " + path + " cannot be read", Err: err}
	}
	defer f.Close()
	meta := f.Metadata()
	if v := meta["gofx.checkpoint"]; v != checkpointVersion {
		return diag.New(BadCheckpoint, path+" has the version "+strconv.Quote(v)+", expected "+checkpointVersion)
	}
	var at position
	if err := json.Unmarshal([]byte(meta["gofx.position"]), &at); err != nil {
		return &diag.Error{Code: BadCheckpoint, Msg: "the position in " + path + " cannot be read", Err: err}
	}
	if err := r.same(path, f, meta); err != nil {
		return err
	}
	values := map[string]*array.Array{}
	for _, p := range r.Step.module.Params() {
		if values[p.Path], err = f.Get(p.Path); err != nil {
			return &diag.Error{Code: BadCheckpoint, Msg: "the checkpoint " + path + " cannot be read", Err: err}
		}
	}
	for _, p := range r.Step.module.Params() {
		array.Copy(p.Value, values[p.Path])
		p.Value.Storage().Bump()
	}
	r.Step.Load()
	r.at = at
	return nil
}

// same refuses a checkpoint of another model, and names the differences.
func (r *run) same(path string, f *safetensors.File, meta map[string]string) error {
	var errs diag.List
	differ := func(msg string) { errs.Add(diag.New(OtherModel, path+": "+msg)) }
	left := map[string]bool{}
	for _, name := range f.Names() {
		left[name] = true
	}
	for _, p := range r.Step.module.Params() {
		d, sizes, _, _, ok := f.Info(p.Path)
		want := p.TypeOf()
		switch {
		case !ok:
			differ("it has no tensor " + p.Path)
		case d != want.DType() || !slices.Equal(sizes, p.Value.Shape()):
			differ(p.Path + " is " + shape.TensorType(d, shape.ConstDims(sizes...)).String() + ", the step has " + want.String())
		}
		delete(left, p.Path)
	}
	for _, name := range f.Names() {
		if left[name] {
			differ("the step has no tensor " + name)
		}
	}
	if len(errs) == 0 {
		if a, b := meta["gofx.step"], r.Step.text(); a != b {
			differ("the step computes something else:\n" + changed(a, b))
		}
		if a, b := meta["gofx.loader"], describe(r.batches); a != b {
			differ("the loader had " + a + ", now it has " + b)
		}
	}
	return errs.Err()
}

// changed returns the first lines that differ.
func changed(a, b string) string {
	const most = 6
	var lines []string
	for _, e := range textdiff.Edits(a, b) {
		if e.Op != ' ' && len(lines) < most {
			lines = append(lines, string(e.Op)+strings.TrimRight(e.Text, "\n"))
		}
	}
	return strings.Join(lines, "\n")
}
