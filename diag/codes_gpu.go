package diag

// gpuCodes explains the codes FX51xx: devices other than the processor.
var gpuCodes = []Info{
	{
		//gofx:code lowering/gpu.NoDevice lowering/gpu/internal/device.NoDevice
		Code: "FX5101", Title: "no such device",
		Cause: "the library that drives the device is not installed, finds no device, or has none with the requested name",
		Cure:  "install the driver (Debian: pocl-opencl-icd computes on the processor), take a device that gpu.Devices lists, or run the model on the cpu target",
		Example: `_, err := gpu.Open("opencl:no such card")
return err`,
	},
	{
		//gofx:code lowering/gpu.Lost lowering/gpu/internal/device.Lost
		Code: "FX5102", Title: "device is lost",
		Cause: "the driver reports that the device cannot be used any more: it was reset, unplugged, or a kernel crashed it",
		Cure:  "close the executables compiled for it and run the model on the cpu target; open the device again after the driver recovers",
		Example: `lost := run.NewDevice(&failing{code: gpu.Lost})
_, err := gpu.Target{Device: lost}.Compile(m, lowering.Options{})
return err`,
	},
	{
		//gofx:code lowering/gpu.BuildFailed lowering/gpu/internal/device.BuildFailed
		Code: "FX5103", Title: "the device's compiler refuses a program",
		Cause: "the compiler of the driver does not take the source of the kernels; the message has its log",
		Cure:  "update the driver, or run the model on the cpu target; please report the log and the versions that gpu.Devices prints",
		Example: `broken := run.NewDevice(&failing{code: gpu.BuildFailed})
_, err := gpu.Target{Device: broken}.Compile(m, lowering.Options{})
return err`,
	},
	{
		//gofx:code lowering/gpu.DriverFailed lowering/gpu/internal/device.DriverFailed
		Code: "FX5104", Title: "driver of the device refuses a command",
		Cause: "a call of the driver failed: the device's memory is full, a group is too large for it, or an argument does not fit; the message names the call and the driver's error",
		Cure:  "close executables that are not used any more, run smaller batches, or let the cpu target run the model",
		Example: `full := run.NewDevice(&failing{code: gpu.DriverFailed})
_, err := gpu.Target{Device: full}.Compile(m, lowering.Options{})
return err`,
	},
	{
		//gofx:code lowering/gpu.BadPack lowering/gpu/internal/pack.BadPack
		Code: "FX5105", Title: "pack of kernels is damaged",
		Cause: "the pack of compiled kernels was cut off, changed, or written by another version",
		Cure:  "write the pack again, by Pack.Bytes",
		Example: `var p gpu.Pack
data := p.Bytes()
_, err := gpu.ReadPack(data[:len(data)-1])
return err`,
	},
}
