// The options of `sample heatbath`, `metropolis` and `overrelax`, for links and for sites.
#pragma once

#include <cstdint>
#include <string>

#include "compiler/physics/lower/lower.hpp"

namespace vphi::physics {

struct SampleOptions {
  std::string method;
  std::int64_t sweeps = 0;
  std::int64_t overrelax = 0;  ///< sweeps of overrelaxation behind each sweep
  /// What a chain may take; 0, -1 or null: the text does not say.
  std::int64_t tries = 0, hits = 0, reunitarise = -1;
  Expr width;
  const dsl::Item* tries_item = nullptr;
  const dsl::Item* hits_item = nullptr;
  const dsl::Item* width_item = nullptr;
  const dsl::Item* reunitarise_item = nullptr;
};

/// Whether it is one of the options of an exchange (exchange.hpp), which every chain has. E0774
/// for `exchange_every` without `exchange`.
bool is_exchange_option(const Context& d, const dsl::Item& item);
/// E0774 for options that the method does not have, E0775 without a number of sweeps.
SampleOptions read_sample_options(const Context& d, Lowerer& lower, const dsl::Clause& clause);

}  // namespace vphi::physics
