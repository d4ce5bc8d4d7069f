//go:build !js

package safetensors

import (
	"io"
	"os"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
)

// ReadFile reads a whole file into memory and parses it.
func ReadFile(path string) (*File, error) {
	h, err := os.Open(path)
	if err != nil {
		return nil, &diag.Error{Code: CodeRead, Msg: "safetensors", Err: err}
	}
	defer h.Close()
	st, err := h.Stat()
	if err != nil {
		return nil, &diag.Error{Code: CodeRead, Msg: "safetensors", Err: err}
	}
	if !st.Mode().IsRegular() || st.Size() != int64(int(st.Size())) {
		return nil, diag.New(CodeRead, "safetensors: "+path+" is no regular file that fits in memory, expected one")
	}
	// Reading into an aligned storage lets every tensor be a view of it.
	s := array.NewStorage(int(st.Size()))
	if n, err := io.ReadFull(h, s.Bytes()); err != nil {
		return nil, readError(int64(n), err)
	}
	f, err := Parse(s.Bytes())
	if err != nil {
		err.(*diag.Error).Pos.File = path
	}
	return f, err
}
