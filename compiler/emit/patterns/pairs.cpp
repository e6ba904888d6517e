#include "compiler/emit/patterns/pairs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <unordered_map>

#include "compiler/algebra/transform.hpp"
#include "compiler/emit/math/sincos.hpp"
#include "compiler/emit/patterns/pairs_split.hpp"
#include "compiler/emit/text/reading.hpp"
#include "compiler/emit/walks/lines.hpp"
#include "compiler/kernel/device.hpp"

namespace vphi::emit {
namespace {

using algebra::Expr;
using algebra::Op;

constexpr int kTileSites = 256;
constexpr int kSitesAThread = 8;  // i in registers
constexpr int kUnrolled = 4;      // sites j in a turn of the loop
constexpr int kMatrixReads = 16;  // entries of a matrix that a thread asks memory for at a time
constexpr int kGroupsAUnit = 16;  // enough to hide the uneven end of a launch
// With fewer groups a multiprocessor than this, threads take fewer sites; then tiles get smaller,
// down to this many sites.
constexpr int kFewestGroupsAUnit = 2, kFewestTileSites = 64;
constexpr int kBlock = 512, kTile = 64, kLanes = 16;  // on processors

class Pairs {
 public:
  Pairs(const kernel::Kernel& kernel, const TargetInfo& target, const Bindings& bindings)
      : kernel_(kernel),
        bindings_(bindings),
        dialect_(dialect_of(target)),
        split_(split_pairs(kernel)),
        near_kernel_(one_side(kernel, "near", split_.near.values, target)),
        far_kernel_(one_side(kernel, "far", split_.far.values, target)),
        pair_kernel_(
            kernel::for_device({.kernel = pair_function(kernel, split_, target), .of_pair = true})
                .kernel),
        near_(make_body(near_kernel_, dialect_, bindings)),
        far_(make_body(far_kernel_, dialect_, bindings)),
        pair_(make_body(pair_kernel_, dialect_, bindings)),
        job_{kernel, target, dialect_, own_body(kernel), {}, false} {
    job_.entry = "vphi_" + job_.body.suffix;
    job_.inside = bindings.inside;
    job_.signed_index = dialect_.tasks();
    job_.places.resize(kernel.arrays.size());
    if (kernel.dims != 1) throw std::invalid_argument("pairs of sites of a lattice");
  }

  program::Kernel emit() { return dialect_.tasks() ? processor() : gpu(); }
  Stage stage();

 private:
  static Body own_body(const kernel::Kernel& kernel) {
    Body body;
    body.suffix = identifier_of(kernel.name);
    body.real = kernel.compute;
    for (std::size_t i = 0; i < kernel.arrays.size(); ++i) {
      body.array_names.push_back(fmt::format("{}_{}", identifier_of(kernel.arrays[i].name), i));
    }
    return body;
  }
  static std::string identifier_of(const std::string& name);

  /// Sites i that are computed, and sites j whose terms are added.
  std::int64_t sites() const { return kernel_.walked_sites(); }
  std::int64_t all_sites() const { return kernel_.sites(); }
  bool alone() const { return kernel_.reach == kernel::Reach::Group; }
  int threads() const {
    if (alone()) return kernel_.threads;
    return dialect_.tuned.pair_threads;
  }
  std::string pair_type() const { return type_name(kernel_.pair); }
  Code rounded() const { return kernel_.pair == kernel_.compute ? "" : "(float)"; }
  bool without_self() const {
    return std::ranges::any_of(kernel_.stores,
                               [](const kernel::Store& s) { return s.value->index != 0; });
  }

  /// Where site j of the whole row lies in memory. A rank that computes some of the sites i has
  /// these first, and the others behind them in cyclic order (schedule/cut.hpp).
  Code far_at(const Code& site) const {
    if (!kernel_.planes) return code("const vphi_index at = {};\n", site);
    return code(
        "const vphi_index site = {};\n"
        "const vphi_index at = vphi_select_index(site < origin, site + {} - origin, site - "
        "origin);\n",
        site, index_literal(job_, all_sites()));
  }
  /// The number of a site i in the whole row.
  Code number_of(const Code& near) const { return (kernel_.planes ? "origin + " : "") + near; }
  Code origin() const {
    if (!kernel_.planes) return {};
    return code("const vphi_index origin = (vphi_index)scalars[{}];\n",
                slot_text(bindings_, slot_number(bindings_, kernel_.planes->origin)));
  }

  /// Lines that fill `in` of one side from the arrays at `at`, whose site has the number `site` in
  /// the whole row.
  Code gather(const Body& side, const Code& at, const Code& site) const {
    Code text;
    for (const Read& read : side.reads) {
      const std::size_t array = position(kernel_, read.array);
      const bool same = kernel_.arrays[array].store == kernel_.compute;
      text += code("in.{} = {}{}[{}];\n", read.member,
                   same ? "" : Code("(") + type_name(kernel_.compute) + ")",
                   read_pointer(job_, array), at);
    }
    if (side.site_axis[0]) {
      text += code("in.site_x = ({}){};\n", type_name(kernel_.compute), site);
    }
    if (text.empty()) text = Code("in.none = (") + type_name(kernel_.compute) + ")0;\n";
    return text;
  }

  /// in.<member of the pair function> = <near or far value>, for a subscript of each. Entries of
  /// matrices lie column by column, so that threads and lanes read neighbours; the rows behind the
  /// last are the next column's, and what lies behind the last column is padding.
  Code pair_inputs(const Code& near_at, const Code& far_at, const Code& row) const {
    Code text;
    for (const Read& read : pair_.reads) {
      const auto nears = static_cast<int>(split_.near.values.size());
      const int entry = read.array - nears - static_cast<int>(split_.far.values.size());
      if (entry >= 0) {
        const auto which = static_cast<std::size_t>(entry);
        const std::size_t array = position(kernel_, split_.matrices.arrays[which]);
        const bool same = kernel_.arrays[array].store == kernel_.pair;
        const char* wide = dialect_.tasks() ? "long" : "vphi_wide";
        text += code("in.{} = {}{}[({})(first + j) * {} + {}];\n", read.member,
                     same ? "" : "(" + pair_type() + ")", read_pointer(job_, array), wide,
                     index_literal(job_, sites()), row);
        continue;
      }
      const bool is_near = read.array < nears;
      text += code("in.{} = {}{}{};\n", read.member, is_near ? "near_" : "far_",
                   is_near ? read.array : read.array - nears, is_near ? near_at : far_at);
    }
    return text;
  }

  /// Adds the terms to the sums, except where `self` holds; an empty `self` never holds.
  Code add_terms(const Code& at, const Code& self) const {
    Code text;
    for (std::size_t k = 0; k < pair_.store_members.size(); ++k) {
      Code term = "out." + pair_.store_members[k];
      if (kernel_.stores[k].value->index != 0 && !self.empty()) {
        term = code("vphi_select_{}({}, {}, {})", kernel_.pair == Precision::F32 ? "f32" : "f64",
                    self, literal(0.0L, kernel_.pair), term);
      }
      text += code("part_{0}{1} = part_{0}{1} + {2};\n", k, at, term);
    }
    return text;
  }

  template <class Line>
  Code each(std::size_t count, const Line& line) const {
    Code text;
    for (std::size_t i = 0; i < count; ++i) text += line(i);
    return text;
  }

  Slots shared_slots(int threads, const Groups* groups) const {
    Slots slots = common_slots(job_, threads, groups);
    slots["body"] = near_.code() + far_.code() + pair_.code();
    Calls calls = near_.calls;
    calls.add(far_.calls), calls.add(pair_.calls);
    slots["choices"] += sincos_functions_for(calls, dialect_);
    if (pair_kernel_.fast) {
      slots["choices"] += kernel_.pair == Precision::F32
                              ? quick_functions(dialect_)
                              : fast_math_functions(kernel_.pair, dialect_);
    }
    slots["near"] = near_.suffix;
    slots["far"] = far_.suffix;
    slots["pair"] = pair_.suffix;
    slots["sites"] = index_literal(job_, sites());
    slots["last"] = index_literal(job_, sites() - 1);
    slots["all"] = index_literal(job_, all_sites());
    slots["origin"] = origin();
    return slots;
  }

  /// How a launch divides its work: sites a thread, blocks of sites i, shares of the sites j.
  struct Cut {
    int per_thread = 1;
    int tile = kTileSites;  ///< sites j in fast memory
    std::int64_t blocks = 1, shares = 1, tiles = 1;
    std::int64_t sums = 0;  ///< shares of every site and term, then a counter for each block
  };
  Cut cut() const;
  /// The values of a tile of sites j.
  std::vector<LocalArray> tile_memory(const Cut& cut) const {
    std::vector<LocalArray> list;
    for (std::size_t i = 0; i < split_.far.values.size(); ++i)
      list.push_back({pair_type(), fmt::format("far_{}", i), cut.tile});
    return list;
  }
  Code tile_pairs(const Cut& cut, const Slots& common) const;
  Slots gpu_slots(const Cut& cut, const Groups& groups) const;
  program::Kernel gpu();
  program::Kernel processor();

  const kernel::Kernel& kernel_;
  const Bindings& bindings_;
  const Dialect& dialect_;
  Split split_;
  kernel::Kernel near_kernel_, far_kernel_, pair_kernel_;
  Body near_, far_, pair_;
  Job job_;
};

std::string Pairs::identifier_of(const std::string& name) {
  std::string text;
  for (const char c : name) {
    const bool fine = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    text += fine ? c : '_';
  }
  return text;
}

Pairs::Cut Pairs::cut() const {
  Cut cut;
  const std::int64_t each_group = std::int64_t{threads()} * kSitesAThread;
  const auto tiles = [&] { return (all_sites() + cut.tile - 1) / cut.tile; };
  const auto groups = [&] {
    return std::max<std::int64_t>(1, sites() / (threads() * cut.per_thread)) * tiles() *
           kernel_.instances;
  };
  // Fewer sites a thread, then a tile, where there would not be a group for each multiprocessor.
  const std::int64_t least =
      alone() || dialect_.processor()
          ? 0
          : kFewestGroupsAUnit * std::int64_t{std::max(1, job_.target.compute_units)};
  cut.per_thread = kSitesAThread;
  while (cut.per_thread > 1 && (sites() < threads() * cut.per_thread || groups() < least))
    cut.per_thread /= 2;
  while (cut.tile > kFewestTileSites && groups() < least) cut.tile /= 2;
  if (alone() && sites() < each_group)
    cut.per_thread = static_cast<int>((sites() + threads() - 1) / threads());
  const std::int64_t block = std::int64_t{threads()} * cut.per_thread;
  cut.blocks = (sites() + block - 1) / block;
  cut.tiles = tiles();
  if (alone()) return cut;
  const std::int64_t wanted =
      std::int64_t{kGroupsAUnit} * std::max(1, job_.target.compute_units) / cut.blocks;
  cut.shares = std::clamp<std::int64_t>(kernel_.instances > 1 ? wanted / kernel_.instances : wanted,
                                        1, cut.tiles);
  if (cut.shares > 1)
    cut.sums = static_cast<std::int64_t>(kernel_.stores.size()) * cut.shares * sites() +
               (cut.blocks + 1) / 2;
  return cut;
}

/// The pairs of a tile. A body has no pair with itself. Most tiles hold none of the block's own
/// sites and need no test for each pair.
Code Pairs::tile_pairs(const Cut& cut, const Slots& common) const {
  const auto loop = [&](const Code& self, int unrolled) {
    Slots slots = common;
    slots["unrolled"] = std::to_string(unrolled);
    slots["add_terms"] = add_terms("[k]", self);
    return fill("pairs_tile_gpu.txt", slots);
  };
  const Code self =
      "first + j == " + number_of("mine") + " + k * " + std::to_string(threads()) + "u";
  const int unrolled = split_.matrices.arrays.empty()
                           ? kUnrolled
                           : std::max(kUnrolled, kMatrixReads / cut.per_thread);
  if (!without_self()) return loop({}, unrolled);
  if (alone()) return loop(self, unrolled);
  return code(
             "const vphi_index own = {} - thread;\n"
             "if (first < own + {} && own < first + {}u) {{\n",
             number_of("mine"), index_literal(job_, std::int64_t{threads()} * cut.per_thread),
             cut.tile) +
         indent(loop(self, 1), 2) + "} else {\n" + indent(loop({}, unrolled), 2) + "}\n";
}

Slots Pairs::gpu_slots(const Cut& cut, const Groups& groups) const {
  const std::size_t terms = kernel_.stores.size();
  const int per_thread = cut.per_thread;
  const std::int64_t shares = cut.shares;
  Slots slots = shared_slots(threads(), &groups);
  slots["shares"] = std::to_string(shares);
  slots["per_thread"] = std::to_string(per_thread);
  slots["block"] = index_literal(job_, std::int64_t{threads()} * per_thread);
  slots["tiles"] = index_literal(job_, cut.tiles);
  const Code real = pair_type();
  slots["tile_memory"] = declared(tile_memory(cut));
  slots["near_memory"] = each(split_.near.values.size(), [&](std::size_t i) {
    return code("{} near_{}[{}];\n", real, i, per_thread);
  });
  slots["gather_near"] = gather(near_, "at", kernel_.planes ? "(origin + at)" : "at");
  slots["gather_far"] = gather(far_, "at", kernel_.planes ? "site" : "at");
  slots["far_at"] =
      far_at(code("vphi_select_index(first + place < {}, first + place, {})",
                  index_literal(job_, all_sites()), index_literal(job_, all_sites() - 1)));
  slots["keep_near"] = each(split_.near.values.size(), [&](std::size_t i) {
    return code("near_{}[k] = {}out.{};\n", i, rounded(), near_.store_members[i]);
  });
  slots["keep_far"] = each(split_.far.values.size(), [&](std::size_t i) {
    return code("far_{}[place] = {}out.{};\n", i, rounded(), far_.store_members[i]);
  });
  slots["sums"] =
      each(terms, [&](std::size_t k) { return code("double sum_{}[{}];\n", k, per_thread); });
  slots["clear_sums"] = each(terms, [&](std::size_t k) { return code("sum_{}[k] = 0.0;\n", k); });
  slots["parts"] =
      each(terms, [&](std::size_t k) { return code("{} part_{}[{}];\n", real, k, per_thread); });
  slots["clear_parts"] =
      each(terms, [&](std::size_t k) { return code("part_{}[k] = ({})0;\n", k, real); });
  slots["add_parts"] = each(terms, [&](std::size_t k) {
    return code("sum_{0}[k] = sum_{0}[k] + (double)part_{0}[k];\n", k);
  });
  slots["pair_inputs"] =
      pair_inputs("[k]", "[j]", "(mine + k * " + std::to_string(threads()) + "u)");
  slots["tile_count"] =
      all_sites() % cut.tile == 0
          ? std::to_string(cut.tile) + "u"
          : code("(unsigned)vphi_select_index({0} - first < {1}u, {0} - first, {1}u)",
                 index_literal(job_, all_sites()), cut.tile);
  slots["tile"] = std::to_string(cut.tile);
  slots["pairs"] = tile_pairs(cut, slots);
  const auto stored = [&](std::size_t k, const Code& value) {
    const std::size_t array = position(kernel_, kernel_.stores[k].array);
    return code("{}[at] = {}{};\n", write_pointer(job_, array),
                kernel_.arrays[array].store == Precision::F32 ? "(float)" : "", value);
  };
  if (shares == 1) {
    slots["finish"] = fill(
        "pairs_alone_gpu.txt",
        {{"per_thread", std::to_string(per_thread)},
         {"threads", std::to_string(threads())},
         {"sites", index_literal(job_, sites())},
         {"store", each(terms, [&](std::size_t k) { return stored(k, code("sum_{}[k]", k)); })}});
  } else {
    Slots fold = slots;
    fold["counters"] = index_literal(job_, static_cast<std::int64_t>(terms) * shares * sites());
    fold["put_shares"] = each(terms, [&](std::size_t k) {
      return code("partials[({}u + share) * (vphi_wide){} + at] = sum_{}[k];\n", k * shares,
                  index_literal(job_, sites()), k);
    });
    fold["fold"] = each(terms, [&](std::size_t k) {
      return code(
                 "double total_{0} = 0.0;\nfor (unsigned s = 0; s < {1}u; ++s)\n  total_{0} = "
                 "total_{0} + vphi_load_shared(partials + ({2}u + s) * (vphi_wide){3} + at);\n",
                 k, shares, k * shares, index_literal(job_, sites())) +
             stored(k, code("total_{}", k));
    });
    slots["finish"] = fill("pairs_shares_gpu.txt", fold);
  }
  slots["loop"] = fill("pairs_loop_gpu.txt", slots);
  return slots;
}

program::Kernel Pairs::gpu() {
  const Cut cut = this->cut();
  const Groups groups{cut.blocks * cut.shares, 1, 1};
  Slots slots = gpu_slots(cut, groups);
  slots["parameters"] =
      gpu_parameters(job_) + (cut.sums > 0 ? ",\n    VPHI_GLOBAL double* partials" : "");
  slots["instance"] = instance_pointers(job_, bindings_, cut.sums, false);
  slots["pair_types"] = slots["wide_type"].empty() ? wide_typedef(dialect_) : "";
  program::Kernel out;
  out.entry = job_.entry;
  out.source = finished(fill("pairs_gpu.txt", slots));
  out.partials = cut.sums * kernel_.instances;
  out.arguments = arguments(job_, bindings_, false, cut.sums);
  out.grid = grid_of(job_, groups);
  out.block = {static_cast<std::uint32_t>(threads()), 1, 1};
  return out;
}

// One group goes through all blocks of sites.
Stage Pairs::stage() {
  const Cut cut = this->cut();
  const Slots slots = gpu_slots(cut, {1, 1, 1});
  Stage stage;
  stage.pointers = array_pointers(job_);
  stage.functions = slots.at("choices") + slots.at("body");
  stage.local_memory = tile_memory(cut);
  stage.names_last = cut.shares == 1;  // pairs_alone_gpu.txt
  stage.text = cut.blocks == 1 ? "const unsigned share = 0u, block = 0u;\n" + slots.at("loop")
                               : code(
                                     "for (unsigned block = 0u; block < {}u; ++block) {{\n"
                                     "  const unsigned share = 0u;\n",
                                     cut.blocks) +
                                     indent(slots.at("loop"), 2) + "}\n";
  return stage;
}

program::Kernel Pairs::processor() {
  const std::size_t terms = kernel_.stores.size();
  const std::int64_t blocks = (sites() + kBlock - 1) / kBlock;
  Slots slots = shared_slots(1, nullptr);
  slots["blocks"] = std::to_string(blocks);
  slots["block"] = std::to_string(kBlock);
  slots["tile"] = std::to_string(kTile);
  slots["lane_count"] = std::to_string(kLanes);
  Code pointers;
  int argument = 0;
  const auto own = [&](std::int64_t words) {
    return kernel_.instances > 1 ? code(" + instance * {}", words) : Code();
  };
  for (std::size_t i = 0; i < kernel_.arrays.size(); ++i) {
    const kernel::ArrayParam& array = kernel_.arrays[i];
    const Code type = type_name(array.store);
    const auto pointer = [&](const char* c, const Code& name) {
      pointers += code("{0}{1}* VPHI_RESTRICT {2} = ({0}{1}*)args[{3}]{4};\n", c, type, name,
                       argument++, array.elements > 0 ? Code() : own(sites()));
    };
    if (array.read || !array.next) {
      pointer(array.written && !array.next ? "" : "const ", read_pointer(job_, i));
    }
    if (array.next) pointer("", write_pointer(job_, i));
  }
  pointers += code("double* scalars = (double*)args[{}]{};\n", argument,
                   own(static_cast<std::int64_t>(bindings_.slots.size())));
  slots["pointers"] = pointers;
  slots["instance"] =
      kernel_.instances > 1 ? code("const long instance = task / {};\n", blocks) : Code();
  const Code real = pair_type();
  slots["near_memory"] = each(split_.near.values.size(), [&](std::size_t i) {
    return code("{} near_{}[{}];\n", real, i, kBlock);
  });
  slots["far_memory"] = each(split_.far.values.size(), [&](std::size_t i) {
    return code("{} far_{}[{}];\n", real, i, kTile);
  });
  slots["gather_near"] = gather(near_, "at", kernel_.planes ? "(origin + at)" : "at");
  slots["gather_far"] = gather(far_, "at", kernel_.planes ? "site" : "at");
  slots["far_at"] = far_at("first + j");
  slots["keep_near"] = each(split_.near.values.size(), [&](std::size_t i) {
    return code("near_{}[k] = {}out.{};\n", i, rounded(), near_.store_members[i]);
  });
  slots["keep_far"] = each(split_.far.values.size(), [&](std::size_t i) {
    return code("far_{}[j] = {}out.{};\n", i, rounded(), far_.store_members[i]);
  });
  slots["sums"] =
      each(terms, [&](std::size_t k) { return code("double sum_{}[{}] = {{0.0}};\n", k, kBlock); });
  slots["parts"] = each(
      terms, [&](std::size_t k) { return code("{} part_{}[{}] = {{0}};\n", real, k, kLanes); });
  slots["add_parts"] = each(terms, [&](std::size_t k) {
    return code("sum_{0}[lane + l] = sum_{0}[lane + l] + (double)part_{0}[l];\n", k);
  });
  slots["pair_inputs"] = pair_inputs("[lane + l]", "[j]", "start + lane + l");
  slots["add_terms"] = add_terms("[l]", "first + j == " + number_of("start") + " + lane + l");
  slots["store"] = each(terms, [&](std::size_t k) {
    const std::size_t array = position(kernel_, kernel_.stores[k].array);
    return code("{}[start + k] = {}sum_{}[k];\n", write_pointer(job_, array),
                kernel_.arrays[array].store == Precision::F32 ? "(float)" : "", k);
  });
  program::Kernel out;
  out.entry = job_.entry;
  out.source = finished(fill("pairs_cpp.txt", slots));
  out.arguments = arguments(job_, bindings_, false, 0);
  out.grid[0] = static_cast<std::uint32_t>(blocks * kernel_.instances);
  return out;
}

}  // namespace

program::Kernel emit_pairs(const kernel::Kernel& kernel, const TargetInfo& target,
                           const Bindings& bindings) {
  return Pairs(kernel, target, bindings).emit();
}

Stage pairs_stage(const kernel::Kernel& kernel, const TargetInfo& target,
                  const Bindings& bindings) {
  return Pairs(kernel, target, bindings).stage();
}

}  // namespace vphi::emit
