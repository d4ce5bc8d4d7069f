//go:build !js

package safetensors

import (
	"io"
	"os"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/internal/mapfile"
)

// ReadFile reads a whole file into memory and parses it.
func ReadFile(path string) (*File, error) {
	h, size, err := open(path)
	if err != nil {
		return nil, err
	}
	defer h.Close()
	if err := array.TooLarge("safetensors: "+path, size); err != nil {
		return nil, err
	}
	// Reading into an aligned storage lets every tensor be a view of it.
	s := array.NewStorage(int(size))
	if n, err := io.ReadFull(h, s.Bytes()); err != nil {
		return nil, readError(int64(n), err)
	}
	return parseFile(path, s.Bytes())
}

// Map is ReadFile with the file mapped into memory where the system can (Linux, macOS):
// it takes as long as the header needs, and data is read when it is used. The memory
// is given back by Close, and the file must be replaced, not written over, until then.
// Nothing of a refused file stays mapped.
func Map(path string) (*File, error) {
	h, _, err := open(path)
	if err != nil {
		return nil, err
	}
	defer h.Close()
	mem, err := mapfile.Read(h)
	if err != nil {
		return nil, unreadable(err)
	}
	f, err := parse(mem.Bytes(), true)
	if err != nil {
		err.(*diag.Error).Pos.File = path
		return nil, mem.Refuse(err)
	}
	f.close = mem.Close
	return f, nil
}

func unreadable(err error) error {
	return &diag.Error{Code: CodeRead, Msg: "safetensors", Err: err}
}

// open opens a regular file. Others are refused before: who opens a pipe waits.
func open(path string) (*os.File, int64, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, 0, unreadable(err)
	}
	if !st.Mode().IsRegular() || st.Size() != int64(int(st.Size())) {
		return nil, 0, diag.New(CodeRead, "safetensors: "+path+" is no regular file that fits in memory, expected one")
	}
	h, err := os.Open(path)
	if err != nil {
		return nil, 0, unreadable(err)
	}
	return h, st.Size(), nil
}

func parseFile(path string, b []byte) (*File, error) {
	f, err := Parse(b)
	if err != nil {
		err.(*diag.Error).Pos.File = path
	}
	return f, err
}
