package weights

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/internal/mapfile"
)

const (
	maxIndex  = 100 << 20 // bytes
	maxShards = 1 << 12
	maxTold   = 20 // mistakes of one kind that are listed
)

// isIndex reports whether a file is a JSON object, as indices of shards are.
func isIndex(b []byte, path string) bool {
	return strings.HasSuffix(path, ".json") || len(b) > 0 && b[0] == '{' && !isSafetensors(b)
}

// index is a set of shards: files that have the tensors of a model together.
type index struct {
	names []string
	shard map[string]int // by tensor
	files []File
}

// openIndex opens an index and all of its shards, and checks that they agree.
func openIndex(b []byte, path string) (File, error) {
	if len(b) > maxIndex {
		return nil, indexFault("has " + strconv.Itoa(len(b)) + " bytes, expected at most " + strconv.Itoa(maxIndex))
	}
	x := &index{shard: map[string]int{}}
	shards, err := x.read(b)
	if err != nil {
		return nil, err
	}
	root, rootErr := os.OpenRoot(filepath.Dir(path))
	if rootErr != nil {
		return nil, &diag.Error{Code: CodeRead, Msg: "weights", Err: rootErr}
	}
	defer root.Close()
	var errs diag.List
	for _, name := range shards {
		f, err := openShard(root, name)
		if err != nil {
			errs.Add(err)
			continue
		}
		x.files = append(x.files, f)
	}
	err = errs.Err()
	if err == nil {
		err = x.check(shards)
	}
	if err != nil {
		_ = x.Close() // the files are at fault
		return nil, err
	}
	return x, nil
}

// Close closes the shards.
func (x *index) Close() error {
	var errs []error
	for _, f := range x.files {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}

func indexFault(msg string) *diag.Error { return diag.New(CodeIndex, "weights: index "+msg) }

// read reads {"metadata": ..., "weight_map": {tensor: file}} and returns the files.
func (x *index) read(b []byte) (shards []string, err error) {
	malformed := func(err error) error {
		e := indexFault("is no JSON object with a weight_map of texts")
		e.Err = err
		return e
	}
	fields, err := object(b)
	if err != nil {
		return nil, malformed(err)
	}
	var entries []field
	for _, f := range fields {
		if f.name == "weight_map" {
			entries, err = object(f.value)
		}
	}
	if err != nil || entries == nil {
		return nil, malformed(err)
	}
	at := map[string]int{}
	for _, e := range entries {
		var file string
		if err := json.Unmarshal(e.value, &file); err != nil {
			return nil, malformed(err)
		}
		if _, known := at[file]; !known {
			if len(shards) == maxShards {
				return nil, indexFault("names more than " + strconv.Itoa(maxShards) + " files, expected fewer")
			}
			at[file] = len(shards)
			shards = append(shards, file)
		}
		x.names = append(x.names, e.name)
		x.shard[e.name] = at[file]
	}
	return shards, nil
}

// field is a key of a JSON object and its value.
type field struct {
	name  string
	value json.RawMessage
}

// object reads a JSON object whose keys occur once.
func object(b []byte) ([]field, error) {
	if !json.Valid(b) {
		return nil, errors.New("it is no JSON")
	}
	d := json.NewDecoder(bytes.NewReader(b))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("it is no object")
	}
	all, seen := []field{}, map[string]bool{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		f := field{name: key.(string)}
		if seen[f.name] {
			return nil, errors.New("key " + quote(f.name) + " occurs twice")
		}
		seen[f.name] = true
		if err := d.Decode(&f.value); err != nil {
			return nil, err
		}
		all = append(all, f)
	}
	return all, nil
}

// openShard opens a file of the index's folder. It refuses links that lead out of it,
// and files that are not regular, before opening them: opening a pipe waits.
func openShard(root *os.Root, name string) (File, error) {
	if name != filepath.Base(name) || !filepath.IsLocal(name) || strings.Contains(name, `\`) {
		return nil, indexFault("names the file " + quote(name) + ", expected one of its folder")
	}
	mem, err := mapfile.ReadIn(root, name)
	if err != nil {
		var p *fs.PathError // whose path is in the message, quoted
		if errors.As(err, &p) {
			err = p.Err
		}
		e := indexFault("names the file " + quote(name) + ", which cannot be read")
		e.Err = err
		return nil, e.WithHint("shards lie next to the index; copy all of them, and the targets of links: cp -rL")
	}
	f, err := open(mem, name)
	if err != nil {
		return nil, inFile(err, name)
	}
	return f, nil
}

// check compares the index with the shards: each tensor is in its file, and files have
// no others.
func (x *index) check(shards []string) error {
	var errs diag.List
	for _, name := range x.names {
		if _, _, ok := x.files[x.shard[name]].Type(name); !ok && len(errs) < maxTold {
			errs.Add(indexFault("has tensor " + quote(name) + " in " + quote(shards[x.shard[name]]) + ", which lacks it"))
		}
	}
	more := 0
	for i, f := range x.files {
		for _, name := range f.Names() {
			if at, ok := x.shard[name]; (!ok || at != i) && more < maxTold {
				more++
				errs.Add(indexFault("does not have tensor " + quote(name) + " in " + quote(shards[i]) + ", which is there"))
			}
		}
	}
	return errs.Err()
}

// Names returns the tensors in the order of the index.
func (x *index) Names() []string { return append([]string(nil), x.names...) }

// of returns the file that has a tensor, nil when there is none.
func (x *index) of(name string) File {
	i, ok := x.shard[name]
	if !ok {
		return nil
	}
	return x.files[i]
}

func (x *index) Type(name string) (array.DType, []int, bool) {
	if f := x.of(name); f != nil {
		return f.Type(name)
	}
	return array.Invalid, nil, false
}

func (x *index) Format(name string) string {
	if f := x.of(name); f != nil {
		return f.Format(name)
	}
	return ""
}

func (x *index) Get(name string) (*array.Array, error) {
	if f := x.of(name); f != nil {
		return f.Get(name)
	}
	return nil, missing(name)
}
