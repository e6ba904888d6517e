#include "compiler/schedule/cut.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "compiler/algebra/transform.hpp"
#include "compiler/kernel/draw.hpp"
#include "compiler/kernel/slabs.hpp"
#include "compiler/schedule/exchange.hpp"
#include "program/fourier_map.hpp"

namespace vphi::schedule {
namespace {

using algebra::Expr;
using algebra::Op;
using kernel::Boundary;
using kernel::Kernel;
using End = program::Cut::End;

constexpr std::int64_t kFewestSlabs = 4;
constexpr std::int64_t kVector = 8;  // sites of a row: the own ones begin at multiples of it
constexpr const char* kOrigin = "first_plane";
constexpr const char* kOriginOfLines = "first_line";
constexpr const char* kOneDevice = "run it on one device, without ranks";

bool per_site(const Kernel& kernel) { return !kernel.stores.empty() || !kernel.reductions.empty(); }

/// What a kernel reads of neighbours. Sums over pairs have none.
Reach neighbours_across(const Plan& plan, const Kernel& kernel, int axis) {
  return kernel::sums_pairs(kernel) ? Reach{} : reach_across(plan, kernel, axis);
}

dsl::Span span_of(const Kernel& kernel) {
  dsl::Span span;
  algebra::visit(kernel.values(), [&](Expr, Expr node) {
    if (!node->span.empty()) span = node->span;  // the whole comes after its parts
  });
  return span;
}

std::optional<End> end_of(Boundary boundary) {
  switch (boundary) {
    case Boundary::Periodic:
      return End::Periodic;
    case Boundary::Antiperiodic:
      return End::Antiperiodic;
    case Boundary::Fixed:
      return End::Fixed;
    case Boundary::Neumann:
      return End::Mirror;
    case Boundary::Outflow:
      return End::Open;
    case Boundary::Absorbing:
      break;
  }
  return {};
}

/// Whether a kernel computes what a rank can compute of its own planes and ghosts.
std::optional<NotCut> refusal_of(const Kernel& kernel, const program::Program& p) {
  if (kernel.extent != p.extent)
    return NotCut{fmt::format("`{}` is computed on sites of its own", kernel.name), kOneDevice,
                  span_of(kernel)};
  return {};
}

class Cutter {
 public:
  Cutter(Plan& plan, const Place& place, std::int64_t planes)
      : plan_(plan),
        p_(plan.program),
        ranks_(place.ranks),
        rank_(place.rank),
        beside_(place.beside),
        classes_(place.classes),
        planes_(planes) {
    cut_.axis = kernel::slab_axis(p_.extent);
    cut_.whole = p_.extent[static_cast<std::size_t>(cut_.axis)];
  }

  std::optional<NotCut> operator()() {
    if (p_.instances > 1)
      return NotCut{"it has several instances, and ranks share these whole",
                    "as many ranks as instances at most, or no sweep",
                    {}};
    for (const Kernel& kernel : plan_.kernels) {
      if (!per_site(kernel)) continue;
      if (auto refused = refusal_of(kernel, p_)) return refused;
    }
    if (cut_.axis == 0) {
      if (auto refused = row()) return refused;
    }
    if (auto refused = ends(cut_.axis, cut_.ends)) return refused;
    if (beside_ > 1) {
      if (auto refused = second_axis()) return refused;
    }
    if (auto refused = slabs()) return refused;
    apply();
    return {};
  }

 private:
  /// A single row: its sites are planes.
  std::optional<NotCut> row() {
    cut_.all = std::ranges::any_of(plan_.kernels, kernel::sums_pairs);
    for (const Kernel& kernel : plan_.kernels) {
      if (neighbours_across(plan_, kernel, 0).empty()) continue;
      if (cut_.all)
        return NotCut{"its sites read neighbours beside sums over pairs", kOneDevice,
                      span_of(kernel)};
    }
    return {};
  }

  /// What lies beyond the ends must be the same for all that is read there.
  std::optional<NotCut> ends(int axis, std::array<End, 2>& both) {
    std::optional<End> known;
    for (const Kernel& kernel : plan_.kernels) {
      if (neighbours_across(plan_, kernel, axis).empty()) continue;
      const auto end = end_of(kernel.boundary[static_cast<std::size_t>(axis)]);
      if (!end) return NotCut{"its ends absorb", kOneDevice, span_of(kernel)};
      if (known && *known != *end)
        return NotCut{"fields continue in different ways beyond its ends", kOneDevice,
                      span_of(kernel)};
      known = end;
      cut_.fixed_value = kernel.fixed_value;
    }
    both = {known.value_or(End::Periodic), known.value_or(End::Periodic)};
    return {};
  }

  /// What a cut of the next axis needs beside that of the slowest.
  std::optional<NotCut> second_axis() {
    const int axis = cut_.axis - 1;
    const auto refuse = [&](const std::string& why, dsl::Span span = {}) {
      return NotCut{why, fmt::format("--cut {}={}", axis_name(), ranks_), span};
    };
    if (axis < 1)
      return refuse(fmt::format("rows along x stay whole, and it has no axis between them and {}",
                                axis_name()));
    for (const Kernel& kernel : plan_.kernels) {
      if (!per_site(kernel)) continue;
      if (kernel.colours && !kernel.reductions.empty() && !added_in_runs(kernel))
        return refuse("the rows of a colour are no whole number of tasks between its cuts",
                      span_of(kernel));
    }
    program::Cut::Second& second = cut_.second;
    if (auto refused = ends(axis, second.ends)) return refused;
    second.ranks = beside_;
    second.whole = p_.extent[static_cast<std::size_t>(axis)];
    const std::int64_t slabs = kernel::slabs_of_plane(p_.extent);
    second.slab = second.whole / slabs, second.own = second.whole / beside_;
    if (slabs % beside_ != 0)
      return refuse(slabs == 1
                        ? fmt::format("its planes of {} lines along {} are too small for a cut",
                                      second.whole, "xyzt"[axis])
                        : fmt::format("its planes are cut along {} into {} equal parts{}",
                                      "xyzt"[axis], slabs, slabs > 2 ? ", or into 2" : ""));
    const std::int64_t modulus = modulus_of_colours();
    if (second.own % modulus != 0)
      return refuse(fmt::format("its sites have {} colours, and ranks would have {} lines along {}",
                                modulus, second.own, "xyzt"[axis]));
    return {};
  }

  /// Whether the sums over the sites of a colour are added in runs of lines that a rank has whole
  /// (kernel/slabs.hpp).
  bool added_in_runs(const Kernel& kernel) const {
    std::int64_t rows = kernel.walked_sites() / p_.extent[0];
    if (kernel.colours->axis != 0) rows /= kernel.colours->modulus;
    return kernel::pieces_of_colours(p_.extent, rows, kernel.colours->modulus) > 1;
  }

  /// Ghosts beside the own lines.
  std::optional<NotCut> ghost_lines(const Kernel& kernel, std::int64_t modulus) {
    program::Cut::Second& second = cut_.second;
    if (second.ranks == 1) return {};
    const int axis = cut_.axis - 1;
    for (const auto& [buffer, depth] : neighbours_across(plan_, kernel, axis))
      for (std::size_t side = 0; side < 2; ++side) {
        const std::int64_t rounded = (depth[side] + modulus - 1) / modulus * modulus;
        second.ghost[side] = std::max(second.ghost[side], static_cast<int>(rounded));
        if (rounded > second.own)
          return NotCut{fmt::format("a site reads others {} lines away along {}, and ranks would "
                                    "have {}",
                                    depth[side], "xyzt"[axis], second.own),
                        fmt::format("--cut {}={}", axis_name(), ranks_), span_of(kernel)};
      }
    return {};
  }

  std::int64_t modulus_of_colours() const {
    std::int64_t modulus = classes_;
    for (const Kernel& kernel : plan_.kernels) {
      if (kernel.colours) modulus = std::lcm(modulus, std::int64_t{kernel.colours->modulus});
      // of a single row the sites that share blocks of random numbers stay together
      if (cut_.axis == 0 && kernel.colours && kernel::across_sites(kernel.random))
        modulus = std::lcm(modulus, kernel::sites_of_block(kernel.random) * kernel.random.apart);
    }
    return modulus;
  }

  std::optional<NotCut> slabs() {
    cut_.slab = kernel::planes_of_slab(p_.extent);
    const std::int64_t modulus = modulus_of_colours();
    for (const Kernel& kernel : plan_.kernels)
      if (kernel.colours)
        cut_.slab = std::lcm(cut_.slab, kernel::planes_of_slab(p_.extent, kernel.colours->modulus));
    cut_.slab = std::lcm(cut_.slab, modulus);
    if (!p_.maps.empty()) cut_.slab = std::lcm(cut_.slab, program::planes_together(p_.extent));
    const std::int64_t smallest = cut_.slab, least = std::min(planes_, cut_.whole / kFewestSlabs);
    while (cut_.slab < cut_.whole && (cut_.slab < least || cut_.whole % cut_.slab != 0))
      cut_.slab += smallest;
    const std::int64_t slabs = cut_.whole % cut_.slab == 0 ? cut_.whole / cut_.slab : 1;
    if (slabs < ranks_ / beside_)
      return NotCut{fmt::format("its {} are cut between slabs of {}", planes_text(),
                                slabs > 1 ? cut_.slab : cut_.whole),
                    way_out(slabs),
                    {}};
    return ghosts(slabs, modulus);
  }

  std::optional<NotCut> ghosts(std::int64_t slabs, std::int64_t modulus) {
    int deepest = 0;
    if (cut_.axis == 0) modulus = std::lcm(modulus, kVector);
    const std::int64_t least = slabs / (ranks_ / beside_) * cut_.slab;
    for (Kernel& kernel : plan_.kernels) {
      kernel.gathers = gathers(kernel, least);
      if (kernel.gathers) continue;
      if (auto refused = ghost_lines(kernel, modulus)) return refused;
      for (const auto& [buffer, depth] : neighbours_across(plan_, kernel, cut_.axis)) {
        for (std::size_t side = 0; side < 2; ++side) {
          const auto rounded = (depth[side] + modulus - 1) / modulus * modulus;
          // whole turns of the colours: a site keeps its colour
          cut_.ghost[side] = std::max(cut_.ghost[side], static_cast<int>(rounded));
        }
        deepest = std::max({deepest, depth[0], depth[1]});
      }
      if (deepest <= least) continue;
      const std::int64_t slabs_of_rank = (deepest + cut_.slab - 1) / cut_.slab;
      return NotCut{fmt::format("a site reads others {} planes away along {}, and some ranks "
                                "would have {} of its {} planes",
                                deepest, axis_name(), least, cut_.whole),
                    way_out(slabs / slabs_of_rank), span_of(kernel)};
    }
    return {};
  }

  /// Whether the kernel reads farther away than a rank has planes, and may be computed by each rank
  /// of gathered arrays.
  bool gathers(const Kernel& kernel, std::int64_t least) const {
    if (!kernel.stores.empty() || kernel.colours || cut_.all) return false;
    const auto deepest = [&](int axis) {
      int most = 0;
      for (const auto& [buffer, depth] : neighbours_across(plan_, kernel, axis))
        most = std::max({most, depth[0], depth[1]});
      return most;
    };
    return deepest(cut_.axis) > least || (beside_ > 1 && deepest(cut_.axis - 1) > cut_.second.own);
  }

  std::string planes_text() const {
    if (cut_.axis == 0) return fmt::format("{} sites", cut_.whole);
    return fmt::format("{} planes along {}", cut_.whole, axis_name());
  }
  char axis_name() const { return "xyzt"[cut_.axis]; }

  std::string way_out(std::int64_t most) const {
    if (beside_ > 1)
      return most < 2
                 ? kOneDevice
                 : fmt::format("{} ranks along {} at most, or a larger lattice", most, axis_name());
    if (most < 2) return kOneDevice;
    return fmt::format("{} ranks at most, or a larger lattice", most);
  }

  void apply() {
    const auto [first, own] = cut_.planes(ranks_, rank_);
    cut_.own = own;
    if (cut_.all) cut_.ghost = {0, static_cast<int>(cut_.whole - own)};
    cut_.origin_slot = static_cast<int>(p_.scalars.size());
    p_.scalars.push_back({kOrigin, 0});
    program::Cut::Second& second = cut_.second;
    if (second.ranks > 1) {
      second.origin_slot = static_cast<int>(p_.scalars.size());
      p_.scalars.push_back({kOriginOfLines, 0});
    }
    p_.cut = cut_;
    own_rows_of_matrices(own);
    const auto axis = static_cast<std::size_t>(cut_.axis);
    p_.extent[axis] = own + cut_.ghost[0] + cut_.ghost[1];
    if (second.ranks > 1) p_.extent[axis - 1] = second.own + second.ghost[0] + second.ghost[1];
    for (Kernel& kernel : plan_.kernels) {
      if (kernel.gathers) continue;
      kernel.extent[axis] = p_.extent[axis];
      kernel.boundary[axis] = Boundary::Periodic;
      if (!per_site(kernel)) continue;
      kernel.planes = {cut_.axis, cut_.ghost[0], own, cut_.whole, cut_.slab, ranks_, kOrigin};
    }
    if (second.ranks > 1) cut_second(axis - 1);
  }

  void cut_second(std::size_t axis) {
    const program::Cut::Second& second = cut_.second;
    for (Kernel& kernel : plan_.kernels) {
      if (kernel.gathers) continue;
      kernel.extent[axis] = p_.extent[axis];
      kernel.boundary[axis] = Boundary::Periodic;
      if (!per_site(kernel)) continue;
      kernel.planes->second = {second.ghost[0], second.own, second.whole, kOriginOfLines};
    }
  }

  /// Of a matrix over pairs a rank has the rows of its own sites.
  void own_rows_of_matrices(std::int64_t own) {
    const auto of_rows = [&](std::int64_t elements) {
      return elements > 0 ? elements - (cut_.whole - own) * cut_.whole : 0;
    };
    for (program::Buffer& buffer : p_.buffers) buffer.elements = of_rows(buffer.elements);
    for (Kernel& kernel : plan_.kernels)
      for (kernel::ArrayParam& array : kernel.arrays) array.elements = of_rows(array.elements);
  }

  Plan& plan_;
  program::Program& p_;
  int ranks_, rank_, beside_;
  std::int64_t classes_, planes_;
  program::Cut cut_;
};

}  // namespace

std::optional<NotCut> cut(Plan& plan, const Place& place, std::int64_t planes) {
  return Cutter(plan, place, planes)();
}

}  // namespace vphi::schedule
