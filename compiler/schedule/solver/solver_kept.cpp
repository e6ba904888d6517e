#include "compiler/schedule/solver/solver_kept.hpp"

#include "compiler/algebra/rewriting.hpp"
#include "compiler/algebra/transform.hpp"

namespace vphi::schedule {

using algebra::Op;

Expr Kept::number(const std::string& hint, Expr value) {
  auto& known = numbers_[value.get()];
  if (known) return known;
  const std::string slot = start_.slots().fresh(name_ + "_" + hint);
  start_.assign(slot, value);
  wanted_.slots.push_back(slot);
  return known = start_.arena().symbol(slot);
}

Expr Kept::array(const std::string& hint, Expr value) {
  Storage& storage = start_.storage();
  // where the rounds have a lower precision, the arrays they read must have it too
  const auto fits = [&](int array) { return storage.of(array).precision <= scratch("").precision; };
  if (value.is(Op::Load) && value->offset.zero() && storage.allocated(value->index) &&
      fits(value->index)) {
    return value;
  }
  auto& known = arrays_[value.get()];
  if (known) return known;
  const int array = storage.allocate_new(scratch(hint));
  wanted_.arrays[array] = start_.array(hint, value);
  return known = start_.arena().load(array);
}

physics::LinearMap Kept::constant_parts(const physics::LinearMap& map,
                                        const std::vector<int>& unknowns, const State& here) {
  physics::LinearMap result = map;
  std::set<int> own(unknowns.begin(), unknowns.end());
  for (physics::LinearMap::Stage& stage : result.stages) {
    stage.values = constant_parts(stage.values, own, here);
    own.insert(stage.arrays.begin(), stage.arrays.end());
  }
  result.image = constant_parts(map.image, own, here);
  return result;
}

std::vector<Expr> Kept::constant_parts(const std::vector<Expr>& list, const std::set<int>& own,
                                       const State& here) {
  const auto holds_unknown = [&](Expr e) {
    return algebra::contains(
        e, [&](Expr node) { return node.is(Op::Load) && own.contains(node->index); });
  };
  algebra::Rewriting reduced([&](Expr node) {
    const bool reduces =
        node.is(Op::Mean) || node.is(Op::Total) || node.is(Op::Minimum) || node.is(Op::Maximum);
    if (!reduces || holds_unknown(node)) return node;
    return number("mean", at(here, node));
  });
  algebra::Rewriting kept([&](Expr node) -> Expr {
    if (node.is(Op::Symbol)) {
      const auto found = here.scalars.find(node->name);
      return found == here.scalars.end() || found->second == node
                 ? node
                 : number(node->name, found->second);
    }
    if (!node.is(Op::Load)) return node;
    const auto found = here.arrays.find(node->index);
    Expr load;
    if (found != here.arrays.end()) {
      load = array(name_of(start_.system(), node->index), found->second);
    } else if (!own.contains(node->index) && start_.storage().allocated(node->index)) {
      // made for the operator (blocks of sites, say), in its precision
      const std::string& hint = start_.storage().of(node->index).name;
      load = array(hint, start_.arena().load(node->index));
    } else {
      return node;
    }
    return start_.arena().load(load->index, node->offset, node->span);
  });
  return kept(reduced(list));
}

program::Buffer Kept::scratch(const std::string& hint) const {
  program::Buffer buffer;
  buffer.name = name_ + "_" + hint;
  buffer.precision = start_.system().numerics.store;
  buffer.scratch = true;
  return buffer;
}

std::vector<Expr> mapped(Block& block, const physics::LinearMap& map, State given) {
  for (const physics::LinearMap::Stage& stage : map.stages) {
    const std::vector<Expr> values = at(given, stage.values);
    for (std::size_t i = 0; i < values.size(); ++i)
      given.arrays[stage.arrays[i]] = block.parity_array("stage", values[i], stage.parity);
  }
  return at(given, map.image);
}

std::vector<std::vector<Expr>> mapped_in_step(Block& block,
                                              const std::vector<const physics::LinearMap*>& maps,
                                              std::vector<State> given) {
  std::vector<std::vector<Expr>> lists(maps.size());
  for (std::size_t k = 0; k < maps[0]->stages.size(); ++k) {
    for (std::size_t c = 0; c < maps.size(); ++c) lists[c] = maps[c]->stages[k].values;
    const std::vector<std::vector<Expr>> values = at_in_step(given, lists);
    for (std::size_t c = 0; c < maps.size(); ++c) {
      block.for_column(static_cast<int>(c));
      const physics::LinearMap::Stage& stage = maps[c]->stages[k];
      for (std::size_t i = 0; i < values[c].size(); ++i)
        given[c].arrays[stage.arrays[i]] = block.parity_array("stage", values[c][i], stage.parity);
    }
  }
  for (std::size_t c = 0; c < maps.size(); ++c) lists[c] = maps[c]->image;
  return at_in_step(given, lists);
}

SiteLoops solve_loops(const Block& block, Wanted& wanted, const std::string& name, bool pure) {
  wanted.name = name;
  wanted.pure = pure;
  wanted.join = true;
  Storage& storage = block.storage();
  const int first = storage.count();
  SiteLoops made = make_site_loops(block, wanted);
  for (int array = first; array < storage.count(); ++array) {
    if (storage.allocated(array)) storage.of(array).scratch = true;
  }
  return made;
}

SiteLoops residual_loops(const physics::System& system, const physics::LinearSystem& solve,
                         const Stepping& stepping, const std::vector<Expr>& right,
                         const std::string& name, Slots& slots, Storage& storage) {
  algebra::Arena& arena = *system.arena;
  const std::size_t parts = (solve.even_odd ? solve.even_odd->arrays : solve.arrays).size();
  Block block(system, slots, storage);
  State state = synchronised(block, stepping);
  Wanted wanted;
  if (solve.even_odd) {
    State given = state;
    for (std::size_t i = 0; i < parts; ++i) given.arrays[solve.even_odd->right[i]] = right[i];
    const std::vector<Expr> x = mapped(block, solve.even_odd->back, std::move(given));
    for (std::size_t i = 0; i < x.size(); ++i) {
      const Expr load = block.array("x", x[i]);
      wanted.arrays[solve.arrays[i]] = load;
      state.arrays[solve.arrays[i]] = load;
    }
  }
  const std::vector<Expr> image = mapped(block, solve.op, state);
  Expr left = arena.integer(0), all = arena.integer(0);
  for (std::size_t i = 0; i < parts; ++i) {
    // of an eigenvector what is left is A(x) - value*x
    const Expr b = solve.eigenvalue ? arena.symbol(solve.eigenvalue->scalar) *
                                          at(state, arena.load(solve.arrays[i]))
                                    : at(state, solve.source[i]);
    left = left + algebra::pow(b - image[i], 2);
    all = all + algebra::pow(b, 2);
  }
  const Expr missing = arena.make(Op::Total, {left}), size = arena.make(Op::Total, {all});
  const Expr zero = arena.integer(0);
  const Expr ratio =
      arena.make(Op::Select, {arena.make(Op::Less, {zero, size}), missing / size, missing});
  block.assign(solve.residual, algebra::pow(ratio, arena.rational(1, 2)));
  wanted.slots = {solve.residual};
  return solve_loops(block, wanted, name, true);
}

}  // namespace vphi::schedule
