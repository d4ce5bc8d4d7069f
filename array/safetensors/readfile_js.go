package safetensors

import (
	"io"
	"syscall"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
)

// ReadFile reads a whole file into memory and parses it. It works where the
// JavaScript host has a file system, as node does. Package os, whose variables
// every program that imports it links, is left out for the sake of browsers.
func ReadFile(path string) (*File, error) {
	fd, err := syscall.Open(path, syscall.O_RDONLY, 0)
	if err != nil {
		return nil, &diag.Error{Code: CodeRead, Msg: "safetensors: " + path, Err: err}
	}
	defer syscall.Close(fd)
	var st syscall.Stat_t
	if err := syscall.Fstat(fd, &st); err != nil {
		return nil, &diag.Error{Code: CodeRead, Msg: "safetensors: " + path, Err: err}
	}
	if st.Mode&syscall.S_IFMT != syscall.S_IFREG || st.Size != int64(int(st.Size)) {
		return nil, diag.New(CodeRead, "safetensors: "+path+" is no regular file that fits in memory, expected one")
	}
	if err := array.TooLarge("safetensors: "+path, st.Size); err != nil {
		return nil, err
	}
	// Reading into an aligned storage lets every tensor be a view of it.
	s := array.NewStorage(int(st.Size))
	for b, at := s.Bytes(), 0; at < len(b); {
		n, err := syscall.Read(fd, b[at:])
		if n <= 0 && err == nil {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return nil, readError(int64(at), err)
		}
		at += n
	}
	f, err := Parse(s.Bytes())
	if err != nil {
		err.(*diag.Error).Pos.File = path
	}
	return f, err
}

// Map is ReadFile: there are no mapped files here.
func Map(path string) (*File, error) { return ReadFile(path) }
