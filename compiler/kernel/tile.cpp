#include <map>
#include <tuple>

#include <fmt/format.h>

#include "compiler/kernel/line_values.hpp"

namespace vphi::kernel {
namespace {

class Tiling : public LineValues {
 public:
  using LineValues::LineValues;

  std::optional<Tile> find() {
    const std::vector<Place> roots = find_roots();
    if (!any()) return {};
    return tile(roots);
  }

 private:
  /// Recomputed where it is read rather than passed from thread to thread.
  bool is_light(const Value& value) const { return !is_leaf(value) && value.work <= kCheap; }

  /// Each value is made for a cell at this distance from that of its thread: the one at which it is
  /// read, or one of several.
  void find_distances(const std::vector<Place>& roots) {
    std::vector<std::set<int>> read(values_.size());
    for (const Place& root : roots)
      if (root.value != kConstant) read[static_cast<std::size_t>(root.value)].insert(root.shift);
    distance_.assign(values_.size(), 0);
    for (std::size_t v = values_.size(); v-- > 0;) {
      const std::set<int>& at = read[v];
      if (at.empty()) continue;
      distance_[v] = at.contains(0) ? 0 : *at.begin();
      const std::set<int> made = is_light(values_[v]) ? at : std::set<int>{distance_[v]};
      for (const Argument& arg : values_[v].args) {
        if (arg.place.value == kConstant) continue;
        for (const int distance : made)
          read[static_cast<std::size_t>(arg.place.value)].insert(distance + arg.place.shift);
      }
    }
  }

  /// The first phase that can read a value, and the threads on which it depends, relative to the
  /// reader.
  struct Needed {
    int phase = 0, least = 0, most = 0;
    void add(const Needed& other) {
      phase = std::max(phase, other.phase);
      least = std::min(least, other.least);
      most = std::max(most, other.most);
    }
  };
  Needed needed_at(const Place& place) const {
    const auto v = static_cast<std::size_t>(place.value);
    if (place.value == kConstant || values_[v].sample.is(Op::Site)) return {};
    if (is_light(values_[v])) return needed_by(v, place.shift);
    const int from = place.shift - distance_[v];
    Needed result = needed_[v];
    result.phase += from != 0 ? 1 : 0;
    result.least = std::min(0, result.least + from);
    result.most = std::max(0, result.most + from);
    return result;
  }
  Needed needed_by(std::size_t v, int distance) const {
    Needed result;
    for (const Argument& arg : values_[v].args)
      result.add(needed_at({arg.place.value, distance + arg.place.shift}));
    return result;
  }

  Tile tile(const std::vector<Place>& roots) {
    find_distances(roots);
    needed_.assign(values_.size(), {});
    for (std::size_t v = 0; v < values_.size(); ++v) needed_[v] = needed_by(v, distance_[v]);
    Needed all;
    for (const Place& root : roots) all.add(needed_at(root));
    passed_.assign(values_.size(), {});
    Tile tile;
    tile.behind = -all.least;
    tile.ahead = all.most;
    for (int p = 0; p <= all.phase; ++p) tile.phases.push_back(empty_phase(p, all.phase));
    Line& last = tile.phases.back();
    std::size_t i = 0;
    const auto rooted = [&](Expr& value) {
      if (roots[i].value != kConstant) value = read_in(all.phase, roots[i]);
      ++i;
    };
    for (Store& store : last.step.stores) rooted(store.value);
    for (Reduction& reduction : last.step.reductions) rooted(reduction.value);
    for (int p = all.phase - 1; p >= 0; --p)
      add_passed(p, tile.phases[static_cast<std::size_t>(p)]);
    for (int p = 0; p <= all.phase; ++p) {
      tile.passed.emplace_back();
      for (std::size_t v = 0; v < values_.size(); ++v)
        if (p < all.phase && needed_[v].phase == p && !passed_[v].empty())
          tile.passed.back().push_back(passed_of(passed_[v]));
    }
    std::set<std::string> given;
    for (std::size_t v = 0; v < values_.size(); ++v)
      for (const int from : passed_[v])
        given.insert(passed_name(tile_name(static_cast<int>(v)), from));
    for (Line& phase : tile.phases) phase.given = given;
    return tile;
  }

  Line empty_phase(int p, int last) const {
    Line phase = empty_line();
    phase.step = kernel_;
    phase.step.along = -1;
    if (p == last) return phase;
    phase.step.name += fmt::format("_phase_{}", p + 1);
    phase.step.stores.clear();
    phase.step.reductions.clear();
    phase.step.epilogue.clear();
    return phase;
  }

  /// The values of phase `p` for which later ones ask, which ask for others themselves.
  void add_passed(int p, Line& phase) {
    for (std::size_t v = 0; v < values_.size(); ++v)
      if (needed_[v].phase == p && !passed_[v].empty())
        phase.held.push_back({tile_name(static_cast<int>(v)), made_in(static_cast<int>(v)), 0});
  }

  static Tile::Passed passed_of(const std::set<int>& threads) {
    Tile::Passed passed;
    for (const int from : threads)
      from == 0 ? static_cast<void>(passed.own = true) : passed.from.push_back(from);
    return passed;
  }
  static std::string tile_name(int v) { return fmt::format("cell_{}", v); }

  /// What lies there, as phase `p` reads it.
  Expr read_in(int p, const Place& place) {
    const auto v = static_cast<std::size_t>(place.value);
    const Value& value = values_[v];
    algebra::Arena& arena = *value.sample->arena;
    if (value.sample.is(Op::Site))
      return place.shift == 0 ? value.sample
                              : arena.raw(Op::Add, {value.sample, arena.integer(place.shift)});
    if (is_light(value)) return light_in(p, place);
    const int from = place.shift - distance_[v];
    if (from == 0 && needed_[v].phase == p) return made_in(place.value);
    passed_[v].insert(from);
    return arena.symbol(passed_name(tile_name(place.value), from));
  }

  std::vector<Expr> arguments_in(int p, const Value& value, int distance) {
    std::vector<Expr> args;
    for (const Argument& arg : value.args)
      args.push_back(arg.place.value == kConstant
                         ? arg.constant
                         : read_in(p, {arg.place.value, distance + arg.place.shift}));
    return args;
  }
  Expr light_in(int p, const Place& place) {
    Expr& known = light_[{p, place.value, place.shift}];
    if (known) return known;
    const Value& value = values_[static_cast<std::size_t>(place.value)];
    return known = operation(value.sample, arguments_in(p, value, place.shift));
  }
  Expr made_in(int v) {
    Expr& known = made_[v];
    if (known) return known;
    const auto number = static_cast<std::size_t>(v);
    const Value& value = values_[number];
    if (is_leaf(value)) {
      Offset offset;
      offset.d[axis_] = static_cast<std::int16_t>(distance_[number]);
      return known = value.sample->arena->load(value.sample->index, offset);
    }
    return known = operation(value.sample,
                             arguments_in(needed_[number].phase, value, distance_[number]));
  }

  std::vector<int> distance_;          ///< for each value, of its cell from that of the thread
  std::vector<Needed> needed_;         ///< by what makes a value
  std::vector<std::set<int>> passed_;  ///< threads from which later phases read a value
  std::map<int, Expr> made_;           ///< by value
  std::map<std::tuple<int, int, int>, Expr> light_;  ///< by phase, value and distance
};

}  // namespace

std::string passed_name(const std::string& name, int distance) {
  if (distance == 0) return name;
  return fmt::format("{}_{}_{}", name, distance > 0 ? "next" : "last", std::abs(distance));
}

std::optional<Tile> tile_of(const Kernel& kernel) {
  if (kernel.along < 0) return {};
  return Tiling(kernel).find();
}

}  // namespace vphi::kernel
