package serve

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
)

// question is the body of a request, and result that of its answer: a row for each input.
type (
	question struct {
		Inputs []row `json:"inputs"`
	}
	result struct {
		Outputs []row `json:"outputs"`
	}
	failure struct {
		Error string `json:"error"`
	}
)

// UnmarshalJSON takes an object whose only name is inputs, spelt so: the decoder of structs
// would take INPUTS too, which another program may read as another field.
func (q *question) UnmarshalJSON(text []byte) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		return err
	}
	for name := range fields {
		if name != "inputs" {
			return fmt.Errorf("unknown field %q, expected inputs", name)
		}
	}
	if fields["inputs"] == nil {
		return nil
	}
	return json.Unmarshal(fields["inputs"], &q.Inputs)
}

// row is the numbers of one input or result.
type row []float32

// UnmarshalJSON takes an array of numbers that float32 holds. The decoder of slices
// would take null for 0.
func (r *row) UnmarshalJSON(text []byte) error {
	list, ok := bytes.CutPrefix(text, []byte("["))
	if !ok {
		return errors.New("an input is no array of numbers")
	}
	*r = nil
	list = bytes.TrimSpace(bytes.TrimSuffix(list, []byte("]")))
	for len(list) > 0 {
		var number []byte
		number, list, _ = bytes.Cut(list, []byte(","))
		number = bytes.TrimSpace(number)
		if number[0] != '-' && (number[0] < '0' || number[0] > '9') { // the syntax has been checked
			return fmt.Errorf("number %d of an input is none", len(*r))
		}
		v, err := strconv.ParseFloat(string(number), 32)
		if err != nil {
			return fmt.Errorf("number %d of an input is beyond float32", len(*r))
		}
		*r = append(*r, float32(v))
	}
	return nil
}

// refusal is an error that the client gets, with its HTTP status.
type refusal struct {
	status int
	msg    string
}

func (r *refusal) Error() string { return r.msg }

func refuse(status int, format string, args ...any) error {
	return &refusal{status, fmt.Sprintf(format, args...)}
}

// rows reads the inputs of a request.
func (s *Server) rows(body io.Reader, contentType string) ([]row, error) {
	if contentType != "" {
		if kind, _, err := mime.ParseMediaType(contentType); err != nil || kind != "application/json" {
			return nil, refuse(http.StatusUnsupportedMediaType, "the content type is %q, expected application/json", contentType)
		}
	}
	d := json.NewDecoder(body)
	var q question
	err := d.Decode(&q)
	if err == nil {
		if _, err = d.Token(); err == io.EOF {
			err = nil
		} else if err == nil {
			err = errors.New("more after the end")
		}
	}
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return nil, refuse(http.StatusRequestEntityTooLarge, "the request has more than %d bytes", large.Limit)
	case err != nil:
		return nil, refuse(http.StatusBadRequest, "the request is not {\"inputs\": [[number, ...], ...]}: %v", err)
	case len(q.Inputs) == 0 || len(q.Inputs) > s.options.MaxBatch:
		return nil, refuse(http.StatusBadRequest, "the request has %d inputs, expected 1 to %d", len(q.Inputs), s.options.MaxBatch)
	}
	for i, row := range q.Inputs {
		if len(row) != s.width {
			return nil, refuse(http.StatusBadRequest, "input %d has %d numbers, expected %d", i, len(row), s.width)
		}
	}
	return q.Inputs, nil
}

// answer writes a JSON document.
func answer(w http.ResponseWriter, status int, v any) {
	text, err := json.Marshal(v)
	if err != nil { // a number that JSON does not have; compute refuses those
		status, text = http.StatusInternalServerError, []byte(`{"error":"the answer has no JSON form"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n')) // the client may have gone
}
