package faults

import (
	"context"
	"errors"

	"github.com/gofx-dev/gofx/diag"
)

var ctx = context.Background()

// first returns the first diagnostic of an error.
func first(err error) error {
	var l diag.List
	if errors.As(err, &l) {
		return l[0]
	}
	return err
}
