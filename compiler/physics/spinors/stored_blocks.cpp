#include "compiler/physics/spinors/stored_blocks.hpp"

#include <memory>
#include <string>
#include <utility>

#include "compiler/physics/lower/calculus.hpp"
#include "compiler/physics/spinors/site_blocks.hpp"

namespace vphi::physics {

namespace {

/// Numbers of fields of links from here on are matrices in memory.
constexpr int kHeld = 1 << 20;

/// The values in new arrays.
std::vector<int> stored(const Program& d, const std::string& name, const std::vector<Expr>& values,
                        dsl::Span asked) {
  LinearSystem system;
  const std::string number = std::to_string(d.collected.solves.size() + 1);
  system.name = name;
  system.iterations = "solve_iterations_" + number;
  system.residual = "solve_residual_" + number;
  system.rows = static_cast<int>(values.size());
  system.span = asked;
  system.source = values;
  for (std::size_t i = 0; i < values.size(); ++i) system.arrays.push_back(d.new_array());
  auto text = std::make_shared<text::Solver>();
  text->name = "stored";
  text->span = asked;
  system.solver = std::move(text);
  d.collected.solves.push_back(system);
  return system.arrays;
}

/// What the list assigns to the arrays, in their order.
std::vector<Expr> values_for(const std::vector<int>& arrays, const NewValues& list) {
  std::map<int, Expr> by_array(list.begin(), list.end());
  std::vector<Expr> values;
  for (const int array : arrays) values.push_back(by_array.at(array));
  return values;
}

}  // namespace

std::optional<EvenOddSystem> system_of_halves(const Program& d, const SpinorForm& form,
                                              gauge::LinkOf link, int colours, dsl::Span asked) {
  auto forward = parted(d, form), backward = parted(d, adjoint(form, around(d.grid)));
  if (!forward || !backward) return std::nullopt;
  if (!forward->inverse.terms.empty())
    return even_odd_system(d, *forward, *backward, link, colours);
  SiteBlocks blocks = site_blocks(d, forward->local, colours);
  const std::string name = written(d, asked);
  const std::vector<int> local =
      stored(d, "R of " + name, values_for(blocks.arrays, local_values(d, blocks, link)), asked);
  blocks.arrays = local;
  blocks.arrays = stored(d, "R and its inverse of " + name,
                         values_for(local, inverse_values(d, blocks)), asked);
  link = with_blocks(d.arena(), std::move(link), blocks, kHeld);
  forward->local = forward->inverse = held_form(d.arena(), blocks, kHeld, false);
  backward->local = backward->inverse = held_form(d.arena(), blocks, kHeld, true);
  return even_odd_system(d, *forward, *backward, link, colours);
}

bool only_stored(const LinearSystem& system) {
  return system.op.image.empty() && system.solver && system.solver->iteration.empty();
}

}  // namespace vphi::physics
