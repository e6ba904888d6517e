#include "compiler/schedule/known_colours.hpp"

#include <set>
#include <stdexcept>
#include <utility>

#include "compiler/algebra/transform.hpp"

namespace vphi::schedule {

KnownColours::KnownColours(Plan& plan) : plan_(plan) {
  for (const kernel::Kernel& one : plan.kernels) {
    if (!one.colours) continue;
    for (const program::Scalar& scalar : plan.program.scalars)
      if (scalar.name == one.colours->slot) first_[scalar.name] = scalar.initial;
  }
  // what a list does not leave as it was is not known in any of them
  for (bool again = true; again;) {
    again = false;
    plan.program.each_list([&](std::vector<program::Launch>& list) {
      Values now = first_;
      const auto compare = [&] {
        for (auto& [slot, value] : first_) {
          if (!value || now.at(slot) == value) continue;
          value.reset(), again = true;
        }
      };
      for (const program::Launch& launch : list) {
        advance(kernel(launch), now);
        if (launch.solve >= 0) compare();  // its lists come here
      }
      compare();
    });
  }
}

const kernel::Kernel& KnownColours::kernel(const program::Launch& launch) const {
  return plan_.kernels[static_cast<std::size_t>(launch.kernel)];
}

void KnownColours::advance(const kernel::Kernel& kernel, Values& values) const {
  for (const kernel::ScalarAssign& assign : kernel.epilogue) {
    const auto found = values.find(assign.slot);
    if (found == values.end() || !found->second) continue;
    const algebra::Environment of_itself{[&](const algebra::Node& leaf) {
      if (leaf.op != algebra::Op::Symbol || leaf.name != assign.slot)
        throw std::invalid_argument("depends on more than itself");
      return *found->second;
    }};
    try {
      found->second = algebra::evaluate(assign.value, of_itself);
    } catch (const std::invalid_argument&) {
      found->second.reset();
    }
  }
}

std::vector<std::optional<int>> KnownColours::of(const std::vector<program::Launch>& list) const {
  std::vector<std::optional<int>> colours;
  Values now = first_;
  for (const program::Launch& launch : list) {
    std::optional<int>& colour = colours.emplace_back();
    if (kernel(launch).colours) {
      const auto found = now.find(kernel(launch).colours->slot);
      if (found != now.end() && found->second) colour = static_cast<int>(*found->second);
    }
    advance(kernel(launch), now);
  }
  return colours;
}

std::uint64_t classes_of_colour(const program::SiteOrder& order,
                                const std::optional<kernel::Colours>& colours,
                                std::optional<int> colour, const std::array<int, 4>& apart) {
  const std::uint64_t all = (std::uint64_t{1} << order.modulus) - 1;
  if (!colours || !colour) return all;
  const auto within = [](int number, int modulus) {
    return (number % modulus + modulus) % modulus;
  };
  // pairs of a colour and a class that sites have, from one site to its neighbours
  std::set<std::pair<int, int>> known{{0, 0}};
  std::vector<std::pair<int, int>> next{{0, 0}};
  while (!next.empty()) {
    const auto [of_colour, of_class] = next.back();
    next.pop_back();
    for (std::size_t axis = 0; axis < 4; ++axis) {
      const std::pair beside{within(of_colour + colours->weights[axis], colours->modulus),
                             within(of_class + order.weights[axis], order.modulus)};
      if (known.insert(beside).second) next.push_back(beside);
    }
  }
  int change = 0;
  for (std::size_t axis = 0; axis < 4; ++axis) change += order.weights[axis] * apart[axis];
  std::uint64_t classes = 0;
  for (const auto& [of_colour, of_class] : known)
    if (of_colour == *colour)
      classes |= std::uint64_t{1} << within(of_class + change, order.modulus);
  return classes;
}

}  // namespace vphi::schedule
