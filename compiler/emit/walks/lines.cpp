#include "compiler/emit/walks/lines.hpp"

#include "compiler/algebra/axis_names.hpp"
#include "compiler/emit/text/reading.hpp"
#include "compiler/emit/walks/lines_rows.hpp"
#include "compiler/emit/walks/lines_runs.hpp"
#include "compiler/emit/walks/lines_x.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <stdexcept>

namespace vphi::emit {
namespace {

using physics::Boundary;

constexpr int kAhead = 2;  ///< quads under way

/// Registers for what is held decide how many groups stay on a processor at once.
int line_occupancy(const Job& job, const kernel::Line& line, int threads) {
  const int words = static_cast<int>(line.held.size()) * (job.body.real == Precision::F32 ? 1 : 2);
  const int warps = words <= 30 ? 24 : words <= 52 ? 16 : words <= 120 ? 12 : 8;
  return std::max(1, warps * 32 / threads);
}

class Writer {
 public:
  Writer(const Job& job, const kernel::Line& line, int threads)
      : job_(job), line_(line), threads_(threads), shape_(line_shape(line)) {
    read_ = arrays_read(job.kernel);
    ring_ = ring_precision(job.kernel);
    const int most = 16 / bytes_of(ring_);
    if (job.dialect.can.copy_together && line.axis > 0 && one_precision(job.kernel) &&
        shape_.stride % most == 0 && shape_.first_line % most == 0 &&
        shape_.lines_together % most == 0)
      lines_ = most;
  }

  int quads_back() const { return (line_.back + kLineQuad - 1) / kLineQuad; }
  int ring_quads() const { return 1 + quads_back() + kAhead; }
  int quad_words() const { return kLineQuad * static_cast<int>(read_.size()) * threads_; }
  int ring_words() const { return ring_quads() * quad_words(); }
  /// Neighbouring lines of which a copy brings a cell each: 16 bytes, or one.
  int lines_of_copy() const { return lines_; }

  Code slots() const {
    Code text = "unsigned ring_0 = thread, ";
    if (lines_ == 1) {
      text += "ring_load = thread;\n";
    } else {
      text += code(
          "ring_load = thread / 32u * 32u + thread % {0}u * {1}u + thread % 32u / {0}u * {2}u;\n",
          32 / lines_, lines_, static_cast<int>(read_.size()) * threads_);
    }
    for (int k = 1; k <= quads_back(); ++k) {
      text += code("unsigned ring_{} = thread + {}u;\n", k, (ring_quads() - k) * quad_words());
    }
    return text;
  }
  Code iteration() const {
    Code text;
    for (int k = quads_back(); k > 0; --k) text += code("ring_{} = ring_{};\n", k, k - 1);
    return text + next("ring_0");
  }

  /// The next quad of cells on its way to the ring: by each thread those of its own line, or by the
  /// threads of a warp together, vectors of neighbouring lines in several rows at once.
  Code copy() const {
    Code text = code(
        "VPHI_UNROLL\nfor (int r = 0; r < {}; r += {}) {{\n"
        "  const vphi_index at = {} + (vphi_index)vphi_cell_{}(load + r) * {};\n",
        kLineQuad, lines_, lines_ > 1 ? "copied_base" : "base", job_.body.suffix,
        index_literal(job_, shape_.stride));
    for (std::size_t q = 0; q < read_.size(); ++q) {
      Code to = code("ring + (ring_load + (r * {} + {}) * {}u)", read_.size(), q, threads_);
      Code from = read_pointer(job_, read_[q]) + " + at";
      if (lines_ > 1) {
        to = code("(VPHI_LOCAL_POINTER {}*)({})", copied(), to);
        from = code("(VPHI_GLOBAL const {}*)({})", copied(), from);
      }
      text += code("  {}({}, {});\n", narrow(read_[q]) ? "vphi_copy_one" : "vphi_copy_number",
                   narrow(read_[q]) ? "(VPHI_LOCAL_POINTER float*)(" + to + ")" : to, from);
    }
    return text + code("}}\nload += {};\n", kLineQuad) + next("ring_load");
  }
  /// What a copy takes.
  Code copied() const { return type_name(ring_) + (lines_ > 1 ? std::to_string(lines_) : Code()); }
  /// Where the copies of this thread come from and with which cell they begin.
  Code copied_lines() const {
    if (lines_ == 1) return "int load = cell;\n";
    return code(
        "const vphi_index wish = (vphi_index)bundle * {0}u + thread / 32u * 32u +\n"
        "    thread % {1}u * {2}u;\n"
        "const vphi_index others = vphi_select_index(wish < {3}, wish, {4});\n"
        "const vphi_index copied_base = {5};\n"
        "int load = cell + (int)(thread % 32u / {1}u);\n",
        threads_, 32 / lines_, lines_, index_literal(job_, shape_.lines),
        index_literal(job_, shape_.lines - lines_), base("others"));
  }
  /// The synchronisation of threads that read each other's copies.
  Code meet() const { return lines_ > 1 ? "vphi_lanes_meet();\n" : ""; }
  /// The first cell of a line.
  Code base(const Code& counted) const {
    const Code line = line_in_memory(job_, shape_, counted);
    return shape_.stride == 1
               ? code("{} * {}", line, index_literal(job_, shape_.extent))
               : code("{0} / {1} * {2} + {0} % {1}", line, index_literal(job_, shape_.stride),
                      index_literal(job_, shape_.stride * shape_.extent));
  }

  /// Four steps; `warm`: of those that begin a walk.
  Code rows(const Warm* warm) const {
    Code text;
    for (int row = 0; row < kLineQuad; ++row) text += warm ? warm_step(*warm, row) : step(row);
    return text;
  }

  Code held() const { return held_text(job_, line_); }

 private:
  /// Stored in f32 among others in f64: the first half of its place in the ring.
  bool narrow(std::size_t array) const { return job_.kernel.arrays[array].store != ring_; }
  Code next(const Code& slot) const {
    return code("{0} = {0} >= {1}u ? {0} - {1}u : {0} + {2}u;\n", slot,
                (ring_quads() - 1) * quad_words(), quad_words());
  }

  /// The reads of the step for row `row` of the quad, and the values it hands on.
  Code take(const Job& job, int row, const std::vector<kernel::Line::Held>& held) const {
    const auto load = [&](const Read& read, int age) {
      const int place = row - age, back = quads_before(place);
      const auto q = static_cast<int>(place_in(read_, position(job.kernel, read.array)));
      const int number = (place + back * kLineQuad) * static_cast<int>(read_.size()) + q;
      const Code cell = code("ring[ring_{} + {}u]", back, number * threads_);
      return narrow(read_[static_cast<std::size_t>(q)])
                 ? "*(VPHI_LOCAL_POINTER const float*)&" + cell
                 : cell;
    };
    return take_cells(job, line_, load) + pass_on(job, job_, line_, held);
  }
  Code warm_step(const Warm& warm, int row) const {
    return "{\n" + take(warm.job, row, warm.line.held) + "++cell;\n}\n";
  }
  /// One cell: row `row` of the quad.
  Code step(int row) const {
    Code text = "{\n" + take(job_, row, line_.held);
    Code effects;
    for (std::size_t i = 0; i < job_.kernel.stores.size(); ++i) {
      const std::size_t array = position(job_.kernel, job_.kernel.stores[i].array);
      effects +=
          code("  {}[at] = out.{};\n", write_pointer(job_, array), job_.body.store_members[i]);
    }
    effects += indent(gather_sums(job_, line_, threads_), 2);
    text += code("if ((unsigned)(cell - {} - start) < own_cells) {{\n", line_.delay);
    if (!job_.kernel.stores.empty()) {
      text += code("  const vphi_index at = base + (vphi_index)(cell - {}) * {};\n", line_.delay,
                   index_literal(job_, shape_.stride));
    }
    text += effects + "}\n";
    return text + "++cell;\n}\n";
  }

  const Job& job_;
  const kernel::Line& line_;
  int threads_;
  LineShape shape_;
  Precision ring_ = Precision::F64;
  int lines_ = 1;                  ///< of a copy
  std::vector<std::size_t> read_;  ///< places in kernel.arrays
};

program::Kernel emit_gpu(const Job& job, const kernel::Line& line, const Bindings& bindings) {
  const kernel::Kernel& kernel = job.kernel;
  const LineShape shape = line_shape(line);
  // As many threads a group as its ring allows (48 KiB with the tree of the sums).
  int threads = 128;
  const Precision ring = ring_precision(kernel);
  const auto bytes = [&](int n) {
    return Writer(job, line, n).ring_words() * bytes_of(ring) +
           8 * n * static_cast<int>(kernel.reductions.size()) + 64;
  };
  while (threads > 32 && bytes(threads) > 48 * 1024) threads /= 2;
  const Writer writer(job, line, threads);
  const int blocks = line_occupancy(job, line, threads);
  const std::int64_t bundles = (shape.lines + threads - 1) / threads;
  const std::int64_t units = bundles * shape.run;
  const std::int64_t overlap = line.before + line.delay;
  // Pieces no shorter than what they walk before their first cell.
  const std::int64_t least = 2 * std::max<std::int64_t>(overlap, 4);
  const LineShape slab = shape_of_slab(line);
  const std::int64_t units_of_slab = (slab.lines + threads - 1) / threads * slab.run;
  const std::int64_t wanted =
      kernel.instances > 1 ? bundles : std::int64_t{blocks} * std::max(1, job.target.compute_units);
  const Groups groups{groups_of_walk(kernel, wanted, units / least, units_of_slab / least), 1, 1};
  const std::int64_t partials = groups[0] * static_cast<std::int64_t>(kernel.reductions.size());

  GpuReductions reductions = gpu_reductions(job, threads, rare_sums(line));
  Slots slots = common_slots(job, threads, &groups);
  const bool together = writer.lines_of_copy() > 1;
  slots["copied"] = writer.copied();
  slots["cached"] = together ? "cg" : "ca";
  slots["hint"] = "";
  slots["bytes"] = std::to_string(together ? 16 : bytes_of(ring));
  slots["copied_lines"] = writer.copied_lines();
  slots["meet"] = writer.meet();
  slots["in_flight"] = std::to_string(kAhead - 1);
  slots["ahead"] = std::to_string(kAhead);
  line_slots(job, line, slots);
  slots["blocks"] = std::to_string(blocks);
  slots["instance"] = instance_pointers(job, bindings, partials, job.counts_groups());
  slots["finish_functions"] = reductions.functions;
  slots["local_memory"] = reductions.tree_doubles == 0
                              ? ""
                              : code("VPHI_LOCAL double tree[{}];{}", reductions.tree_doubles,
                                     reductions.last ? "\nVPHI_LOCAL unsigned last;" : "");
  slots["ring"] = std::to_string(writer.ring_words());
  slots["sums"] = reductions.sums;
  slots["finish"] = reductions.finish;
  slots["still"] = still_text(job, line, bindings, threads);
  slots["units"] = std::to_string(units);
  slots["count"] = count_type(units, groups[0]);
  slots["extent"] = std::to_string(shape.run);
  slots["first_cell"] = shape.first_cell > 0 ? code("{} + ", shape.first_cell) : Code();
  slots["end_cell"] = std::to_string(shape.first_cell + shape.run);
  slots["lines"] = index_literal(job, shape.lines);
  slots["last_line"] = index_literal(job, shape.lines - 1);
  slots["before"] = std::to_string(line.before);
  slots["overlap"] = std::to_string(overlap);
  slots["base"] = writer.base("line");
  slots["coordinates"] = coordinates_text(job, line);
  slots["slots"] = writer.slots();
  slots["held"] = writer.held();
  slots["copy"] = writer.copy();
  const Warm warm(line, job.target, bindings);
  slots["body"] += warm.functions();
  slots["warm_par"] = warm.parameters();
  slots["rows"] = warm.iteration(0, warm.any() ? writer.rows(&warm) : "", writer.rows(nullptr));
  slots["iteration"] = writer.iteration();

  program::Kernel out;
  out.source = finished(fill("lines_gpu.txt", slots));
  out.partials = partials * kernel.instances;
  out.arguments = arguments(job, bindings, job.counts_groups(), partials);
  out.grid = grid_of(job, groups);
  out.block = {static_cast<std::uint32_t>(threads), 1, 1};
  return out;
}

}  // namespace

int quads_before(int place) { return place >= 0 ? 0 : (-place + kLineQuad - 1) / kLineQuad; }

bool one_precision(const kernel::Kernel& kernel) {
  return std::ranges::all_of(kernel.arrays, [&](const kernel::ArrayParam& array) {
    return array.store == kernel.arrays.front().store;
  });
}

Precision ring_precision(const kernel::Kernel& kernel) {
  return one_precision(kernel) ? kernel.arrays.front().store : Precision::F64;
}

std::vector<std::size_t> arrays_read(const kernel::Kernel& kernel) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < kernel.arrays.size(); ++i) {
    if (kernel.arrays[i].read) places.push_back(i);
  }
  return places;
}

std::size_t place_in(const std::vector<std::size_t>& places, std::size_t array) {
  return static_cast<std::size_t>(std::find(places.begin(), places.end(), array) - places.begin());
}

Code take_cells(const Job& job, const kernel::Line& line,
                const std::function<Code(const Read&, int)>& load) {
  Code text = "vphi_in_" + job.body.suffix + " in;\n";
  for (const Read& read : job.body.reads) {
    const int age = -read.offsets[0].d[line.axis];
    const Code cell = age == 0 ? "cell" : code("(cell - {})", age);
    text += code("in.{} = {};\n", read.member,
                 at_boundary(job, line, read.array, cell, load(read, age)));
  }
  return text;
}

Code coordinates_text(const Job& job, const kernel::Line& line) {
  Code text, rest = "base";
  for (int axis = 0; axis < job.kernel.dims; ++axis) {
    const auto a = static_cast<std::size_t>(axis);
    const Code extent = index_literal(job, job.kernel.extent[a]);
    if (axis != line.axis && job.body.site_axis[a])
      text += code("const vphi_index {} = {} % {};\n", algebra::kAxisNames[axis], rest, extent);
    rest += " / " + extent;
  }
  return text;
}

void line_slots(const Job& job, const kernel::Line& line, Slots& slots) {
  const Precision ring = ring_precision(job.kernel);
  const Precision least = one_precision(job.kernel) ? ring : Precision::F32;
  slots["ring_real"] = type_name(ring);
  slots["real"] = type_name(least);
  slots["real_bytes"] = std::to_string(bytes_of(least));
  slots["fast_math"] = job.kernel.fast && !job.body.handed_members.empty()
                           ? fast_math_functions(job.body.real, job.dialect)
                           : "";
  slots["copy_functions"] = fill(job.dialect.texts.line_copies, slots);
  slots["count_of"] = count_of(job, line);
  slots["cell"] = cell_of(line, "i");
}

Code count_type(std::int64_t units, std::int64_t groups) {
  return units <= std::numeric_limits<std::uint32_t>::max() / std::max<std::int64_t>(groups, 1)
             ? "unsigned"
             : "unsigned long";
}

Code fast_math_functions(Precision real, const Dialect& dialect) {
  if (real == Precision::F32) return fill(dialect.texts.quick_lines, {});
  return fill(dialect.texts.seeds, {}) + fill("near_math_f64.txt", {}) +
         fill("fast_math_lines_f64.txt", {}) + fill("least_f64.txt", {});
}

Code count_of(const Job& job, const kernel::Line& line) {
  if (line.still.empty()) return {};
  const char* type = job.signed_index ? "long" : "unsigned";
  return Code::item("vphi_count_of",
                    code("// A scalar that counts; it does not depend on what lies at the sites.\n"
                         "VPHI_INLINE {0} vphi_count_of(double whole) {{ return ({0})whole; }}\n",
                         type));
}

Code still_test(const kernel::Line& line, const Bindings& bindings) {
  const auto slot = std::find(bindings.slots.begin(), bindings.slots.end(), line.still);
  return code("vphi_count_of(scalars[{}]) != 0",
              slot_text(bindings, slot - bindings.slots.begin()));
}

std::vector<bool> rare_sums(const kernel::Line& line) {
  std::vector<bool> result;
  for (const auto& places : line.only) result.push_back(places.has_value());
  return result;
}

Code at_places(const kernel::Line& line, std::size_t reduction) {
  Code text;
  for (const std::int64_t place : *line.only[reduction]) {
    text += code("{}(cell == {})", text.empty() ? "" : " | ", place + line.delay);
  }
  return text.empty() ? "0" : text;
}

Code gather_sums(const Job& job, const kernel::Line& line, int threads) {
  Code text;
  std::map<Code, Code> rare;  // by place
  for (std::size_t i = 0; i < job.kernel.reductions.size(); ++i) {
    const Code value = "out." + job.body.reduction_members[i];
    if (!line.only[i]) {
      text += accumulate(job, i, value);
      continue;
    }
    rare[at_places(line, i)] +=
        code("  tree[{0}u + thread] += (double){1};\n", static_cast<int>(i) * threads, value);
  }
  for (const auto& [test, sums] : rare) text += code("if ({}) {{\n{}}}\n", test, sums);
  return text;
}

Code held_text(const Job& job, const kernel::Line& line) {
  Code text;
  for (const kernel::Line::Held& held : line.held)
    text +=
        code("{} {} = {};\n", type_name(job.body.real), held.name, literal(0.0L, job.body.real));
  return text;
}

Code call_step(const Job& job, const kernel::Line& line,
               const std::function<Code(const std::string&)>& symbol, const Code& par) {
  const Code real = type_name(job.body.real);
  Code text;
  for (const auto& [name, member] : job.body.shared)
    text += code("in.{} = {};\n", member, symbol(name));
  for (int axis = 0; axis < 4; ++axis) {
    if (!job.body.site_axis[static_cast<std::size_t>(axis)]) continue;
    const Code place = axis == line.axis        ? "cell"
                       : axis < job.kernel.dims ? algebra::kAxisNames[axis]
                                                : "0";
    text += code("in.site_{} = {};\n", algebra::kAxisNames[axis],
                 in_whole_lattice(job.body, static_cast<std::size_t>(axis),
                                  code("({}){}", real, place), par));
  }
  if (text.empty() && job.body.reads.empty())
    text += code("in.none = {};\n", literal(0.0L, job.body.real));
  return text + code("const vphi_out_{0} out = vphi_site_{0}(in, {1});\n", job.body.suffix, par);
}

Code pass_on(const Job& job, const Job& all, const kernel::Line& line,
             const std::vector<kernel::Line::Held>& held) {
  Code text = call_step(
      job, line, [](const std::string& symbol) { return Code(symbol); },
      job.body.suffix == all.body.suffix ? "par" : "warm_par");
  for (std::size_t i = 0; i < held.size(); ++i)
    text += code("{} = out.{};\n", held[i].name, job.body.handed_members[i]);
  return text;
}

Code still_text(const Job& job, const kernel::Line& line, const Bindings& bindings, int threads) {
  if (line.still.empty()) return {};
  Code text = code(
      "const vphi_index copies = vphi_select_index({}, {}, 0u);\n"
      "VPHI_ROLLED\n"
      "for (vphi_index at = (vphi_index)vphi_group() * {}u + thread; at < copies;\n"
      "     at += (vphi_index)vphi_groups() * {}u) {{\n",
      still_test(line, bindings), index_literal(job, job.kernel.sites()), threads, threads);
  for (std::size_t i = 0; i < job.kernel.arrays.size(); ++i) {
    if (!job.kernel.arrays[i].written) continue;
    text += code("  {}[at] = {}[at];\n", write_pointer(job, i), read_pointer(job, i));
  }
  return text + "}\nif (copies > 0u) from = to;\n";
}

Job line_job(const kernel::Line& line, const TargetInfo& target, const Bindings& bindings) {
  Handed handed;
  for (const kernel::Line::Held& held : line.held) handed.emplace_back(held.name, held.value);
  return make_job(line.step, target, bindings, line.names(), handed, Taken::InParts);
}

Boundary boundary_of(const kernel::Line& line) {
  return line.step.boundary[static_cast<std::size_t>(line.axis)];
}

Code cell_of(const kernel::Line& line, const Code& i) {
  const std::int64_t n = line_shape(line).extent;
  switch (boundary_of(line)) {
    case Boundary::Periodic:
    case Boundary::Antiperiodic:
      return code("{0} < 0 ? {0} + {1} : {0} >= {1} ? {0} - {1} : {0}", i, n);
    case Boundary::Neumann:
      return code("{0} < 0 ? -1 - {0} : {0} >= {1} ? 2 * {1} - 1 - {0} : {0}", i, n);
    case Boundary::Fixed:
    case Boundary::Outflow:
      return code("{0} < 0 ? 0 : {0} >= {1} ? {1} - 1 : {0}", i, n);
    case Boundary::Absorbing:
      break;
  }
  throw std::invalid_argument("a walk along lines with absorbing ends");
}

Code at_boundary(const Job& job, const kernel::Line& line, int array, const Code& i,
                 const Code& load) {
  const Boundary boundary = boundary_of(line);
  const bool fixed = boundary == Boundary::Fixed;
  if (!fixed && boundary != Boundary::Antiperiodic && !line.odd.contains(array)) return load;
  const char* type = job.body.real == Precision::F32 ? "f32" : "f64";
  const Code beyond = code("({0} < 0) | ({0} >= {1})", i, line_shape(line).extent);
  const Code shown =
      fixed ? literal(static_cast<long double>(job.kernel.fixed_value), job.body.real) : "-" + load;
  return code("vphi_select_{}({}, {}, {})", type, beyond, shown, load);
}

kernel::SiteFunction step_of(const kernel::Line& line) {
  kernel::SiteFunction function{
      .kernel = line.step, .at_site = line.given, .phase = !line.given.empty()};
  for (const kernel::Line::Held& held : line.held) function.held.push_back({held.name, held.value});
  return function;
}

program::Kernel emit_lines(const kernel::Line& line, const TargetInfo& target,
                           const Bindings& bindings) {
  const Job job = line_job(line, target, bindings);
  program::Kernel out = job.signed_index && line.run > 0 ? emit_lines_runs(job, line, bindings)
                        : job.signed_index               ? emit_lines_rows(job, line, bindings)
                        : along_pieces(job, line)        ? emit_lines_x(job, line, bindings)
                                                         : emit_gpu(job, line, bindings);
  out.entry = job.entry;
  return out;
}

}  // namespace vphi::emit
