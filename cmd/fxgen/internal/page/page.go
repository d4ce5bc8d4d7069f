// Package page has the page of the playground: it puts the program of command playground, what that
// needs of Go, and the page's own program into one file of HTML, which loads nothing.
//
// The parts are in the folder page: worker.js runs the program over files in memory, engine.js talks
// to the worker, app.js is what a reader uses. Read HTML, then app.js.
package page

import (
	"bytes"
	"compress/gzip"
	"embed"
	"encoding/base64"
	"encoding/json"
	"strings"
)

//go:embed page
var assets embed.FS

// scripts are the parts of the page's program, in order.
var scripts = []string{"engine.js", "views.js", "app.js"}

// Parts are what a page is made of.
type Parts struct {
	Wasm    []byte            // command playground
	Exec    []byte            // Go's wasm_exec.js, of the version that built it
	Sources map[string]string // of the built-in networks, by the paths that positions in them have
}

// HTML returns the page. The same parts give the same bytes.
func HTML(p Parts) ([]byte, error) {
	sources, err := json.Marshal(p.Sources)
	if err != nil {
		return nil, err
	}
	texts := map[string]string{"worker": Worker(p.Exec), "style": asset("page.css")}
	for _, name := range scripts {
		texts["program"] += asset(name)
	}
	for name, data := range map[string][]byte{"sources": sources, "wasm": p.Wasm} {
		if data, err = Packed(data); err != nil {
			return nil, err
		}
		texts[name] = base64.StdEncoding.EncodeToString(data)
	}
	var pairs []string
	for name, text := range texts {
		pairs = append(pairs, "{{"+name+"}}", text)
	}
	return []byte(strings.NewReplacer(pairs...).Replace(asset("page.html"))), nil
}

// Worker is the program of the page's worker.
func Worker(exec []byte) string {
	return strings.ReplaceAll(string(exec), "</script", `<\/script`) + asset("worker.js")
}

// Packed is data as the worker unpacks it: by gzip, without a time.
func Packed(data []byte) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := z.Write(data); err != nil {
		return nil, err
	}
	err = z.Close()
	return b.Bytes(), err
}

// asset is a part of the page, which is linked into this program.
func asset(name string) string {
	text, err := assets.ReadFile("page/" + name)
	if err != nil {
		panic(err) // a file that HTML names and the folder has not; the tests make a page
	}
	return string(text)
}
