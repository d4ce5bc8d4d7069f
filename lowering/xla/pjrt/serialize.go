package pjrt

import (
	"slices"
	"unsafe"

	"github.com/gofx-dev/gofx/internal/dynlib"
)

// Serialize returns the compiled program for Client.Load, in a form of the plugin's own. A
// plugin that cannot fails with Unimplemented.
func (e *Executable) Serialize() (data []byte, err error) {
	err = e.inner(func(p *Plugin, inner uintptr) error {
		a := &serializeArgs{head: head{size: unsafe.Sizeof(serializeArgs{})}, executable: inner}
		if err := p.call(fnExecutableSerialize, unsafe.Pointer(a)); err != nil {
			return err
		}
		if a.serialized != 0 && a.free != 0 {
			defer dynlib.Call(a.free, a.serialized)
		}
		data = slices.Clone(list[byte](a.data, a.n))
		return nil
	})
	return data, err
}

// Load makes an executable of what Serialize returned, with the same plugin and kind of
// device: it is not compiled. Other data is an error of the plugin, or worse: plugins trust
// it, so keep it where nobody else writes.
func (c *Client) Load(data []byte) (*Executable, error) {
	if !c.enter() {
		return nil, closed("client")
	}
	defer c.leave()
	if len(data) == 0 {
		return nil, bad("no data of a serialized program", "give what Executable.Serialize returned")
	}
	a := &deserializeArgs{head: head{size: unsafe.Sizeof(deserializeArgs{})}, client: c.handle, data: pointer(data), n: uintptr(len(data))}
	if err := c.plugin.call(fnDeserializeAndLoad, unsafe.Pointer(a)); err != nil {
		return nil, err
	}
	e, err := c.loaded(a.executable)
	if err != nil {
		return nil, err
	}
	c.counts.loads.Add(1)
	return e, nil
}
