// The operations of StableHLO that programs of package xla have, in IRDL: how many operands
// and regions each has, which operands and results have one type, and which attributes must be
// there. What the specification says of sizes is not expressed here; internal/stablehlo
// verifies that. A variadic group stands for values of one type, so that reductions of two values
// have an operation of their own (reduce_2, reduce_window_2), and loops over values of
// several types none: the test renames them.
irdl.dialect @stablehlo {
  irdl.operation @abs {
    %t = irdl.any
    irdl.operands(operand: %t)
    irdl.results(result: %t)
  }
  irdl.operation @ceil {
    %t = irdl.any
    irdl.operands(operand: %t)
    irdl.results(result: %t)
  }
  irdl.operation @cosine {
    %t = irdl.any
    irdl.operands(operand: %t)
    irdl.results(result: %t)
  }
  irdl.operation @exponential {
    %t = irdl.any
    irdl.operands(operand: %t)
    irdl.results(result: %t)
  }
  irdl.operation @exponential_minus_one {
    %t = irdl.any
    irdl.operands(operand: %t)
    irdl.results(result: %t)
  }
  irdl.operation @floor {
    %t = irdl.any
    irdl.operands(operand: %t)
    irdl.results(result: %t)
  }
  irdl.operation @log {
    %t = irdl.any
    irdl.operands(operand: %t)
    irdl.results(result: %t)
  }
  irdl.operation @log_plus_one {
    %t = irdl.any
    irdl.operands(operand: %t)
    irdl.results(result: %t)
  }
  irdl.operation @logistic {
    %t = irdl.any
    irdl.operands(operand: %t)
    irdl.results(result: %t)
  }
  irdl.operation @negate {
    %t = irdl.any
    irdl.operands(operand: %t)
    irdl.results(result: %t)
  }
  irdl.operation @not {
    %t = irdl.any
    irdl.operands(operand: %t)
    irdl.results(result: %t)
  }
  irdl.operation @round_nearest_even {
    %t = irdl.any
    irdl.operands(operand: %t)
    irdl.results(result: %t)
  }
  irdl.operation @rsqrt {
    %t = irdl.any
    irdl.operands(operand: %t)
    irdl.results(result: %t)
  }
  irdl.operation @sign {
    %t = irdl.any
    irdl.operands(operand: %t)
    irdl.results(result: %t)
  }
  irdl.operation @sine {
    %t = irdl.any
    irdl.operands(operand: %t)
    irdl.results(result: %t)
  }
  irdl.operation @sqrt {
    %t = irdl.any
    irdl.operands(operand: %t)
    irdl.results(result: %t)
  }
  irdl.operation @tanh {
    %t = irdl.any
    irdl.operands(operand: %t)
    irdl.results(result: %t)
  }
  irdl.operation @add {
    %t = irdl.any
    irdl.operands(lhs: %t, rhs: %t)
    irdl.results(result: %t)
  }
  irdl.operation @and {
    %t = irdl.any
    irdl.operands(lhs: %t, rhs: %t)
    irdl.results(result: %t)
  }
  irdl.operation @atan2 {
    %t = irdl.any
    irdl.operands(lhs: %t, rhs: %t)
    irdl.results(result: %t)
  }
  irdl.operation @divide {
    %t = irdl.any
    irdl.operands(lhs: %t, rhs: %t)
    irdl.results(result: %t)
  }
  irdl.operation @maximum {
    %t = irdl.any
    irdl.operands(lhs: %t, rhs: %t)
    irdl.results(result: %t)
  }
  irdl.operation @minimum {
    %t = irdl.any
    irdl.operands(lhs: %t, rhs: %t)
    irdl.results(result: %t)
  }
  irdl.operation @multiply {
    %t = irdl.any
    irdl.operands(lhs: %t, rhs: %t)
    irdl.results(result: %t)
  }
  irdl.operation @optimization_barrier {
    %t = irdl.any
    irdl.operands(operand: %t)
    irdl.results(result: %t)
  }
  irdl.operation @or {
    %t = irdl.any
    irdl.operands(lhs: %t, rhs: %t)
    irdl.results(result: %t)
  }
  irdl.operation @power {
    %t = irdl.any
    irdl.operands(lhs: %t, rhs: %t)
    irdl.results(result: %t)
  }
  irdl.operation @remainder {
    %t = irdl.any
    irdl.operands(lhs: %t, rhs: %t)
    irdl.results(result: %t)
  }
  irdl.operation @shift_left {
    %t = irdl.any
    irdl.operands(lhs: %t, rhs: %t)
    irdl.results(result: %t)
  }
  irdl.operation @shift_right_arithmetic {
    %t = irdl.any
    irdl.operands(lhs: %t, rhs: %t)
    irdl.results(result: %t)
  }
  irdl.operation @shift_right_logical {
    %t = irdl.any
    irdl.operands(lhs: %t, rhs: %t)
    irdl.results(result: %t)
  }
  irdl.operation @subtract {
    %t = irdl.any
    irdl.operands(lhs: %t, rhs: %t)
    irdl.results(result: %t)
  }
  irdl.operation @xor {
    %t = irdl.any
    irdl.operands(lhs: %t, rhs: %t)
    irdl.results(result: %t)
  }
  irdl.operation @compare {
    %t = irdl.any
    %r = irdl.any
    %attr0 = irdl.any
    irdl.operands(lhs: %t, rhs: %t)
    irdl.results(result: %r)
    irdl.attributes { "comparison_direction" = %attr0 }
  }
  irdl.operation @select {
    %p = irdl.any
    %t = irdl.any
    irdl.operands(pred: %p, on_true: %t, on_false: %t)
    irdl.results(result: %t)
  }
  irdl.operation @is_finite {
    %x = irdl.any
    %r = irdl.any
    irdl.operands(operand: %x)
    irdl.results(result: %r)
  }
  irdl.operation @convert {
    %x = irdl.any
    %r = irdl.any
    irdl.operands(operand: %x)
    irdl.results(result: %r)
  }
  irdl.operation @bitcast_convert {
    %x = irdl.any
    %r = irdl.any
    irdl.operands(operand: %x)
    irdl.results(result: %r)
  }
  irdl.operation @constant {
    %r = irdl.any
    %attr0 = irdl.any
    irdl.results(result: %r)
    irdl.attributes { "value" = %attr0 }
  }
  irdl.operation @iota {
    %r = irdl.any
    %attr0 = irdl.any
    irdl.results(result: %r)
    irdl.attributes { "iota_dimension" = %attr0 }
  }
  irdl.operation @broadcast_in_dim {
    %x = irdl.any
    %r = irdl.any
    %attr0 = irdl.any
    irdl.operands(operand: %x)
    irdl.results(result: %r)
    irdl.attributes { "broadcast_dimensions" = %attr0 }
  }
  irdl.operation @reshape {
    %x = irdl.any
    %r = irdl.any
    irdl.operands(operand: %x)
    irdl.results(result: %r)
  }
  irdl.operation @transpose {
    %x = irdl.any
    %r = irdl.any
    %attr0 = irdl.any
    irdl.operands(operand: %x)
    irdl.results(result: %r)
    irdl.attributes { "permutation" = %attr0 }
  }
  irdl.operation @reverse {
    %t = irdl.any
    %attr0 = irdl.any
    irdl.operands(operand: %t)
    irdl.results(result: %t)
    irdl.attributes { "dimensions" = %attr0 }
  }
  irdl.operation @slice {
    %x = irdl.any
    %r = irdl.any
    %attr0 = irdl.any
    %attr1 = irdl.any
    %attr2 = irdl.any
    irdl.operands(operand: %x)
    irdl.results(result: %r)
    irdl.attributes { "start_indices" = %attr0, "limit_indices" = %attr1, "strides" = %attr2 }
  }
  irdl.operation @dynamic_slice {
    %x = irdl.any
    %i = irdl.any
    %r = irdl.any
    %attr0 = irdl.any
    irdl.operands(operand: %x, start_indices: variadic %i)
    irdl.results(result: %r)
    irdl.attributes { "slice_sizes" = %attr0 }
  }
  irdl.operation @dynamic_update_slice {
    %t = irdl.any
    %u = irdl.any
    %i = irdl.any
    irdl.operands(operand: %t, update: %u, start_indices: variadic %i)
    irdl.results(result: %t)
  }
  // Operands of a concatenation differ in a size: any number of any types has no description,
  // and the test renames it.
  irdl.operation @pad {
    %x = irdl.any
    %v = irdl.any
    %r = irdl.any
    %attr0 = irdl.any
    %attr1 = irdl.any
    %attr2 = irdl.any
    irdl.operands(operand: %x, padding_value: %v)
    irdl.results(result: %r)
    irdl.attributes { "edge_padding_low" = %attr0, "edge_padding_high" = %attr1, "interior_padding" = %attr2 }
  }
  irdl.operation @gather {
    %x = irdl.any
    %i = irdl.any
    %r = irdl.any
    %attr0 = irdl.any
    %attr1 = irdl.any
    irdl.operands(operand: %x, start_indices: %i)
    irdl.results(result: %r)
    irdl.attributes { "dimension_numbers" = %attr0, "slice_sizes" = %attr1 }
  }
  irdl.operation @scatter {
    %t = irdl.any
    %i = irdl.any
    %u = irdl.any
    %attr0 = irdl.any
    %region0 = irdl.region
    irdl.operands(input: %t, scatter_indices: %i, updates: %u)
    irdl.results(result: %t)
    irdl.attributes { "scatter_dimension_numbers" = %attr0 }
    irdl.regions(body0: %region0)
  }
  irdl.operation @reduce {
    %x = irdl.any
    %i = irdl.any
    %r = irdl.any
    %attr0 = irdl.any
    %region0 = irdl.region
    irdl.operands(input: %x, init: %i)
    irdl.results(result: %r)
    irdl.attributes { "dimensions" = %attr0 }
    irdl.regions(body0: %region0)
  }
  irdl.operation @reduce_2 {
    %x = irdl.any
    %y = irdl.any
    %i = irdl.any
    %j = irdl.any
    %r = irdl.any
    %s = irdl.any
    %attr0 = irdl.any
    %region0 = irdl.region
    irdl.operands(first: %x, second: %y, first_init: %i, second_init: %j)
    irdl.results(first_result: %r, second_result: %s)
    irdl.attributes { "dimensions" = %attr0 }
    irdl.regions(body0: %region0)
  }
  irdl.operation @reduce_window {
    %x = irdl.any
    %i = irdl.any
    %r = irdl.any
    %attr0 = irdl.any
    %attr1 = irdl.any
    %region0 = irdl.region
    irdl.operands(input: %x, init: %i)
    irdl.results(result: %r)
    irdl.attributes { "window_dimensions" = %attr0, "padding" = %attr1 }
    irdl.regions(body0: %region0)
  }
  irdl.operation @reduce_window_2 {
    %x = irdl.any
    %y = irdl.any
    %i = irdl.any
    %j = irdl.any
    %r = irdl.any
    %s = irdl.any
    %attr0 = irdl.any
    %attr1 = irdl.any
    %region0 = irdl.region
    irdl.operands(first: %x, second: %y, first_init: %i, second_init: %j)
    irdl.results(first_result: %r, second_result: %s)
    irdl.attributes { "window_dimensions" = %attr0, "padding" = %attr1 }
    irdl.regions(body0: %region0)
  }
  irdl.operation @dot_general {
    %x = irdl.any
    %y = irdl.any
    %r = irdl.any
    %attr0 = irdl.any
    irdl.operands(lhs: %x, rhs: %y)
    irdl.results(result: %r)
    irdl.attributes { "dot_dimension_numbers" = %attr0 }
  }
  irdl.operation @convolution {
    %x = irdl.any
    %y = irdl.any
    %r = irdl.any
    %attr0 = irdl.any
    %attr1 = irdl.any
    %attr2 = irdl.any
    irdl.operands(lhs: %x, rhs: %y)
    irdl.results(result: %r)
    irdl.attributes { "dimension_numbers" = %attr0, "feature_group_count" = %attr1, "batch_group_count" = %attr2 }
  }
  irdl.operation @set_dimension_size {
    %x = irdl.any
    %n = irdl.any
    %r = irdl.any
    %attr0 = irdl.any
    irdl.operands(operand: %x, size: %n)
    irdl.results(result: %r)
    irdl.attributes { "dimension" = %attr0 }
  }
  irdl.operation @custom_call {
    %x = irdl.any
    %attr0 = irdl.any
    %attr1 = irdl.any
    irdl.operands(operand: %x)
    irdl.results(result: %x)
    irdl.attributes { "call_target_name" = %attr0, "mhlo.sharding" = %attr1 }
  }
  irdl.operation @sort {
    %x = irdl.any
    %y = irdl.any
    %attr0 = irdl.any
    %attr1 = irdl.any
    %region0 = irdl.region
    irdl.operands(values: %x, indices: %y)
    irdl.results(sorted: %x, order: %y)
    irdl.attributes { "dimension" = %attr0, "is_stable" = %attr1 }
    irdl.regions(body0: %region0)
  }
  irdl.operation @if {
    %p = irdl.any
    %r = irdl.any
    %region0 = irdl.region
    %region1 = irdl.region
    irdl.operands(pred: %p)
    irdl.results(result: %r)
    irdl.regions(body0: %region0, body1: %region1)
  }
}
