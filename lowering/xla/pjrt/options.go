package pjrt

import (
	"maps"
	"slices"
	"strconv"
)

// CompileOptions say for which devices a program is compiled. The zero value is one
// device, the first one.
type CompileOptions struct {
	// Replicas run the whole program on data of their own, Partitions share one run of it
	// by its sharding annotations (SPMD). 0 is 1.
	Replicas, Partitions int
	// Devices are the numbers of the devices, Replicas×Partitions of them, those of the
	// partitions of replica 0 first. nil leaves the choice to the plugin.
	Devices []int
	// Flags are options of XLA's compiler, such as xla_cpu_enable_fast_min_max. Plugins refuse those that
	// they do not know.
	Flags map[string]bool
}

// sizes returns the replicas and partitions.
func (o CompileOptions) sizes() (replicas, partitions int) {
	return max(o.Replicas, 1), max(o.Partitions, 1)
}

// check reports options that do not hold together.
func (o CompileOptions) check(c *Client) error {
	replicas, partitions := o.sizes()
	if o.Replicas < 0 || o.Partitions < 0 || replicas > 1<<20 || partitions > 1<<20 {
		return bad(plural(o.Replicas, "replica")+" of "+plural(o.Partitions, "partition")+" are asked for", "use 0 or 1 where there is one")
	}
	if o.Devices != nil && len(o.Devices) != replicas*partitions {
		return bad(plural(len(o.Devices), "device")+" given, "+plural(replicas, "replica")+" of "+plural(partitions, "partition")+" need "+plural(replicas*partitions, "device"), "list one for each")
	}
	if n := replicas * partitions; n > len(c.devices) {
		return bad(plural(replicas, "replica")+" of "+plural(partitions, "partition")+" need "+plural(n, "device")+", the client has "+strconv.Itoa(len(c.devices)), "ask for fewer, or make a client of more devices")
	}
	for _, id := range o.Devices {
		if _, err := c.deviceByID(id); err != nil {
			return err
		}
	}
	return nil
}

// The fields of the messages that are written; what is left out has the value 0, or none.
const (
	optionsBuild         = 3 // CompileOptionsProto.executable_build_options
	optionsOverrides     = 7 // env_option_overrides, a map
	overrideName         = 1
	overrideValue        = 2
	overrideBool         = 2 // OptionOverrideProto.bool_field
	buildDeviceOrdinal   = 1 // ExecutableBuildOptionsProto
	buildNumReplicas     = 4
	buildNumPartitions   = 5
	buildSPMD            = 6 // use_spmd_partitioning
	buildAssignment      = 9 // device_assignment
	assignReplicas       = 1 // DeviceAssignmentProto
	assignComputations   = 2
	assignComputation    = 3
	computationDeviceIDs = 1 // ComputationDevice.replica_device_ids
)

// proto returns a serialised CompileOptionsProto.
func (o CompileOptions) proto() []byte {
	replicas, partitions := o.sizes()
	var build message
	build.number(buildDeviceOrdinal, ^uint64(0)) // -1: none
	build.number(buildNumReplicas, uint64(replicas))
	build.number(buildNumPartitions, uint64(partitions))
	if partitions > 1 {
		build.number(buildSPMD, 1)
	}
	if o.Devices != nil {
		var assign message
		assign.number(assignReplicas, uint64(replicas))
		assign.number(assignComputations, uint64(partitions))
		for p := range partitions {
			var ids, computation message
			for r := range replicas {
				ids.varint(uint64(o.Devices[r*partitions+p]))
			}
			computation.bytes(computationDeviceIDs, ids)
			assign.bytes(assignComputation, computation)
		}
		build.bytes(buildAssignment, assign)
	}
	var out message
	out.bytes(optionsBuild, build)
	for _, name := range slices.Sorted(maps.Keys(o.Flags)) {
		var value, entry message
		on := uint64(0)
		if o.Flags[name] {
			on = 1
		}
		value.number(overrideBool, on)
		entry.bytes(overrideName, []byte(name))
		entry.bytes(overrideValue, value)
		out.bytes(optionsOverrides, entry)
	}
	return out
}

// message is a message of protocol buffers that is being written.
type message []byte

func (m *message) varint(v uint64) {
	for ; v >= 0x80; v >>= 7 {
		*m = append(*m, byte(v)|0x80)
	}
	*m = append(*m, byte(v))
}

func (m *message) number(field int, v uint64) {
	m.varint(uint64(field) << 3) // wire type 0
	m.varint(v)
}

func (m *message) bytes(field int, b []byte) {
	m.varint(uint64(field)<<3 | 2)
	m.varint(uint64(len(b)))
	*m = append(*m, b...)
}
