// Checks that a Program is valid; see program/json.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "program/axes.hpp"
#include "program/json.hpp"
#include "program/wave_numbers.hpp"

namespace vphi::program {
namespace {

class Checker {
 public:
  explicit Checker(const Program& program) : p_(program) {}

  std::vector<std::string> run() {
    lattice();
    memory();
    for (const Kernel& kernel : p_.kernels) check(kernel);
    cut();
    launches(p_.prologue, "prologue");
    launches(p_.step, "step");
    for (const Solve& solve : p_.solves) check(solve);
    for (const FourierMap& map : p_.maps) check(map);
    const auto by_host = [](const Launch& launch) {
      return launch.solve >= 0 || !launch.maps.empty();
    };
    for (const auto* list : {&p_.multi_step, &p_.together})
      need(std::none_of(list->begin(), list->end(), by_host),
           "a solve or a map where steps are joined");
    for (const auto& list : p_.cycle) launches(list, "cycle");
    launches(p_.multi_step, "multi_step");
    launches(p_.together, "together");
    launches(p_.watch_before, "watch");
    for (const Transform& transform : p_.watch_transforms) check(transform);
    launches(p_.watch, "watch");
    launches(p_.watch_then, "watch");
    check(p_.watch_statistics, "watch");
    for (const Output& output : p_.outputs) check(output);
    for (const auto& scalar : p_.progress) slot(scalar.slot, "progress");
    if (p_.unsound_slot >= 0) slot(p_.unsound_slot, "unsound");
    if (p_.expansion.scale_slot >= 0) slot(p_.expansion.scale_slot, "scale factor");
    if (p_.expansion.residual_slot >= 0) slot(p_.expansion.residual_slot, "friedmann");
    if (p_.exchange.axis != -1) check(p_.exchange);
    for (const auto& expectation : p_.expectations) check(expectation);
    for (const auto& variable : p_.state) buffer(variable.buffer, "state");
    for (const RandomField& random : p_.random) check(random);
    for (const PointDensity& density : p_.densities) check(density);
    slot_or_none(p_.start_kept_slot, "start_kept_slot");
    slot_or_none(p_.draws_slot, "draws_slot");
    need((p_.start_kept_slot < 0) == (p_.draws_slot < 0),
         "starts that are kept without a number of draws");
    slot_or_none(p_.step_slot, "step_slot");
    slot_or_none(p_.time_slot, "time_slot");
    slot_or_none(p_.stop_slot, "stop_slot");
    slot_or_none(p_.multi_step_slot, "multi_step_slot");
    return std::move(problems_);
  }

 private:
  void need(bool holds, std::string problem) {
    if (!holds) problems_.push_back(std::move(problem));
  }
  void slot(int index, const char* where) {
    need(index >= 0 && index < static_cast<int>(p_.scalars.size()),
         fmt::format("{}: no scalar {}", where, index));
  }
  void slot_or_none(int index, const char* where) {
    if (index != -1) slot(index, where);
  }
  bool buffer(int index, const std::string& where) {
    const bool there = index >= 0 && index < static_cast<int>(p_.buffers.size());
    need(there, fmt::format("{}: no buffer {}", where, index));
    return there;
  }

  void check(const Exchange& e) {
    need(e.axis >= 0 && e.axis < static_cast<int>(p_.axes.size()), "exchange: no such axis");
    need(e.every >= 1, "exchange: every so many steps from 1 on");
    for (const int b : e.buffers) buffer(b, "exchange");
    launches(e.launches, "exchange");
    for (const int index : {e.above_slot, e.below_slot, e.above_value_slot, e.below_value_slot,
                            e.tried_slot, e.made_slot, e.replica_slot})
      slot(index, "exchange");
  }

  /// Checks buffers that share the memory of others.
  void memory() {
    const SiteOrder& order = p_.order;
    const bool sound = order.modulus >= 1 && order.axis >= 0 && order.axis < 4 &&
                       p_.extent[order.axis] % order.modulus == 0;
    need(sound, "an order of the sites that the lattice has no room for");
    for (const Buffer& b : p_.buffers) {
      if (b.home < 0) {
        need(b.lanes == 1, fmt::format("buffer `{}` shares its own memory", b.name));
        continue;
      }
      const bool there = buffer(b.home, "buffer " + b.name);
      const Buffer& home = p_.buffers[there ? b.home : 0];
      need(there && home.home == b.home && home.lanes == b.lanes && home.lane == 0 && b.lane >= 0 &&
               b.lane < b.lanes && home.precision == b.precision,
           fmt::format("buffer `{}` does not fit into the memory of `{}`", b.name, home.name));
      need(!b.doubled && b.file.empty(),
           fmt::format("buffer `{}` in another one's memory has a second copy", b.name));
    }
  }

  void lattice() {
    need(p_.dims >= 1 && p_.dims <= 4, fmt::format("{} dimensions", p_.dims));
    double sites = 1;
    for (int axis = 0; axis < 4; ++axis) {
      need(p_.extent[axis] >= 1 && (axis < p_.dims || p_.extent[axis] == 1),
           fmt::format("extent {} along axis {}", p_.extent[axis], axis));
      sites *= static_cast<double>(p_.extent[axis]);
    }
    need(p_.instances >= 1, "fewer than one instance");
    need(sites * static_cast<double>(p_.instances) < 0x1p40, "more than 2^40 sites");
    need(p_.multi_step_unit >= 0 && (p_.multi_step_unit > 0) == !p_.multi_step.empty(),
         "multi_step without launches or without its unit");
    need(p_.multi_step.empty() || (p_.multi_step_slot >= 0 && p_.step_slot >= 0),
         "multi_step without a slot for its number of steps or for the step");
    need(p_.together_steps >= 0 && (p_.together_steps > 1) == !p_.together.empty(),
         "together without launches or without its steps");
    need(p_.together_reach == 0 ||
             (p_.together_reach > 0 &&
              static_cast<std::int64_t>(p_.together.size()) == p_.together_steps),
         "a wave of launches that are not one for each step");
    axes();
    need(p_.dx > 0 && p_.dx_physical > 0, "the lattice spacing is not positive");
    need(p_.steps >= -1, "a negative number of steps");
  }

  void cut() {
    const Cut& c = p_.cut;
    if (c.axis < 0) return;
    const bool axis = c.axis < p_.dims && c.slab >= 1 && c.own >= 1 && c.own <= c.whole;
    need(axis && c.own % c.slab == 0 && c.whole % c.slab == 0, "a cut that is not between slabs");
    need(axis && c.ghost[0] >= 0 && c.ghost[1] >= 0 &&
             p_.extent[c.axis] == c.own + c.ghost[0] + c.ghost[1],
         "a cut lattice without room for its own planes and ghosts");
    for (int a = c.axis + 1; a < p_.dims; ++a)
      need(p_.extent[a] == 1, "a cut that is not across the slowest axis");
    slot(c.origin_slot, "cut");
    second_axis();
  }

  void second_axis() {
    const Cut::Second& s = p_.cut.second;
    need(s.ranks >= 1, "a cut for no rank along the second axis");
    if (s.ranks <= 1) return;
    const bool axis = p_.cut.axis >= 2 && !p_.cut.all && s.slab >= 1 && s.own >= 1;
    need(axis && s.own % s.slab == 0 && s.whole == s.own * s.ranks,
         "a cut of the second axis that is not between slabs");
    need(axis && s.ghost[0] >= 0 && s.ghost[1] >= 0 && std::max(s.ghost[0], s.ghost[1]) <= s.own &&
             p_.extent[p_.cut.axis - 1] == s.own + s.ghost[0] + s.ghost[1],
         "a lattice cut along two axes without room for its own lines and ghosts");
    slot(s.origin_slot, "cut");
  }

  void axes() {
    double all = 1;
    for (const Axis& axis : p_.axes) {
      need(!axis.values.empty(), fmt::format("axis `{}` has no values", axis.name));
      slot_or_none(axis.slot, "axis");
      all *= static_cast<double>(axis.values.size());
    }
    need(all < 0x1p40, "more than 2^40 instances");
    need(static_cast<double>(p_.instances) <= all, "more instances at once than there are");
    need(p_.ensemble >= 0, "a negative number of an ensemble");
    slot_or_none(p_.ensemble_slot, "ensemble_slot");
  }

  void axis(int index, const char* where) {
    need(index >= 0 && index < static_cast<int>(p_.axes.size()),
         fmt::format("{}: no axis {}", where, index));
  }

  void check(const std::vector<Statistic>& statistics, const char* where) {
    for (const Statistic& s : statistics) {
      slot(s.slot, where);
      slot_or_none(s.count_slot, where);
      slot_or_none(s.result_slot, where);
      slot_or_none(s.error_slot, where);
      slot_or_none(s.member_slot, where);
      for (const int a : s.axes) axis(a, where);
    }
  }

  void check(const Kernel& kernel) {
    need(!kernel.entry.empty() && !kernel.source.empty(),
         fmt::format("kernel `{}` has no source or no entry", kernel.name));
    need(kernel.partials >= 0, fmt::format("kernel `{}`: negative partials", kernel.name));
    for (int i = 0; i < 3; ++i)
      need(kernel.grid[i] > 0 && kernel.block[i] > 0,
           fmt::format("kernel `{}` has an empty launch shape", kernel.name));
    for (const Argument& a : kernel.arguments) {
      if (a.kind == Argument::Kind::Scalars)
        need(a.index == (scalars_by_slot(p_) ? 1 : 0),
             fmt::format("kernel `{}` has its scalars in another order than the first",
                         kernel.name));
      if (a.kind == Argument::Kind::Gathered)
        need(a.index >= 0 && a.index < static_cast<int>(p_.kernels.size()),
             fmt::format("kernel `{}` gathers the sums of no kernel", kernel.name));
      if (a.kind != Argument::Kind::Current && a.kind != Argument::Kind::Next &&
          a.kind != Argument::Kind::Whole)
        continue;
      if (!buffer(a.index, "kernel " + kernel.name)) continue;
      need(a.kind != Argument::Kind::Next || p_.buffers[a.index].doubled,
           fmt::format("kernel `{}`: buffer `{}` has no second copy", kernel.name,
                       p_.buffers[a.index].name));
    }
  }

  bool fits(const Halo& halo) const {
    const Cut& c = p_.cut;
    const std::array<int, 2>&depth = halo.depth, &beside = halo.beside;
    for (std::size_t side = 0; side < 2; ++side)
      if (beside[side] < 0 || beside[side] > c.second.ghost[side]) return false;
    const bool apart = p_.buffers[halo.buffer].home >= 0 && p_.order.modulus < 64;
    if (halo.classes != 0 && (!apart || halo.classes >> p_.order.modulus != 0)) return false;
    if (c.all) return depth == c.deepest();
    return depth[0] >= 0 && depth[1] >= 0 && depth[0] <= c.ghost[0] && depth[1] <= c.ghost[1] &&
           std::max(depth[0], depth[1]) <= c.own;
  }

  void launches(const std::vector<Launch>& list, const std::string& where) {
    for (const Launch& launch : list) {
      need(launch.kernel >= 0 && launch.kernel < static_cast<int>(p_.kernels.size()),
           fmt::format("{}: no kernel {}", where, launch.kernel));
      need(launch.solve >= -1 && launch.solve < static_cast<int>(p_.solves.size()),
           fmt::format("{}: no solve {}", where, launch.solve));
      for (int map : launch.maps)
        need(map >= 0 && map < static_cast<int>(p_.maps.size()),
             fmt::format("{}: no map {}", where, map));
      for (const Halo& halo : launch.halos)
        need(buffer(halo.buffer, where) && p_.cut.axis >= 0 && fits(halo),
             fmt::format("{}: a halo that is deeper than the ghosts or the rank", where));
      for (int b : launch.swap)
        if (buffer(b, where))
          need(p_.buffers[b].doubled,
               fmt::format("{}: buffer `{}` has no second copy", where, p_.buffers[b].name));
    }
  }

  void check(const FourierMap& map) {
    need(map.function == FourierMap::Function::Itself || map.from.size() == map.to.size(),
         "a function of a matrix that is not square");
    for (const auto* list : {&map.from, &map.to})
      for (int b : *list)
        if (buffer(b, "map"))
          need(p_.buffers[b].file.empty(), "a map of a matrix that all instances share");
    for (const FourierMap::Term& term : map.matrix)
      need(term.row >= 0 && term.row < static_cast<int>(map.to.size()) && term.column >= 0 &&
               term.column < static_cast<int>(map.from.size()) && term.laplacians >= 0,
           "a map with a term of no array");
  }

  void check(const Solve& solve) {
    launches(solve.iterate, "solve");
    launches(solve.finish, "solve");
    // an inner solve stands before the one whose rounds it is part of
    const auto own = &solve - p_.solves.data();
    const auto inside = [&](const Launch& launch) { return launch.solve >= own; };
    const auto begins = [](const Launch& launch) { return launch.solve >= 0; };
    need(std::none_of(solve.iterate.begin(), solve.iterate.end(), inside) &&
             std::none_of(solve.finish.begin(), solve.finish.end(), begins),
         "a solve inside itself");
    need(!solve.iterate.empty() && solve.max >= 1, "a solve without iterations");
    slot(solve.done_slot, "solve");
    slot(solve.iterations_slot, "solve");
    slot(solve.residual_slot, "solve");
    slot_or_none(solve.value_slot, "solve");
  }

  void check(const Output& output) {
    need(output.every >= 0, "an output is written every negative number of steps");
    need(output.interval >= 0, "an output is written after a negative time");
    slot_or_none(output.after_slot, "output");
    launches(output.before, "output");
    for (const Transform& transform : output.transforms) check(transform);
    launches(output.launches, "output");
    launches(output.averages, "output");
    launches(output.then, "output");
    check(output.statistics, "output");
    for (const auto& scalar : output.scalars) {
      slot(scalar.slot, "output");
      slot_or_none(scalar.error_slot, "output");
      for (const int a : scalar.axes) axis(a, "output");
    }
    if (output.plot_axis != -1) axis(output.plot_axis, "plot");
    for (const FieldOutput& field : output.fields) check(field);
  }

  void check(const RandomField& random) {
    buffer(random.buffer, "random");
    need(random.kind != RandomField::Kind::Link ||
             (random.entry >= 0 && random.entry < numbers_of_links(random.colours)),
         fmt::format("links of {} x {} matrices have no number {}", random.colours, random.colours,
                     random.entry));
    need(random.masses.empty() ||
             static_cast<std::int64_t>(random.masses.size()) == p_.all_instances(),
         "a random field has masses, but not one for each instance");
    if (random.kind == RandomField::Kind::Spectrum) {
      const auto numbers = WaveNumbers::of(p_.whole_extent());
      const auto all = static_cast<std::int64_t>(random.powers.size());
      const auto own = numbers ? static_cast<std::int64_t>(numbers->count()) : 0;
      need(own > 0 && (all == own || all == own * p_.all_instances()),
           "a spectrum does not have a power for each wave number of the box");
    } else if (random.kind == RandomField::Kind::Points) {
      points(random);
    } else {
      need(random.powers.empty(), "a random field that is no spectrum has powers");
    }
    for (const double power : random.powers)
      need(power >= 0 && std::isfinite(power), "a spectrum has a power that is below 0");
    need(std::isfinite(random.mass2) && std::isfinite(random.amplitude),
         "a random field has a mass or an amplitude that is not a number");
    need(random.components >= 1 && (random.kind != RandomField::Kind::File ||
                                    (random.entry >= 0 && random.entry < random.components)),
         fmt::format("a file of {} numbers a site has no number {}", random.components,
                     random.entry));
    double all = 1;
    for (const int n : random.leading) all *= n;
    need(random.leading.empty()
             ? random.members.empty()
             : static_cast<std::int64_t>(random.members.size()) == p_.all_instances(),
         "a stack of a file has members, but not one for each instance");
    for (const double member : random.members)
      need(member >= 0 && member < all && all < 0x1p40, "a stack of a file has no such member");
  }

  void points(const RandomField& random) {
    need(random.powers.empty(), "a random field that is no spectrum has powers");
    const bool known =
        random.density >= 0 && random.density < static_cast<int>(p_.densities.size());
    need(known, "points of no density");
    if (!known) return;
    const PointDensity& density = p_.densities[static_cast<std::size_t>(random.density)];
    need(density.components == random.components && random.entry >= 0 &&
             random.entry < random.components,
         "points have no such component");
    std::int64_t bodies = 0;
    for (const int n : density.species) bodies += n;
    need(bodies == p_.sites(), "points are drawn for other bodies than there are");
  }

  void check(const PointDensity& density) {
    need(is_sound(density), "points without a density");
    for (const int axis : density.axes)
      need(axis >= 0 && axis < static_cast<int>(p_.axes.size()),
           "a density of points reads no axis of the sweep");
  }

  void check(const Symbol& symbol) {
    need(symbol.offsets.size() == symbol.weights.size(), "a symbol has a weight for each offset");
  }

  void check(const Transform& transform) {
    need(transform.buffers.size() == 6 && transform.derivative.size() == 3 && p_.dims == 3,
         "a projection takes six components and three derivatives in three dimensions");
    for (int b : transform.buffers)
      if (buffer(b, "transform")) need(p_.buffers[b].scratch, "a transform overwrites state");
    for (const Symbol& symbol : transform.derivative) check(symbol);
  }

  /// Real numbers of the links of a site; 0 where there are no such matrices.
  std::int64_t numbers_of_links(int colours) const {
    constexpr int kMostColours = 64;
    return colours < 1 || colours > kMostColours ? 0 : 2 * p_.dims * colours * colours;
  }

  void check(const FieldOutput& field) {
    slot_or_none(field.slot, "output");
    if (field.slot < 0) buffer(field.buffer, "output");
    for (const FieldPart& part : field.more) {
      slot_or_none(part.slot, "output");
      if (part.slot < 0) buffer(part.buffer, "output");
    }
    const OutputRow& row = row_of(field.kind);
    const bool axis = field.axis >= 0 && field.axis < p_.dims;
    need(row.axis == OutputAxis::None || axis || field.axis == -1,
         fmt::format("output `{}`: no axis {}", field.name, field.axis));
    need(row.axis != OutputAxis::Across || !axis ||
             (field.plane >= 0 &&
              field.plane < (field.axis == p_.cut.axis ? p_.cut.whole : p_.extent[field.axis])),
         fmt::format("output `{}`: no plane {}", field.name, field.plane));
    need(field.bins >= 0, fmt::format("output `{}`: {} bins", field.name, field.bins));
    for (std::size_t k = 0; k < 4; ++k) {
      const SitesOfAxis& s = field.sites[k];
      const std::int64_t end = p_.whole_extent()[k];
      need(s.every >= 1 && s.first >= 0 && s.first < end && s.last >= -1 && s.last < end &&
               (s.last == -1 || s.last >= s.first),
           fmt::format("output `{}`: no such sites", field.name));
    }
    for (const HistogramAxis& a : field.histogram)
      need(a.bins >= 1 && a.bins <= 65536 && (a.find_low || a.find_high || a.low < a.high),
           fmt::format("output `{}`: {} bins", field.name, a.bins));
    const SpectrumForm& form = field.spectrum;
    need(form.type >= 1 && form.type <= 2 && form.version >= 1 && form.version <= 3,
         fmt::format("output `{}`: no such spectrum", field.name));
    need(!form.cross || !field.more.empty(),
         fmt::format("output `{}`: a cross spectrum takes two fields", field.name));
    for (const Symbol& symbol : form.laplacian) check(symbol);
    slot_or_none(field.factor_slot, "output");
    slot_or_none(field.mass2_slot, "output");
    arrays(field, row);
  }

  /// Checks the arrays of a kind of output.
  void arrays(const FieldOutput& field, const OutputRow& row) {
    switch (row.arrays) {
      case OutputArrays::Each:
      case OutputArrays::Summed:
        break;
      case OutputArrays::Counted:
        need(field.histogram.size() == 1 || (field.histogram.size() == 2 && !field.more.empty()),
             fmt::format("output `{}`: a histogram has one or two axes", field.name));
        break;
      case OutputArrays::WithRates:
        slot(field.factor_slot, "output");
        slot(field.mass2_slot, "output");
        need(field.more.size() % 2 == 1, "an occupation number takes fields and their rates");
        break;
      case OutputArrays::Whole: {
        double numbers = field.complex ? 2 : 1;
        for (const int n : field.value) numbers *= n;
        need(field.value.size() <= 2 && numbers == static_cast<double>(field.more.size() + 1),
             fmt::format("output `{}`: a value of {} numbers, and {} are given", field.name,
                         numbers, field.more.size() + 1));
        break;
      }
      case OutputArrays::Carried:
        slot(field.factor_slot, "output");
        need(field.carried.size() == field.more.size(),
             fmt::format("output `{}`: {} names for {} values that are carried", field.name,
                         field.carried.size(), field.more.size()));
        need(p_.dims + (field.in_time ? 1 : 0) <= 4,
             fmt::format("output `{}`: a surface in five dimensions", field.name));
        for (const int open : field.open_axes)
          need(open >= 0 && open < p_.dims,
               fmt::format("output `{}`: no axis {}", field.name, open));
        break;
      case OutputArrays::Links:
        need(numbers_of_links(field.colours) == static_cast<std::int64_t>(field.more.size()) + 1,
             fmt::format("output `{}`: links of N x N matrices have 2 N^2 numbers each",
                         field.name));
        need(p_.axes.empty() && p_.instances == 1,
             fmt::format("output `{}`: links of a sweep", field.name));
        break;
    }
  }

  void check(const Expectation& e) {
    using Kind = Expectation::Kind;
    if (e.kind == Kind::Condition) {
      slot(e.ok_slot, "expectation");
      slot_or_none(e.value_slot, "expectation");
      slot_or_none(e.scale_slot, "expectation");
    } else {
      slot(e.value_slot, "expectation");
      if (e.kind == Kind::Conserved) slot(e.scale_slot, "expectation");
    }
  }

  const Program& p_;
  std::vector<std::string> problems_;
};

}  // namespace

std::vector<std::string> problems(const Program& program) { return Checker(program).run(); }

}  // namespace vphi::program
