package diag

// pjrtCodes explains the codes FX518x: programs that run through a PJRT plugin.
var pjrtCodes = []Info{
	{
		//gofx:code lowering/xla/pjrt.NoPlugin
		Code: "FX5180", Title: "PJRT plugin cannot be loaded",
		Cause: "no plugin is found, the file is not a shared library or exports no GetPjrtApi, or libraries cannot be opened on this system",
		Cure:  "install a PJRT plugin and set GOFX_PJRT_PLUGIN to its path, or run on another target",
		Example: `_, err := pjrt.Load("/no/such/plugin.so")
return err`,
	},
	{
		//gofx:code lowering/xla/pjrt.BadVersion
		Code: "FX5181", Title: "PJRT plugin has another version",
		Cause: "the plugin was built with a version of the PJRT C API that has another layout, or lacks functions",
		Cure:  "take a plugin of version 0.40 or later of the interface",
		Example: `_, err := pjrt.Load("pjrt_c_api_old_plugin.so")
return err`,
	},
	{
		//gofx:code lowering/xla/pjrt.PluginFailed
		Code: "FX5182", Title: "PJRT plugin reports an error",
		Cause: "a function of the plugin, or work on a device that had begun, failed; the message has the plugin's text",
		Cure:  "see the text; errors.Is tells the kind, such as pjrt.ResourceExhausted",
		Example: `_, err := client.Compile("no program", pjrt.CompileOptions{})
return err`,
	},
	{
		//gofx:code lowering/xla/pjrt.Closed
		Code: "FX5183", Title: "PJRT object is closed",
		Cause: "a client, a buffer or an executable is used after its Close, or after that of its client",
		Cure:  "close a client after the last use of all of its objects",
		Example: `client.Close()
_, err := client.Upload(context.Background(), array.New(array.F32, 2), nil)
return err`,
	},
	{
		//gofx:code lowering/xla/pjrt.BadArgument
		Code: "FX5184", Title: "argument that a PJRT call cannot take",
		Cause: "the number of devices or arguments is wrong, a buffer or device belongs to another client, or PJRT does not have the type of a value",
		Cure:  "see the message: it names the argument, and what it must be",
		Example: `_, err := client.Compile("module", pjrt.CompileOptions{Devices: []int{7}})
return err`,
	},
	{
		//gofx:code lowering/shard.BadLayout
		Code: "FX5190", Title: "tensor cannot be cut in this way for a mesh",
		Cause: "an axis of the mesh has no size or no unique name, or a layout names an unknown axis or tensor, cuts two dimensions along one axis, or a dimension into unequal parts",
		Cure:  "the message names the tensor and the dimension; choose an axis whose size divides it",
		Example: `_, err := shard.Propagate(m, lowering.Options{}, shard.Layout{Mesh: shard.Mesh{{Name: "data", Size: 3}}, Inputs: map[string]shard.Split{"x": {"data", ""}}})
return err`,
	},
	{
		//gofx:code lowering/shard.Conflict
		Code: "FX5191", Title: "two layouts contradict each other",
		Cause: "by the layouts of two tensors, dimensions that a call computes together would be cut along two axes, or two that it computes apart along one",
		Cure:  "give the layout of the call's result, so that the devices exchange the difference, or change one of the layouts that the message names",
		Example: `_, err := shard.Propagate(m, lowering.Options{}, shard.Layout{Mesh: mesh, Inputs: map[string]shard.Split{"x": {"data", ""}, "y": {"tensor", ""}}})
return err`,
	},
}
