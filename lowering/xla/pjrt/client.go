package pjrt

import (
	"cmp"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Client is the devices of a plugin, as one process uses them. Close ends it.
type Client struct {
	ref
	plugin            *Plugin
	handle            uintptr
	platform, version string
	devices           []*Device
	mu                sync.Mutex
	children          map[*ref]struct{} // guarded by mu
	counts            struct{ compilations, loads, executions, uploads, downloads, up, down atomic.Int64 }
}

// Stats counts what a client did.
type Stats struct {
	Compilations, Loads, Executions, Uploads, Downloads int64 // Loads: of serialized programs
	UploadedBytes, DownloadedBytes                      int64
	Live                                                int // buffers and executables that are not closed
}

// NewClient makes a client of all devices that the plugin finds. Options are the plugin's
// own: XLA's for processors takes "cpu_device_count", an int64, and makes as many devices. Give
// them the types that the plugin expects: XLA's ends the process where it gets another one.
// Making a client may take long and reserve most of a device's memory.
func (p *Plugin) NewClient(options ...NamedValue) (*Client, error) {
	var named cNamed
	defer named.free()
	for _, o := range options {
		if err := named.add(o); err != nil {
			return nil, err
		}
	}
	a := &createArgs{head: head{size: unsafe.Sizeof(createArgs{})}, numOptions: uintptr(len(named.values))}
	a.options = unsafe.Pointer(unsafe.SliceData(named.values))
	if err := p.call(fnClientCreate, unsafe.Pointer(a)); err != nil {
		return nil, err
	}
	c := &Client{plugin: p, handle: a.client, children: map[*ref]struct{}{}}
	c.init(func() error { return p.onObject(fnClientDestroy, c.handle) })
	if err := c.read(); err != nil {
		return nil, cmp.Or(err, c.Close())
	}
	return c, nil
}

// read asks for what the client tells of itself.
func (c *Client) read() (err error) {
	if c.platform, err = c.plugin.textOf(fnClientPlatformName, c.handle); err != nil {
		return err
	}
	if c.version, err = c.plugin.textOf(fnClientPlatformVersion, c.handle); err != nil {
		return err
	}
	handles, err := listOf[uintptr](c.plugin, fnClientDevices, c.handle)
	if err != nil {
		return err
	}
	for _, h := range handles {
		d, err := c.readDevice(h)
		if err != nil {
			return err
		}
		c.devices = append(c.devices, d)
	}
	return nil
}

// Plugin returns the plugin that the client is of.
func (c *Client) Plugin() *Plugin { return c.plugin }

// Platform returns the kind of the devices: "cpu", "cuda", "tpu".
func (c *Client) Platform() string { return c.platform }

// PlatformVersion returns what the plugin says of its own version and that of its driver.
func (c *Client) PlatformVersion() string { return c.version }

// Devices returns all devices, those of other processes included.
func (c *Client) Devices() []*Device { return slices.Clone(c.devices) }

// Stats returns what the client did so far.
func (c *Client) Stats() Stats {
	c.mu.Lock()
	live := len(c.children)
	c.mu.Unlock()
	n := &c.counts
	return Stats{Compilations: n.compilations.Load(), Loads: n.loads.Load(), Executions: n.executions.Load(), Uploads: n.uploads.Load(), Downloads: n.downloads.Load(),
		UploadedBytes: n.up.Load(), DownloadedBytes: n.down.Load(), Live: live}
}

// Close closes everything that the client made, and the client. It does not wait for
// calls that are under way in other goroutines, nor for the device where a wait was given
// up: what these use is freed when they end.
func (c *Client) Close() error {
	if c.isClosed() {
		return nil
	}
	c.hold() // until its children are closed
	err := c.shut()
	c.mu.Lock()
	var children []*ref
	for r := range c.children {
		children = append(children, r)
	}
	c.mu.Unlock()
	for _, r := range children {
		err = cmp.Or(err, r.shut())
	}
	return cmp.Or(err, c.leave())
}

// adopt makes r the reference of something that the client made and that free frees. The
// caller is within a use of the client.
func (c *Client) adopt(r *ref, free func() error) error {
	c.hold()
	r.init(func() error {
		err := free()
		c.mu.Lock()
		delete(c.children, r)
		c.mu.Unlock()
		return cmp.Or(err, c.leave())
	})
	c.mu.Lock()
	c.children[r] = struct{}{}
	c.mu.Unlock()
	if c.isClosed() { // Close may not have seen it
		return cmp.Or(closed("client"), r.shut())
	}
	return nil
}

// deviceByID returns an addressable device.
func (c *Client) deviceByID(id int) (*Device, error) {
	for _, d := range c.devices {
		if d.id == id && d.addressable {
			return d, nil
		}
	}
	return nil, bad("device "+strconv.Itoa(id)+" is none that this client can use", "see Client.Devices")
}

// place returns the device to use where d is asked for: the first one for nil.
func (c *Client) place(d *Device) (*Device, error) {
	if d == nil {
		for _, first := range c.devices {
			if first.addressable {
				return first, nil
			}
		}
		return nil, bad("the client has no device that this process can use", "")
	}
	if d.client != c || !d.addressable {
		return nil, bad("device "+d.text+" is none that this client can use", "see Client.Devices")
	}
	return d, nil
}
