//go:build !linux

package main

import "fmt"

// container does nothing here: containers have Linux.
func (t *trial) container() error {
	_, err := fmt.Fprintln(t.log, "fxgen was not tried in an empty root: that needs Linux")
	return err
}
