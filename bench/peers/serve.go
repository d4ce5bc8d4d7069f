package peers

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// Serve answers requests, one a line, until the input ends: the job of a peer
// that is written in Go.
func Serve(in io.Reader, out io.Writer, handle func(q *Request) (Answer, error)) error {
	r := bufio.NewReader(in)
	for {
		line, err := r.ReadBytes('\n')
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		var q Request
		var a Answer
		if err = json.Unmarshal(line, &q); err == nil {
			a, err = handle(&q)
		}
		if err != nil {
			a.Error = err.Error()
		}
		b, err := json.Marshal(a)
		if err != nil {
			return err
		}
		if _, err := out.Write(append(b, '\n')); err != nil {
			return err
		}
	}
}

// Time answers a request to run: warm calls, then those whose time counts. call
// makes so many calls.
func (q *Request) Time(call func(times int) error) (a Answer, err error) {
	if err := call(q.Warm); err != nil {
		return a, err
	}
	start := time.Now()
	err = call(q.Calls)
	a.NS = float64(time.Since(start))
	return a, err
}

// Unknown is the answer to a request of an unknown kind.
func (q *Request) Unknown() error { return fmt.Errorf("unknown request %s", q.Do) }
