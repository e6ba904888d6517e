#include "compiler/model/dynamics.hpp"

#include <algorithm>

namespace vphi::physics {

bool is_chain(const Dynamics& dynamics) {
  return std::visit(Kinds{
                        [](const Still&) { return false; },
                        [](const Evolution&) { return false; },
                        [](const FluxStep&) { return false; },
                        [](const MarkovChain&) { return true; },
                        [](const LinkFlow&) { return false; },
                        [](const Trajectory&) { return true; },
                    },
                    dynamics);
}

bool moves_links(const Dynamics& dynamics) {
  return is_chain(dynamics) || std::holds_alternative<LinkFlow>(dynamics);
}

const LinkMotion* link_motion_of(const Dynamics& dynamics, int array) {
  const auto* evolution = std::get_if<Evolution>(&dynamics);
  if (!evolution) return nullptr;
  const auto found = std::ranges::find_if(evolution->links, [&](const LinkMotion& link) {
    return std::ranges::count(link.arrays, array) > 0;
  });
  return found == evolution->links.end() ? nullptr : &*found;
}

const Tolerance* tolerance_of(const Dynamics& dynamics) {
  const auto* evolution = std::get_if<Evolution>(&dynamics);
  return evolution && evolution->tolerance ? &*evolution->tolerance : nullptr;
}

const text::Integrator* integrator_of(const Dynamics& dynamics) {
  if (const auto* evolution = std::get_if<Evolution>(&dynamics)) return &evolution->integrator;
  if (const auto* flow = std::get_if<LinkFlow>(&dynamics)) return &flow->integrator;
  return nullptr;
}

std::vector<ShownEquation> shown_actions(const Dynamics& dynamics) {
  using Shown = std::vector<ShownEquation>;
  return std::visit(Kinds{
                        [](const Still&) { return Shown{}; },
                        [](const Evolution&) { return Shown{}; },
                        [](const FluxStep&) { return Shown{}; },
                        [](const MarkovChain& chain) { return chain.actions; },
                        [](const LinkFlow& flow) { return Shown{flow.equation}; },
                        [](const Trajectory& t) { return t.actions; },
                    },
                    dynamics);
}

}  // namespace vphi::physics
