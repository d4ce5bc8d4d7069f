package pjrt

import (
	"slices"
	"unsafe"
)

// Device is a device of a client. What it tells was read when the client was made.
type Device struct {
	client      *Client
	handle      uintptr
	id, process int
	kind, text  string
	addressable bool
	attributes  []NamedValue
	memories    []Memory
}

// Memory is one that a device can address.
type Memory struct {
	ID   int
	Kind string // "device", "pinned_host"
}

// MemoryStats tells about a device's memory, in bytes; -1 for what it does not say.
type MemoryStats struct {
	InUse, Peak, Limit int64
}

// ID returns the number that names the device among all of its kind, on all hosts.
func (d *Device) ID() int { return d.id }

// Process returns the number of the process that the device belongs to.
func (d *Device) Process() int { return d.process }

// Kind returns the vendor's name of such devices.
func (d *Device) Kind() string { return d.kind }

// String returns a short text for people.
func (d *Device) String() string { return d.text }

// Addressable reports whether this process can use the device.
func (d *Device) Addressable() bool { return d.addressable }

// Attributes returns what the plugin tells of the device.
func (d *Device) Attributes() []NamedValue { return slices.Clone(d.attributes) }

// Memories returns the memories that the device can address.
func (d *Device) Memories() []Memory { return slices.Clone(d.memories) }

// MemoryStats asks how much memory is in use. Plugins may not tell (Unimplemented).
func (d *Device) MemoryStats() (MemoryStats, error) {
	if !d.client.enter() {
		return MemoryStats{}, closed("client")
	}
	defer d.client.leave()
	a := &memoryStatsArgs{head: head{size: unsafe.Sizeof(memoryStatsArgs{})}, device: d.handle}
	if err := d.client.plugin.call(fnDeviceMemoryStats, unsafe.Pointer(a)); err != nil {
		return MemoryStats{}, err
	}
	known := func(o optional) int64 {
		if o.is == 0 {
			return -1
		}
		return o.n
	}
	return MemoryStats{InUse: a.inUse, Peak: known(a.peak), Limit: known(a.limit)}, nil
}

// readDevice asks for all that a Device tells.
func (c *Client) readDevice(handle uintptr) (*Device, error) {
	p := c.plugin
	d := &Device{client: c, handle: handle}
	desc, err := p.wordOf(fnDeviceDescription, handle)
	if err != nil {
		return nil, err
	}
	if d.id, err = p.intOf(fnDescriptionID, desc); err != nil {
		return nil, err
	}
	if d.process, err = p.intOf(fnDescriptionProcess, desc); err != nil {
		return nil, err
	}
	if d.kind, err = p.textOf(fnDescriptionKind, desc); err != nil {
		return nil, err
	}
	if d.text, err = p.textOf(fnDescriptionString, desc); err != nil {
		return nil, err
	}
	if d.addressable, err = p.flagOf(fnDeviceIsAddressable, handle); err != nil {
		return nil, err
	}
	attrs := &countedArgs{head: head{size: unsafe.Sizeof(countedArgs{})}, object: desc}
	if p.call(fnDescriptionAttributes, unsafe.Pointer(attrs)) == nil { // some plugins have none
		d.attributes = readNamed(attrs.data, attrs.n)
	}
	if d.addressable {
		d.memories = c.readMemories(handle)
	}
	return d, nil
}

// readMemories returns what a device tells of its memories: nil where it does not.
func (c *Client) readMemories(device uintptr) []Memory {
	handles, err := listOf[uintptr](c.plugin, fnDeviceMemories, device)
	if err != nil {
		return nil
	}
	var out []Memory
	for _, h := range handles {
		id, err1 := c.plugin.intOf(fnMemoryID, h)
		kind, err2 := c.plugin.textOf(fnMemoryKind, h)
		if err1 == nil && err2 == nil {
			out = append(out, Memory{id, kind})
		}
	}
	return out
}
