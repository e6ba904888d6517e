// Which colour each launch of a list updates, where this is known without running it.
//
// The number of the colour is a scalar (kernel::Colours) that kernels advance at their end. It is
// known where it follows from its own first value: every list leaves it as it was, and what a
// kernel makes of it depends on nothing else.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/model/plan.hpp"

namespace vphi::schedule {

class KnownColours {
 public:
  /// `plan` must outlive it. Lists may be launched in any order.
  explicit KnownColours(Plan& plan);
  /// Of each launch of a list: nothing where its kernel has no colours, or the number is not known.
  std::vector<std::optional<int>> of(const std::vector<program::Launch>& list) const;

 private:
  /// By slot: what a list has made of it before the next launch; nothing: it is not known.
  using Values = std::map<std::string, std::optional<double>>;
  void advance(const kernel::Kernel& kernel, Values& values) const;
  const kernel::Kernel& kernel(const program::Launch& launch) const;

  Plan& plan_;
  Values first_;
};

/// The classes of sites of an order (program::SiteOrder) that hold sites `apart` from those of a
/// colour, as bits. All of them where the colour is not known or there are no colours.
std::uint64_t classes_of_colour(const program::SiteOrder& order,
                                const std::optional<kernel::Colours>& colours,
                                std::optional<int> colour, const std::array<int, 4>& apart);

}  // namespace vphi::schedule
