// Groups of operations as labels of a switch, `case VPHI_DRAWS:`, so that a switch over Op names
// all of them without a `default:` and the compiler points at it when there is a new one.
//
// Functions of one argument are rows of dsl/functions.def: their labels are those of
// `#include "compiler/algebra/function_cases.def"`. Where a group is taken apart, its operations
// stand in the switch by themselves.
#pragma once

#include "compiler/algebra/expr.hpp"

#define VPHI_DRAWS \
  ::vphi::algebra::Op::Noise : case ::vphi::algebra::Op::Normal : case ::vphi::algebra::Op::Uniform

#define VPHI_ARITHMETIC \
  ::vphi::algebra::Op::Add : case ::vphi::algebra::Op::Mul : case ::vphi::algebra::Op::Pow

/// What passes over kernels make of sums, products and powers.
#define VPHI_ORDERED_ARITHMETIC                                                            \
  ::vphi::algebra::Op::Neg : case ::vphi::algebra::Op::Sub : case ::vphi::algebra::Op::Div \
      : case ::vphi::algebra::Op::Sqrt : case ::vphi::algebra::Op::Fma

/// What passes for devices make of functions.
#define VPHI_DEVICE_FUNCTIONS ::vphi::algebra::Op::Minmod : case ::vphi::algebra::Op::TableIndex

#define VPHI_CONDITIONS                                                 \
  ::vphi::algebra::Op::Less : case ::vphi::algebra::Op::LessEqual       \
      : case ::vphi::algebra::Op::Equal : case ::vphi::algebra::Op::And \
      : case ::vphi::algebra::Op::Or : case ::vphi::algebra::Op::Not

#define VPHI_SITE_REDUCTIONS                                                                      \
  ::vphi::algebra::Op::Mean : case ::vphi::algebra::Op::Total : case ::vphi::algebra::Op::Minimum \
      : case ::vphi::algebra::Op::Maximum
