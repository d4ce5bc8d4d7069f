package pjrt

import (
	"cmp"
	"context"
	"errors"
	"runtime"
	"slices"
	"strconv"
	"unsafe"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
)

// Executable is a compiled program on its devices.
type Executable struct {
	ref
	client  *Client
	handle  uintptr
	name    string
	devices []*Device // that this process runs
	outputs []Output
}

// Output is the type of a result. Plugins may not tell: DType is array.Invalid then.
type Output struct {
	DType array.DType
	Shape []int
}

// Compile compiles a program, the text or bytecode of an MLIR module of StableHLO. It
// returns when the program is compiled, and cannot be interrupted.
func (c *Client) Compile(text string, o CompileOptions) (*Executable, error) {
	if !c.enter() {
		return nil, closed("client")
	}
	defer c.leave()
	if err := o.check(c); err != nil {
		return nil, err
	}
	code, format, options := append([]byte(text), 0), []byte("mlir"), o.proto() // MLIR's lexer looks for the 0 after the text
	prog := &program{head: head{size: unsafe.Sizeof(program{})}, code: pointer(code), codeSize: uintptr(len(text)), format: pointer(format), formatSize: uintptr(len(format))}
	a := &compileArgs{head: head{size: unsafe.Sizeof(compileArgs{})}, client: c.handle, program: prog, options: pointer(options), optionsSize: uintptr(len(options))}
	if err := c.plugin.call(fnClientCompile, unsafe.Pointer(a)); err != nil {
		return nil, err
	}
	e, err := c.loaded(a.executable)
	if err != nil {
		return nil, err
	}
	c.counts.compilations.Add(1)
	return e, nil
}

// loaded makes an Executable of a handle that the plugin gave.
func (c *Client) loaded(handle uintptr) (*Executable, error) {
	e := &Executable{client: c, handle: handle}
	if err := c.adopt(&e.ref, func() error { return c.plugin.onObject(fnLoadedDestroy, e.handle) }); err != nil {
		return nil, err
	}
	if err := e.read(); err != nil {
		return nil, cmp.Or(err, e.Close())
	}
	return e, nil
}

// read asks for what an executable tells of itself.
func (e *Executable) read() (err error) {
	p := e.client.plugin
	handles, err := listOf[uintptr](p, fnLoadedDevices, e.handle)
	if err != nil {
		return err
	}
	for _, h := range handles {
		i := slices.IndexFunc(e.client.devices, func(d *Device) bool { return d.handle == h })
		if i < 0 {
			return bad(p.name()+" compiled for a device that its client does not list", "")
		}
		e.devices = append(e.devices, e.client.devices[i])
	}
	if len(e.devices) == 0 {
		return bad(p.name()+" compiled for no device of this process", "choose other CompileOptions.Devices")
	}
	inner, err := p.wordOf(fnLoadedGetExecutable, e.handle)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, p.onObject(fnExecutableDestroy, inner)) }()
	if e.name, err = p.textOf(fnExecutableName, inner); err != nil {
		return err
	}
	n, err := p.wordOf(fnExecutableNumOutputs, inner)
	if err != nil {
		return err
	}
	if n > 1<<24 {
		return bad(p.name()+" compiled a program with "+strconv.FormatUint(uint64(n), 10)+" results", "")
	}
	e.outputs = make([]Output, n)
	return e.readTypes(inner)
}

// maxRank bounds what is read of a plugin's lists of dimensions.
const maxRank = 1 << 10

// readTypes asks for the types of the outputs; a plugin that does not tell leaves them
// unknown.
func (e *Executable) readTypes(inner uintptr) error {
	p := e.client.plugin
	kinds, err := listOf[int32](p, fnExecutableOutputTypes, inner)
	a := &outputDimsArgs{head: head{size: unsafe.Sizeof(outputDimsArgs{})}, executable: inner}
	if err == nil {
		err = p.call(fnExecutableOutputDims, unsafe.Pointer(a))
	}
	if errors.Is(err, Unimplemented) {
		return nil
	}
	if err != nil {
		return err
	}
	if len(kinds) != len(e.outputs) || a.n != uintptr(len(e.outputs)) {
		return bad(p.name()+" gave types for another number of results than the program has", "")
	}
	ranks, at := list[uintptr](a.ranks, a.n), uintptr(0)
	for i := range e.outputs {
		if len(ranks) != len(e.outputs) || ranks[i] > maxRank || ranks[i] > 0 && a.dims == nil {
			return bad(p.name()+" gave dimensions of results that cannot be read", "")
		}
		shape, ok := shapeOf(list[int64](unsafe.Add(a.dims, at*8), ranks[i]))
		if !ok {
			return bad(p.name()+" gave dimensions of a result that no array has", "")
		}
		e.outputs[i] = Output{dtypeOf(kinds[i]), shape}
		at += ranks[i]
	}
	return nil
}

// Name returns the name of the program.
func (e *Executable) Name() string { return e.name }

// Outputs returns the types of the results, on each device; do not change their shapes.
func (e *Executable) Outputs() []Output { return slices.Clone(e.outputs) }

// Devices returns the devices of this process that the program runs on.
func (e *Executable) Devices() []*Device { return slices.Clone(e.devices) }

// Close frees the program. A run that is under way goes on.
func (e *Executable) Close() error { return e.shut() }

// Execute runs a program of one device and waits until it has run. The results are the
// caller's to close. Arguments stay as they are, except those that donate names, which the
// program must have been compiled to take (jax.buffer_donor, tf.aliasing_output): their elements are gone. Where
// ctx ends the wait, the run goes on and its results are freed.
func (e *Executable) Execute(ctx context.Context, args []*Buffer, donate ...int) ([]*Buffer, error) {
	out, err := e.execute(ctx, [][]*Buffer{args}, donate)
	if err != nil {
		return nil, err
	}
	return out[0], nil
}

// ExecuteAll runs a program on all devices of this process: lists of arguments and of
// results are in the order of Devices. donate is as for Execute, on every device.
func (e *Executable) ExecuteAll(ctx context.Context, args [][]*Buffer, donate ...int) ([][]*Buffer, error) {
	return e.execute(ctx, args, donate)
}

func (e *Executable) execute(ctx context.Context, args [][]*Buffer, donate []int) ([][]*Buffer, error) {
	if err := ctx.Err(); err != nil {
		return nil, diag.Stop(err)
	}
	if !e.enter() {
		return nil, closed("executable")
	}
	defer e.leave()
	handles, leave, err := e.arguments(args)
	defer leave()
	if err != nil {
		return nil, err
	}
	outputs, events, err := e.launch(handles, donate)
	if err != nil {
		return nil, err
	}
	results, err := e.results(outputs)
	for _, event := range events { // also after an error: each is to be freed
		err = cmp.Or(err, e.client.await(ctx, event, nil, func() {}))
	}
	if err != nil {
		for _, list := range results {
			for _, b := range list {
				err = cmp.Or(err, b.Close())
			}
		}
		return nil, err
	}
	e.client.counts.executions.Add(1)
	return results, nil
}

// arguments checks the buffers and begins a use of each; leave ends those.
func (e *Executable) arguments(args [][]*Buffer) (handles [][]uintptr, leave func(), err error) {
	var used []*Buffer
	leave = func() {
		for _, b := range used {
			b.leave()
		}
	}
	if len(args) != len(e.devices) {
		return nil, leave, bad("arguments for "+plural(len(args), "device")+" given, the program runs on "+plural(len(e.devices), "device"), "give one list for each of Devices")
	}
	for i, list := range args {
		if len(list) != len(args[0]) {
			return nil, leave, bad(plural(len(list), "argument")+" given for device "+strconv.Itoa(i)+", "+plural(len(args[0]), "argument")+" for the first", "every device gets as many")
		}
		row := make([]uintptr, len(list))
		for k, b := range list {
			at := "argument " + strconv.Itoa(k)
			if b == nil || b.client != e.client {
				return nil, leave, bad(at+" is no buffer of this client", "upload it with the client that compiled the program")
			}
			if b.device != e.devices[i] {
				return nil, leave, bad(at+" is on "+b.device.text+", the program runs on "+e.devices[i].text, "upload it to that device")
			}
			if !b.enter() {
				return nil, leave, closed("buffer (" + at + ")")
			}
			used = append(used, b)
			row[k] = b.handle
		}
		handles = append(handles, row)
	}
	return handles, leave, nil
}

// launch starts a run and returns the handles of its results and of the events of its end.
func (e *Executable) launch(handles [][]uintptr, donate []int) (outputs [][]uintptr, events []uintptr, err error) {
	var pin runtime.Pinner
	defer pin.Unpin()
	devices := len(handles)
	in, out := make([]uint64, devices), make([]uint64, devices)
	outputs, events = make([][]uintptr, devices), make([]uintptr, devices)
	for i := range handles {
		outputs[i] = make([]uintptr, len(e.outputs))
		in[i], out[i] = address(&pin, handles[i]), address(&pin, outputs[i])
	}
	args := len(handles[0])
	keep := make([]int64, 0, args)
	for i := range args {
		if !slices.Contains(donate, i) {
			keep = append(keep, int64(i))
		}
	}
	options := &executeOptions{head: head{size: unsafe.Sizeof(executeOptions{})}, keep: unsafe.Pointer(unsafe.SliceData(keep)), numKeep: uintptr(len(keep))}
	a := &executeArgs{head: head{size: unsafe.Sizeof(executeArgs{})}, executable: e.handle, options: options,
		arguments: unsafe.Pointer(unsafe.SliceData(in)), devices: uintptr(devices), n: uintptr(args),
		outputs: unsafe.Pointer(unsafe.SliceData(out)), events: unsafe.Pointer(unsafe.SliceData(events))}
	if err := e.client.plugin.call(fnLoadedExecute, unsafe.Pointer(a)); err != nil {
		return nil, nil, err
	}
	return outputs, events, nil
}

// results makes buffers of all handles; those that cannot be are freed, with an error.
func (e *Executable) results(outputs [][]uintptr) ([][]*Buffer, error) {
	var all error
	results := make([][]*Buffer, len(outputs))
	for i, list := range outputs {
		for _, h := range list {
			b, err := e.client.received(h, e.devices[i])
			if err != nil {
				all = cmp.Or(all, err)
				continue
			}
			results[i] = append(results[i], b)
		}
	}
	return results, all
}
