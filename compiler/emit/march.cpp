#include "compiler/emit/march.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/emit/march_plan.hpp"

namespace vphi::emit {
namespace {

// Writes the slots of march_gpu.txt.
class March {
 public:
  March(const Job& job, const MarchShape& shape)
      : job_(job), kernel_(job.kernel), shape_(shape), plan_(plan_march(job)) {
    apply_shape(job, shape, plan_);
    lanes_exchange_ = job.language == Language::Cuda || job.target.nvidia;
  }
  const MarchPlan& plan() const { return plan_; }
  bool exchanges_lanes() const { return lanes_exchange_; }

  std::string copy_places() const;
  std::string edge_places() const;
  std::string copy_halo() const;
  std::string copy_edges() const;
  std::string copy_centre() const;
  std::string carried() const;
  std::string plane_sums() const;
  std::string centres() const;
  std::string parts() const;
  std::string gather() const;
  std::string put() const;
  std::string store() const;
  std::string accumulate_parts() const;
  std::string shift() const;

 private:
  std::string name(const Staged& staged) const { return job_.body.array_names[staged.array]; }
  std::string real() const { return type_name(job_.body.real); }
  std::string idx(std::int64_t value) const { return index_literal(job_, value); }
  std::int64_t nx() const { return kernel_.extent[0]; }
  std::int64_t ny() const { return kernel_.extent[1]; }
  int rows_read() const { return shape_.rows_per_thread + 2 * plan_.reach_y; }
  int edge_rows() const { return shape_.tile_y() + 2 * plan_.edge_y; }
  bool has_halo() const;
  std::string scalars_of(const Staged& staged) const;
  std::string column(const Staged& staged, std::size_t index) const;
  std::string sum(const Staged& staged, const PlaneSum& plane_sum) const;
  std::string pattern(const Staged& staged, const PlaneSum& plane_sum, int offset) const;
  std::string weighted(std::int64_t weight, const std::string& value) const;

  const Job& job_;
  const kernel::Kernel& kernel_;
  const MarchShape& shape_;
  MarchPlan plan_;
  bool lanes_exchange_ = false;
};

bool March::has_halo() const {
  return std::any_of(plan_.arrays.begin(), plan_.arrays.end(),
                     [](const Staged& staged) { return staged.halo; });
}

// Offsets of the rows this thread copies, within a plane; and of one vector beyond the tile's
// sides.
std::string March::copy_places() const {
  const int copies = (plan_.halo_rows + shape_.lines - 1) / shape_.lines;
  std::string text = fmt::format(
      "vphi_index row_at[{0}];\nVPHI_UNROLL\nfor (int i = 0; i < {0}; ++i)\n"
      "  row_at[i] = vphi_wrapped(vphi_wrapped(y0, {1}, {2}), (line + i * {3}u) % {2}, {2})*{4} + "
      "x;\n",
      copies, idx(ny() - plan_.reach_y), idx(ny()), shape_.lines, idx(nx()));
  if (plan_.side == 0) return text;
  const int both = 2 * plan_.side;
  return text + fmt::format(
                    "const unsigned edge_row = thread/{0}u + {1}u, edge_side = thread % {0}u;\n"
                    "const unsigned edge_vector = edge_side + vphi_select_index(edge_side < {2}u, "
                    "0, {3});\n"
                    "const unsigned edge_to = edge_row*{4}u + edge_vector;\n"
                    "const vphi_index edge_at =\n"
                    "    vphi_wrapped(vphi_wrapped(y0, {5}, {6}), edge_row % {6}, {6})*{7} +\n"
                    "    vphi_wrapped(vphi_wrapped(x0, {8}, {7}), edge_vector*{9} % {7}, {7});\n",
                    both, plan_.reach_y - plan_.edge_y, plan_.side, idx(shape_.lanes),
                    plan_.row_vectors, idx(ny() - plan_.reach_y), idx(ny()), idx(nx()),
                    idx(nx() - plan_.side * plan_.width), plan_.width);
}

// Places in a staged row of the values that lie beyond this thread's vector or its warp's.
std::string March::edge_places() const {
  if (plan_.reach_x == 0) return {};
  const int segment = std::min(32, shape_.lanes), base = plan_.side * plan_.width;
  std::string text;
  if (lanes_exchange_)
    text +=
        fmt::format("const int first_lane = lane % {0}u == 0u, last_lane = lane % {0}u == {1}u;\n",
                    segment, segment - 1);
  for (int d = 1; d <= plan_.reach_x; ++d) {
    // A tile that is a whole row finds its neighbours at the other end of it.
    const std::string below =
        plan_.side > 0 ? fmt::format("{}u + lane*{}u - {}u", base, plan_.width, d)
                       : fmt::format("(lane*{}u + {}u) % {}u", plan_.width, nx() - d, nx());
    const std::string lane = lanes_exchange_ ? fmt::format("(lane | {}u)", segment - 1) : "lane";
    const std::string above =
        plan_.side > 0
            ? fmt::format("{}u + {}*{}u + {}u", base, lane, plan_.width, plan_.width + d - 1)
            : fmt::format("({}*{}u + {}u) % {}u", lane, plan_.width, plan_.width + d - 1, nx());
    if (lanes_exchange_) {
      text += fmt::format(
          "const unsigned beyond_{} =\n    (unsigned)vphi_select_index(first_lane, {},\n"
          "                                {});\n",
          d, below, above);
    } else {
      text += fmt::format("const unsigned below_{0} = {1};\nconst unsigned above_{0} = {2};\n", d,
                          below, above);
    }
  }
  return text;
}

std::string March::copy_halo() const {
  if (!has_halo()) return {};
  const int full = plan_.halo_rows / shape_.lines;
  const int copies = (plan_.halo_rows + shape_.lines - 1) / shape_.lines;
  std::string copy;
  for (const Staged& staged : plan_.arrays)
    if (staged.halo)
      copy += fmt::format(
          "    vphi_copy16(to + {0} + row*{1}u + {2}u + lane,\n"
          "                {3} + (halo_plane + row_at[i]));\n",
          staged.first_vector, plan_.row_vectors, plan_.side, read_pointer(job_, staged.array));
  return fmt::format(
      "VPHI_UNROLL\nfor (int i = 0; i < {0}; ++i) {{\n"
      "  const unsigned row = line + i * {1}u;\n"
      "  if ({2}) {{\n{3}  }}\n}}\n",
      copies, shape_.lines,
      full == copies ? "1" : fmt::format("i < {} || row < {}u", full, plan_.halo_rows), copy);
}

std::string March::copy_edges() const {
  if (plan_.side == 0 || !has_halo()) return {};
  std::string text = fmt::format("if (thread < {}u) {{\n", edge_rows() * 2 * plan_.side);
  for (const Staged& staged : plan_.arrays)
    if (staged.halo)
      text += fmt::format("  vphi_copy16(to + {} + edge_to, {} + (halo_plane + edge_at));\n",
                          staged.first_vector, read_pointer(job_, staged.array));
  return text + "}\n";
}

std::string March::copy_centre() const {
  std::string text;
  for (const Staged& staged : plan_.arrays)
    if (!staged.halo)
      for (int j = 0; j < shape_.rows_per_thread; ++j)
        text += fmt::format(
            "  vphi_copy16(to + {0} + (line + {1}u)*{2}u + lane,\n"
            "              {3} + (centre_plane + (y0 + line + {1}u)*{4} + x));\n",
            staged.first_vector, j * shape_.lines, shape_.lanes, read_pointer(job_, staged.array),
            idx(nx()));
  if (text.empty()) return {};
  return fmt::format("if (load_step >= {}u) {{\n{}  centre_plane += {};\n}}\n", 2 * plan_.depth,
                     text, idx(nx() * ny()));
}

// Shares of planes still to come, and the values of the planes whose sums are not complete.
std::string March::carried() const {
  std::string text;
  const int rows = shape_.rows_per_thread;
  for (const Staged& staged : plan_.arrays) {
    if (!staged.halo) continue;
    for (const PlaneSum& s : staged.sums) {
      const std::string member = job_.body.reads[s.read].member;
      text += fmt::format("{} {}[{}][{}];\n", real(), member, rows, plan_.width);
      if (plan_.depth > 0)
        text += fmt::format("{} {}_share[{}][{}][{}] = {{{{{{0}}}}}};\n", real(), member,
                            2 * plan_.depth, rows, plan_.width);
    }
    if (staged.centre)
      text += fmt::format("vphi_pack {}_waiting[{}][{}];\n", name(staged), plan_.depth + 1, rows);
  }
  return text;
}

std::string March::weighted(std::int64_t weight, const std::string& value) const {
  if (weight == 1) return value;
  return literal(static_cast<long double>(weight), job_.body.real) + "*" + value;
}

// One column for all x of the thread's vector and its reach on both sides.
std::string March::column(const Staged& staged, std::size_t index) const {
  const Column& c = staged.columns[index];
  const std::string array = name(staged), column = fmt::format("{}_column{}", array, index);
  const auto added = [&](const std::string& row_value) {
    std::string text;
    for (int dy : c.dy)
      text += (text.empty() ? "" : " + ") +
              fmt::format(fmt::runtime(row_value), fmt::arg("row", plan_.reach_y + dy));
    return text;
  };
  std::string text = fmt::format(
      "VPHI_UNROLL\nfor (int j = 0; j < {0}; ++j) {{\n  VPHI_UNROLL\n  for (int i = 0; i < {1}; "
      "++i)\n"
      "    {2}[j][{3} + i] = {4};\n",
      shape_.rows_per_thread, plan_.width, column, c.reach, added(array + "_rows[j + {row}].e[i]"));
  for (int d = 1; d <= c.reach; ++d) {
    const auto beyond = [&](const std::string& place) {
      return added(fmt::format("{0}_here[(line*{1}u + j + {{row}}u)*{2}u + {3}]", array,
                               shape_.rows_per_thread, plan_.row_vectors * plan_.width, place));
    };
    const int low = c.reach - d, high = c.reach + plan_.width + d - 1;
    if (lanes_exchange_) {
      const char* s = job_.body.real == Precision::F32 ? "f32" : "f64";
      text += fmt::format(
          "  const {0} beyond_value_{1} = {2};\n"
          "  const {0} below_value_{1} = vphi_lane_below({3}[j][{4}]);\n"
          "  const {0} above_value_{1} = vphi_lane_above({3}[j][{5}]);\n"
          "  {3}[j][{6}] = vphi_select_{8}(first_lane, beyond_value_{1}, "
          "below_value_{1});\n"
          "  {3}[j][{7}] = vphi_select_{8}(last_lane, beyond_value_{1}, "
          "above_value_{1});\n",
          real(), d, beyond(fmt::format("beyond_{}", d)), column, c.reach + plan_.width - d,
          c.reach + d - 1, low, high, s);
    } else {
      text +=
          fmt::format("  {0}[j][{1}] = {2};\n  {0}[j][{3}] = {4};\n", column, low,
                      beyond(fmt::format("below_{}", d)), high, beyond(fmt::format("above_{}", d)));
    }
  }
  return fmt::format("{} {}[{}][{}];\n", real(), column, shape_.rows_per_thread,
                     plan_.width + 2 * c.reach) +
         text + "}\n";
}

// The share of this plane in the sum of the plane `-offset` away; empty where it has none.
std::string March::pattern(const Staged&, const PlaneSum& s, int offset) const {
  for (const algebra::Plane& plane : s.plan.planes)
    if (plane.offset == offset) return fmt::format("share_{}", plane.pattern);
  return {};
}

std::string March::sum(const Staged& staged, const PlaneSum& s) const {
  const std::string member = job_.body.reads[s.read].member;
  std::string text;
  for (std::size_t c = 0; c < s.terms.size(); ++c) {
    std::string points;
    for (const auto& [column, dx] : s.terms[c])
      points +=
          (points.empty() ? "" : " + ") + fmt::format("{}_column{}[j][i + {}]", name(staged),
                                                      column, staged.columns[column].reach + dx);
    text += fmt::format("const {} class_{} = {};\n", real(), c, points);
  }
  for (std::size_t p = 0; p < s.plan.patterns.size(); ++p) {
    std::string share;
    for (std::size_t c = 0; c < s.terms.size(); ++c)
      if (s.plan.patterns[p][c] != 0)
        share += (share.empty() ? "" : " + ") +
                 weighted(s.plan.patterns[p][c], fmt::format("class_{}", c));
    text += fmt::format("const {} share_{} = {};\n", real(), p, share);
  }
  // Plane k: the sum of plane k - depth is complete, the others move up.
  const int depth = plan_.depth;
  const auto plus = [&](const std::string& a, const std::string& b) {
    return a.empty() ? b : b.empty() ? a : a + " + " + b;
  };
  const auto share = [&](int i) { return fmt::format("{}_share[{}][j][i]", member, i); };
  const std::string last = pattern(staged, s, depth);
  text += fmt::format("{}[j][i] = {};\n", member, depth == 0 ? last : plus(share(0), last));
  for (int k = 1; k < 2 * depth; ++k)
    text += fmt::format("{} = {};\n", share(k - 1), plus(share(k), pattern(staged, s, depth - k)));
  if (depth > 0) {
    const std::string first = pattern(staged, s, -depth);
    text += fmt::format("{} = {};\n", share(2 * depth - 1),
                        first.empty() ? literal(0.0L, job_.body.real) : first);
  }
  return fmt::format(
      "VPHI_UNROLL\nfor (int j = 0; j < {}; ++j) {{\n  VPHI_UNROLL\n"
      "  for (int i = 0; i < {}; ++i) {{\n{}  }}\n}}\n",
      shape_.rows_per_thread, plan_.width, indent(text, 4));
}

std::string March::plane_sums() const {
  std::string text;
  for (const Staged& staged : plan_.arrays) {
    if (!staged.halo) continue;
    const std::string array = name(staged);
    std::string block = fmt::format(
        "vphi_pack {0}_rows[{1}];\nVPHI_UNROLL\nfor (int j = 0; j < {1}; ++j)\n"
        "  {0}_rows[j].v = here[{2} + (line*{3}u + j)*{4}u + {5}u + lane];\n",
        array, rows_read(), staged.first_vector, shape_.rows_per_thread, plan_.row_vectors,
        plan_.side);
    const bool reaches = std::any_of(staged.columns.begin(), staged.columns.end(),
                                     [](const Column& c) { return c.reach > 0; });
    if (reaches)
      block += fmt::format(
          "const VPHI_LOCAL_POINTER {0}* {1}_here =\n"
          "    (const VPHI_LOCAL_POINTER {0}*)(here + {2});\n",
          real(), array, staged.first_vector);
    for (std::size_t c = 0; c < staged.columns.size(); ++c) block += column(staged, c);
    for (const PlaneSum& s : staged.sums) block += sum(staged, s);
    if (staged.centre)
      block += fmt::format(
          "VPHI_UNROLL\nfor (int j = 0; j < {0}; ++j)\n"
          "  {1}_waiting[{2}][j] = {1}_rows[j + {3}];\n",
          shape_.rows_per_thread, array, plan_.depth, plan_.reach_y);
    text += "{\n" + indent(block, 2) + "}\n";
  }
  return text;
}

// Vectors of the row that is complete now, and those it will be stored from.
std::string March::centres() const {
  std::string text;
  for (const Staged& staged : plan_.arrays)
    if (!staged.halo)
      text += fmt::format(
          "vphi_pack {0}_here;\n{0}_here.v = here[{1} + (line*{2}u + j)*{3}u + lane];\n",
          name(staged), staged.first_vector, shape_.rows_per_thread, shape_.lanes);
  for (const std::string& member : job_.body.store_members)
    text += fmt::format("vphi_pack {};\n", member);
  return text;
}

std::string March::parts() const {
  std::string text;
  for (const std::string& member : job_.body.reduction_members)
    text += fmt::format("{} {}_part[{}];\n", real(), member, plan_.width);
  return text;
}

std::string March::gather() const {
  std::string text;
  for (const Staged& staged : plan_.arrays) {
    if (staged.centre)
      text += fmt::format("in.{} = {};\n", job_.body.reads[staged.centre_read].member,
                          staged.halo ? fmt::format("{}_waiting[0][j].e[i]", name(staged))
                                      : fmt::format("{}_here.e[i]", name(staged)));
    for (const PlaneSum& s : staged.sums)
      text += fmt::format("in.{0} = {0}[j][i];\n", job_.body.reads[s.read].member);
  }
  const std::string r = real();
  if (job_.body.site_axis[0]) text += fmt::format("in.site_x = ({})(x + i);\n", r);
  if (job_.body.site_axis[1])
    text += fmt::format("in.site_y = ({})(y0 + line*{}u + j);\n", r, shape_.rows_per_thread);
  if (job_.body.site_axis[2])
    text += fmt::format("in.site_z = ({})(z0 + step - {}u);\n", r, 2 * plan_.depth);
  return text;
}

std::string March::put() const {
  std::string text;
  for (const std::string& member : job_.body.store_members)
    text += fmt::format("{0}.e[i] = out.{0};\n", member);
  for (const std::string& member : job_.body.reduction_members)
    text += fmt::format("{0}_part[i] = out.{0};\n", member);
  return text;
}

// Plain stores: marking those of arrays written in place as streaming lost 1 % (H200, 512^3).
std::string March::store() const {
  std::string text;
  for (std::size_t i = 0; i < kernel_.stores.size(); ++i) {
    const std::size_t array = position(kernel_, kernel_.stores[i].array);
    text += fmt::format("vphi_store16({} + (at + j * {}), {}.v);\n", write_pointer(job_, array),
                        idx(nx()), job_.body.store_members[i]);
  }
  return text;
}

std::string March::accumulate_parts() const {
  std::string text;
  for (std::size_t i = 0; i < kernel_.reductions.size(); ++i) {
    const std::string part = job_.body.reduction_members[i] + "_part";
    if (kernel_.reductions[i].kind != kernel::ReduceKind::Sum) {
      for (int e = 0; e < plan_.width; ++e)
        text += accumulate(job_, i, fmt::format("{}[{}]", part, e));
    } else if (plan_.width == 4) {
      text += accumulate(job_, i, fmt::format("({0}[0] + {0}[1]) + ({0}[2] + {0}[3])", part));
    } else {
      text += accumulate(job_, i, fmt::format("{0}[0] + {0}[1]", part));
    }
  }
  return text;
}

std::string March::shift() const {
  std::string text;
  for (const Staged& staged : plan_.arrays)
    if (staged.halo && staged.centre)
      for (int d = 0; d < plan_.depth; ++d)
        text += fmt::format(
            "VPHI_UNROLL\nfor (int j = 0; j < {0}; ++j) {1}_waiting[{2}][j] = "
            "{1}_waiting[{3}][j];\n",
            shape_.rows_per_thread, name(staged), d, d + 1);
  return text;
}

// cp.async where the device has it.
std::string async_text(const Job& job, const MarchShape& shape, bool exchanges, Slots slots) {
  const int segment = std::min(32, shape.lanes);
  slots["clamp_up"] = std::to_string((32 - segment) << 8);
  slots["clamp_down"] = std::to_string(((32 - segment) << 8) | 31);
  slots["segment"] = std::to_string(segment);
  if (job.language == Language::Cuda) return fill("async_cuda.txt", slots);
  if (!exchanges) return fill("async_none.txt", slots);
  slots["lane_exchange"] =
      fill(job.body.real == Precision::F32 ? "lanes_f32.txt" : "lanes_f64.txt", slots);
  return fill("async_nvidia.txt", slots);
}

}  // namespace

program::Kernel emit_march(const Job& job, const Bindings& bindings, const MarchShape& shape) {
  const kernel::Kernel& kernel = job.kernel;
  const March march(job, shape);
  const MarchPlan& plan = march.plan();
  const int threads = shape.threads();
  const bool f32 = job.body.real == Precision::F32;
  GpuReductions reductions = gpu_reductions(job, threads);
  const int vectors =
      std::max(shape.stages * plan.stage_vectors, (reductions.tree_doubles * 8 + 15) / 16);

  Slots slots = common_slots(job, threads);
  const auto number = [&](const char* key, std::int64_t value) {
    slots[key] = std::to_string(value);
  };
  number("resident", shape.resident);
  number("tile_x", shape.lanes * plan.width);
  number("tile_y", shape.tile_y());
  number("stages", shape.stages);
  number("ahead", shape.stages - 1);
  number("in_flight", shape.stages - 2);
  number("lanes_x", shape.lanes);
  number("width", plan.width);
  number("nz", kernel.extent[2]);
  number("rows_per_thread", shape.rows_per_thread);
  number("twice_depth", 2 * plan.depth);
  number("depth_up", kernel.extent[2] - plan.depth);
  number("stage_vectors", plan.stage_vectors);
  number("last_stage", (shape.stages - 1) * plan.stage_vectors);
  slots["nx"] = index_literal(job, kernel.extent[0]);
  slots["plane"] = index_literal(job, kernel.extent[0] * kernel.extent[1]);
  slots["sites"] = index_literal(job, kernel.sites());
  slots["real"] = type_name(job.body.real);
  slots["vector"] = f32 ? "float4" : "double2";
  slots["async"] = async_text(job, shape, march.exchanges_lanes(), slots);
  slots["staging"] = job.language == Language::Cuda
                         ? "extern __shared__ vphi_vector staging[];"
                         : fmt::format("__local vphi_vector staging[{}];", vectors);
  if (!kernel.reductions.empty()) slots["staging"] += "\nVPHI_LOCAL unsigned last;";
  slots["copy_places"] = march.copy_places();
  slots["edge_places"] = march.edge_places();
  slots["copy_halo"] = march.copy_halo();
  slots["copy_edges"] = march.copy_edges();
  slots["copy_centre"] = march.copy_centre();
  slots["carried"] = march.carried();
  slots["plane_sums"] = march.plane_sums();
  slots["centres"] = march.centres();
  slots["parts"] = march.parts();
  slots["gather"] = march.gather();
  slots["put"] = march.put();
  slots["store"] = march.store();
  slots["accumulate"] = march.accumulate_parts();
  slots["shift"] = march.shift();
  slots["sums"] = reductions.sums;
  slots["finish_functions"] = reductions.functions;
  slots["finish"] =
      kernel.reductions.empty()
          ? reductions.finish
          : "vphi_all_arrived();\nvphi_barrier();\n"
            "VPHI_LOCAL_POINTER double* tree = (VPHI_LOCAL_POINTER double*)staging;\n" +
                reductions.finish;
  slots["issue"] = fill("issue_gpu.txt", slots);

  program::Kernel out;
  out.entry = job.entry;
  out.source = prune(fill("march_gpu.txt", slots));
  out.grid = {static_cast<std::uint32_t>(kernel.extent[0] / (shape.lanes * plan.width)),
              static_cast<std::uint32_t>(kernel.extent[1] / shape.tile_y()),
              static_cast<std::uint32_t>(shape.ranges)};
  out.block = {static_cast<std::uint32_t>(threads), 1, 1};
  const std::int64_t groups = std::int64_t{out.grid[0]} * out.grid[1] * out.grid[2];
  out.partials = groups * static_cast<std::int64_t>(kernel.reductions.size());
  out.arguments = arguments(job, bindings, job.epilogue(), out.partials);
  if (job.language == Language::Cuda) out.shared_bytes = static_cast<std::uint32_t>(16 * vectors);
  return out;
}

}  // namespace vphi::emit
