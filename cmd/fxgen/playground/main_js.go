// Command playground is fxgen for a page, as a WebAssembly module. It gives the worker of the page
// two functions: fxgenLists() returns the lists of package play as JSON, and fxgenDo(request, done)
// does a request, also JSON, and calls done with the answer and the bytes of its zip file, or null.
// `fxgen playground` builds it; docs/playground.md describes the page.
package main

import (
	"context"
	"encoding/json"
	"runtime/debug"
	"syscall/js"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/play"
)

// A WebAssembly module has 4 GiB of memory, and ends where that is used up.
const (
	mostBytes = 1 << 30 // of a value
	collected = 2 << 30 // from here on the collector runs more often
)

func main() {
	array.SetMaxBytes(mostBytes)
	debug.SetMemoryLimit(collected)
	var s play.Session
	requests := make(chan func())
	js.Global().Set("fxgenLists", js.FuncOf(func(js.Value, []js.Value) any { return text(play.NewLists()) }))
	js.Global().Set("fxgenDo", js.FuncOf(func(_ js.Value, args []js.Value) any {
		request, done := args[0].String(), args[1]
		go func() { // a callback must not wait, and reading a file does
			requests <- func() { do(&s, request, done) }
		}()
		return nil
	}))
	for request := range requests {
		request()
	}
}

func do(s *play.Session, request string, done js.Value) {
	var r play.Request
	if err := json.Unmarshal([]byte(request), &r); err != nil {
		panic(err) // the page's own program wrote it
	}
	a := s.Do(context.Background(), &r)
	zip := js.Null()
	if a.Zip != nil {
		zip = js.Global().Get("Uint8Array").New(len(a.Zip))
		js.CopyBytesToJS(zip, a.Zip)
	}
	done.Invoke(text(a), zip)
}

func text(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // of strings, numbers and lists of them
	}
	return string(data)
}
