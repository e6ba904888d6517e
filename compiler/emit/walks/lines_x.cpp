#include "compiler/emit/walks/lines_x.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

namespace vphi::emit {
namespace {

constexpr int kLanes = 32;       ///< lines of a group
constexpr int kPieceBytes = 64;  ///< memory is read in units of this

/// Sizes in cells, vectors of 16 bytes and quads of four cells.
struct Pieces {
  int cells = 16;        ///< of a piece
  int quads = 4;         ///< of a piece
  int quad_vectors = 1;  ///< of a quad
  int word = 4;          ///< cells that one copy takes
  int arrays = 0;        ///< read or written, whichever are more
  int late = 2;          ///< quads until the cells of a quad have their new values
  int ring = 2;          ///< pieces in the ring
  int lead = 1;          ///< pieces before the first that is wanted
  int first = 0;         ///< quad of those with which the walk begins
  int shift = 0;         ///< largest shift of a line
};

Pieces pieces_of(const kernel::Line& line) {
  Pieces p;
  const int bytes = bytes_of(ring_precision(line.step));
  p.cells = kPieceBytes / bytes;
  p.quads = p.cells / kLineQuad;
  p.quad_vectors = kLineQuad * bytes / 16;
  const std::int64_t n = line_shape(line).extent;
  p.word = 16 / bytes;
  while (n % p.word != 0) p.word /= 2;
  int read = 0, written = 0;
  for (const kernel::ArrayParam& array : line.step.arrays) {
    read += array.read;
    written += array.written;
  }
  p.arrays = std::max(read, written);
  p.late = (line.delay + kLineQuad - 1) / kLineQuad;
  p.ring = p.late < p.quads ? 2 : 3;
  p.lead = (line.before + p.cells - 1) / p.cells;
  p.first = (p.lead * p.cells - line.before) / kLineQuad;
  if (line.run > 0) return p;  // runs are whole pieces
  // lines begin at multiples of n cells
  for (int k = 0; k < p.cells; ++k) p.shift = std::max(p.shift, static_cast<int>(k * n % p.cells));
  return p;
}

class RowWriter {
 public:
  RowWriter(const Job& job, const kernel::Line& line, const Pieces& pieces)
      : job_(job), line_(line), p_(pieces), shape_(line_shape(line)) {
    read_ = arrays_read(job.kernel);
  }

  int array_vectors() const { return kLanes * kPieceBytes / 16; }
  int piece_vectors() const { return p_.arrays * array_vectors(); }
  int ring_vectors() const { return p_.ring * piece_vectors(); }

  /// Piece `filled` on its way to the ring.
  Code copy() const {
    Code text = code(
        "const unsigned place = (unsigned)filled % {}u * {}u;\n"
        "const int here = first + filled * {} + part;\n",
        p_.ring, piece_vectors(), p_.cells);
    text += lines_head();
    text += in_memory(
        "other", code("vphi_select_index(wish < {}, wish, {})", index_literal(job_, shape_.lines),
                      index_literal(job_, shape_.lines - 1)));
    text += code(
        "  const vphi_index at = {};\n"
        "  const int j = here{};\n",
        base("other"), place("other"));
    text += code("  if ((j >= 0) & (j + {} <= {})) {{\n", p_.word, shape_.extent);
    for (std::size_t q = 0; q < read_.size(); ++q) {
      text += code(
          "    vphi_copy_number((VPHI_LOCAL_POINTER vphi_word*)(to + {}), "
          "(VPHI_GLOBAL const vphi_word*)({} + at + j));\n",
          array_offset(q), read_pointer(job_, read_[q]));
    }
    text += code(
        "  }} else {{\n    VPHI_ROLLED\n    for (int e = 0; e < {}; ++e) {{\n"
        "      const vphi_index cell_there = at + (vphi_index)vphi_cell_{}(j + e);\n",
        p_.word, job_.body.suffix);
    for (std::size_t q = 0; q < read_.size(); ++q) {
      text += code("      vphi_copy_one(to + {} + e, {} + cell_there);\n", array_offset(q),
                   read_pointer(job_, read_[q]));
    }
    return text + "    }\n  }\n}\n";
  }

  /// Piece `done` on its way to the new arrays.
  Code leave() const {
    Code text = code(
        "const unsigned place = (unsigned)done % {}u * {}u;\n"
        "const int here = first + done * {} + part;\n",
        p_.ring, piece_vectors(), p_.cells);
    text += lines_head();
    if (shape_.first_line > 0) text += in_memory("left", "wish");
    const Code line = shape_.first_line > 0 ? "left" : "wish";
    text += code("  const int j = here{};\n", place(line));
    text += code("  if ((wish < {}) & (j >= 0) & (j + {} <= {})) {{\n",
                 index_literal(job_, shape_.lines), p_.word, shape_.extent);
    for (std::size_t q = 0; q < job_.kernel.stores.size(); ++q) {
      text += code(
          "    *(VPHI_GLOBAL vphi_word*)({} + {} + j) = "
          "*(VPHI_LOCAL_POINTER const vphi_word*)(to + {});\n",
          write_pointer(job_, position(job_.kernel, job_.kernel.stores[q].array)), base(line),
          array_offset(q));
    }
    return text + "  }\n}\n";
  }

  /// Where the cells that four steps read lie, and where their new values go.
  Code quads() const {
    std::set<std::pair<std::size_t, int>> wanted;
    std::set<int> backs;
    for (int row = 0; row < kLineQuad; ++row) {
      for (const Vector& v : vectors(job_, row)) {
        wanted.emplace(v.array, v.back);
        backs.insert(v.back);
      }
      backs.insert(quads_before(row - line_.delay));
    }
    Code text;
    for (const int k : backs) {
      for (int h = 0; h < p_.quad_vectors; ++h) {
        text += code("const unsigned spot_{0}_{1} = vphi_spot_{2}(quad - {0}, {1}u, thread);\n", k,
                     h, job_.body.suffix);
      }
    }
    for (const auto& [q, k] : wanted) text += code("vphi_quad quad_{}_{};\n", q, k);
    for (std::size_t q = 0; q < job_.kernel.stores.size(); ++q)
      text += code("vphi_pair new_{};\n", q);
    return text;
  }

  Code rows(const Warm* warm) const {
    Code text;
    for (int row = 0; row < kLineQuad; ++row) text += warm ? warm_step(*warm, row) : step(row);
    return text;
  }

  /// Where a line begins in memory; runs are counted from the first cell of the box on.
  Code base(const Code& line) const {
    return line_.run > 0 ? Code("0u") : code("{} * {}", line, index_literal(job_, shape_.extent));
  }
  /// From a place in the pieces of a line to the cell.
  Code place(const Code& line) const {
    if (line_.run > 0) return code(" + (int)({} * {})", line, index_literal(job_, shape_.run));
    if (p_.shift == 0) return "";
    return code(" - (int)({} * {} % {}u)", line, index_literal(job_, shape_.extent), p_.cells);
  }

  /// Declares the number in memory of a line that is walked.
  Code in_memory(const Code& name, const Code& own) const {
    if (shape_.lines_together == 0)
      return code(
          "  const vphi_index {} = {}{};\n", name, own,
          shape_.first_line > 0 ? code(" + {}", index_literal(job_, shape_.first_line)) : Code());
    return code("  const vphi_index {0}_own = {1};\n  const vphi_index {0} = {2};\n", name, own,
                line_in_memory(job_, shape_, name + "_own"));
  }

 private:
  Code real() const { return type_name(ring_precision(job_.kernel)); }
  int vector_cells() const { return 16 / bytes_of(ring_precision(job_.kernel)); }
  int array_offset(std::size_t q) const {
    return static_cast<int>(q) * array_vectors() * vector_cells();
  }
  int age_of(const Read& read) const { return -read.offsets[0].d[line_.axis]; }
  std::size_t ring_place(const Job& job, const Read& read) const {
    return place_in(read_, position(job.kernel, read.array));
  }

  /// Threads side by side take a piece; a line after the other. `to`: where a word lies in the
  /// ring.
  Code lines_head() const {
    const int words = p_.cells / p_.word;
    return code(
        "VPHI_ROLLED\nfor (unsigned i = 0; i < {0}u; ++i) {{\n"
        "  const unsigned row = thread / {0}u + i * {1}u;\n"
        "  const vphi_index wish = first_line + row;\n"
        "  VPHI_LOCAL_POINTER {2}* to = (VPHI_LOCAL_POINTER {2}*)(ring + place + row * 4u +\n"
        "      (((unsigned)part / {3}u) ^ (row / 2u % 4u))) + (unsigned)part % {3}u;\n",
        words, kLanes / words, real(), vector_cells());
  }

  /// A vector of cells: of the array at that place of the ring, of the quad so many turns ago.
  struct Vector {
    std::size_t array = 0;
    int back = 0, part = 0;
    auto operator<=>(const Vector&) const = default;
  };
  std::set<Vector> vectors(const Job& job, int row) const {
    std::set<Vector> result;
    for (const Read& read : job.body.reads) {
      const int place = row - age_of(read), k = quads_before(place);
      const std::size_t array = ring_place(job, read);
      result.insert({array, k, (place + k * kLineQuad) / vector_cells()});
    }
    return result;
  }
  /// Loads for what row `row` is the first to read, as late as possible, so that few registers are
  /// held.
  Code fetch(const Job& job, int row) const {
    std::set<Vector> wanted = vectors(job, row);
    for (int before = 0; before < row; ++before) {
      for (const Vector& v : vectors(job, before)) wanted.erase(v);
    }
    Code text;
    for (const Vector& v : wanted) {
      text += code("quad_{0}_{1}.v[{2}] = ring[spot_{1}_{2} + {3}u];\n", v.array, v.back, v.part,
                   static_cast<int>(v.array) * array_vectors());
    }
    return text;
  }

  /// What the step of row `row` of the quad reads and what it hands on.
  Code take(const Job& job, int row, const std::vector<kernel::Line::Held>& held) const {
    const auto load = [&](const Read& read, int age) {
      const int k = quads_before(row - age);
      return code("quad_{}_{}.e[{}]", ring_place(job, read), k, row - age + k * kLineQuad);
    };
    return fetch(job, row) + take_cells(job, line_, load) + pass_on(job, job_, line_, held);
  }
  Code warm_step(const Warm& warm, int row) const {
    return "{\n" + take(warm.job, row, warm.line.held) + "++cell;\n}\n";
  }
  Code step(int row) const {
    Code text = "{\n" + take(job_, row, line_.held);
    const int place = row - line_.delay, k = quads_before(place), element = place + k * kLineQuad;
    const int half = element / vector_cells(), rest = element % vector_cells();
    const bool pairs = line_.delay % 2 == 0;
    for (std::size_t q = 0; q < job_.kernel.stores.size(); ++q) {
      const Code& member = job_.body.store_members[q];
      if (pairs) text += code("new_{}.e[{}] = out.{};\n", q, element % 2, member);
    }
    if (!pairs || element % 2 == 1) {
      text += code("if (quad >= {}) {{\n", k);
      for (std::size_t q = 0; q < job_.kernel.stores.size(); ++q) {
        const Code where =
            code("((VPHI_LOCAL_POINTER {}*)(ring + spot_{}_{} + {}u) + {})", real(), k, half,
                 static_cast<int>(q) * array_vectors(), pairs ? rest - 1 : rest);
        text += pairs ? code("  *(VPHI_LOCAL_POINTER vphi_two*){} = new_{}.v;\n", where, q)
                      : code("  *{} = out.{};\n", where, job_.body.store_members[q]);
      }
      text += "}\n";
    }
    if (!job_.kernel.reductions.empty()) {
      // of cells in this share and in the box
      text += code(
          "if (live & (quad * {0} + {1} >= {2}) & (quad * {0} + {1} < {2} + pieces * {3}) &\n"
          "    (cell - {4} >= 0) & (cell - {4} < {5})) {{\n",
          kLineQuad, place, p_.lead * p_.cells, p_.cells, line_.delay, shape_.extent);
      text += indent(gather_sums(job_, line_, kLanes), 2);
      text += "}\n";
    }
    return text + "++cell;\n}\n";
  }

  const Job& job_;
  const kernel::Line& line_;
  const Pieces p_;
  LineShape shape_;
  std::vector<std::size_t> read_;
};

}  // namespace

namespace {

int ring_bytes_of(const Pieces& p) { return p.ring * p.arrays * kLanes * kPieceBytes; }

/// Sums that have a place of their own in local memory.
bool has_own_tree(const kernel::Line& line) {
  return std::ranges::count(rare_sums(line), true) > 0;
}

/// Groups that a processor holds: by its local memory, and by registers for what is held.
int groups_of_processor(const kernel::Line& line, const Pieces& p) {
  const int bytes = ring_bytes_of(p) + 1024 + 8 +
                    (has_own_tree(line) ? 8 * kLanes * static_cast<int>(line.only.size()) : 0);
  const int words = static_cast<int>(line.held.size()) * bytes_of(line.step.compute) / 4;
  const int by_registers = words <= 52 ? 16 : words <= 112 ? 11 : 8;
  return std::clamp(std::min(227 * 1024 / bytes, by_registers), 1, 32);
}

bool pieces_suit(const kernel::Line& line) {
  if (line.axis != 0 || !one_precision(line.step)) return false;
  const Pieces p = pieces_of(line);
  // a piece is complete before the one after it is; old cells are read before they are replaced
  if (p.late > p.quads || line.back > line.delay || line.delay == 0) return false;
  const LineShape shape = line_shape(line);
  if (shape.run < 4 * p.cells || shape.lines < kLanes) return false;
  return ring_bytes_of(p) <= 46 * 1024 && static_cast<int>(line.step.reductions.size()) <= kLanes;
}

}  // namespace

bool cut_into_runs(kernel::Line& line, const TargetInfo& target) {
  constexpr std::int64_t kLeastPieces = 8;  // of a run: what is walked before it is one or two
  const std::int64_t cells = line_shape(line).extent;
  if (cells >= std::int64_t{1} << 30) return false;
  const Pieces p = pieces_of(line);
  const std::int64_t units = std::max(1, target.compute_units);
  const std::int64_t threads = kLanes * units * groups_of_processor(line, p);
  const std::int64_t pieces = (cells + threads * p.cells - 1) / (threads * p.cells);
  line.run = std::max(pieces, kLeastPieces * p.lead) * p.cells;
  return pieces_suit(line) && line_shape(line).lines >= kLanes * units;
}

bool along_pieces(const Job& job, const kernel::Line& line) {
  return !job.signed_index && pieces_suit(line);
}

namespace {

/// How the lines are shared out: 32 of them side by side are a bundle, and all pieces of all
/// bundles are divided among as many groups as the device holds at once.
struct Shares {
  std::int64_t line_pieces = 0, units = 0;
  Groups groups{};
};
Shares shares_of(const Job& job, const kernel::Line& line, const Pieces& p) {
  const LineShape shape = line_shape(line);
  const std::int64_t bundles = (shape.lines + kLanes - 1) / kLanes;
  Shares shares;
  shares.line_pieces = (shape.run + p.shift + p.cells - 1) / p.cells;
  shares.units = bundles * shares.line_pieces;
  const std::int64_t held =
      std::int64_t{groups_of_processor(line, p)} * std::max(1, job.target.compute_units);
  const std::int64_t wanted = job.kernel.instances > 1 || line.run > 0 ? bundles : held;
  const std::int64_t bundles_of_slab = (shape_of_slab(line).lines + kLanes - 1) / kLanes;
  shares.groups = {groups_of_walk(job.kernel, wanted, shares.units / 3,
                                  bundles_of_slab * shares.line_pieces / 3),
                   1, 1};
  return shares;
}

/// Sizes of pieces, of what is copied at once and of the ring.
void piece_slots(const Job& job, const Pieces& p, const RowWriter& writer, Slots& slots) {
  const Precision ring = ring_precision(job.kernel);
  const bool f32 = ring == Precision::F32;
  const int bytes = bytes_of(ring);
  const auto number = [&](const char* key, std::int64_t value) {
    slots[key] = std::to_string(value);
  };
  slots["vector"] = f32 ? "float4" : "double2";
  slots["pair"] = f32 ? "float2" : "double2";
  slots["word"] = type_name(ring) + (p.word > 1 ? std::to_string(p.word) : Code());
  slots["copied"] = "vphi_word";
  number("bytes", p.word * bytes);
  slots["cached"] = p.word * bytes == 16 ? "cg" : "ca";
  number("in_flight", p.ring - 2);
  number("piece_bytes", kPieceBytes);
  // the other half of a line of the L2 cache comes along in f64, on an H200 0.88 of `sod`'s time
  slots["hint"] = f32 ? "" : ".L2::128B";
  number("lanes", kLanes);
  number("quad_vectors", p.quad_vectors);
  number("piece_quads", p.quads);
  number("pieces", p.ring);
  number("ring_quads", p.ring * p.quads);
  number("piece_vectors", writer.piece_vectors());
  number("ring", writer.ring_vectors());
  number("words", p.cells / p.word);
  number("word_cells", p.word);
  number("lead", p.lead);
  number("piece_cells", p.cells);
  number("late_quads", p.late);
  number("first_quad", p.first);
}

void line_reduction_slots(const GpuReductions& reductions, bool own_tree, Slots& slots) {
  slots["finish_functions"] = reductions.functions;
  slots["sums"] = reductions.sums;
  slots["finish"] = reductions.finish;
  slots["local_memory"] = Code();
  if (reductions.tree_doubles == 0) return;
  slots["finish"] = "vphi_barrier();\n" + reductions.finish;
  slots["local_memory"] =
      (own_tree ? code("VPHI_LOCAL double tree[{}];\n", reductions.tree_doubles)
                : "VPHI_LOCAL_POINTER double* tree = (VPHI_LOCAL_POINTER double*)ring;\n") +
      Code(reductions.last ? "VPHI_LOCAL unsigned last;" : "");
}

}  // namespace

program::Kernel emit_lines_x(const Job& job, const kernel::Line& line, const Bindings& bindings) {
  const kernel::Kernel& kernel = job.kernel;
  const LineShape shape = line_shape(line);
  const Pieces p = pieces_of(line);
  const RowWriter writer(job, line, p);
  const Shares shares = shares_of(job, line, p);
  const std::int64_t partials =
      shares.groups[0] * static_cast<std::int64_t>(kernel.reductions.size());
  Slots slots = common_slots(job, kLanes, &shares.groups);
  piece_slots(job, p, writer, slots);
  line_slots(job, line, slots);
  slots["blocks"] = std::to_string(groups_of_processor(line, p));
  slots["instance"] = instance_pointers(job, bindings, partials, job.counts_groups());
  line_reduction_slots(gpu_reductions(job, kLanes, rare_sums(line)), has_own_tree(line), slots);
  slots["units"] = std::to_string(shares.units);
  slots["count"] = count_type(shares.units, shares.groups[0]);
  slots["line_pieces"] = std::to_string(shares.line_pieces);
  slots["still"] = still_text(job, line, bindings, kLanes);
  slots["lines"] = index_literal(job, shape.lines);
  slots["line"] = writer.in_memory(
      "line", code("vphi_select_index(live, own, {})", index_literal(job, shape.lines - 1)));
  slots["base"] = writer.base("line");
  slots["own_place"] = writer.place("line");
  slots["coordinates"] = coordinates_text(job, line);
  slots["held"] = held_text(job, line);
  slots["copy"] = writer.copy();
  slots["leave"] = writer.leave();
  slots["quads"] = writer.quads();
  const Warm warm(line, job.target, bindings);
  slots["body"] += warm.functions();
  slots["warm_par"] = warm.parameters();
  slots["rows"] =
      warm.iteration(p.first, warm.any() ? writer.rows(&warm) : "", writer.rows(nullptr));

  program::Kernel out;
  out.source = finished(fill("lines_x_gpu.txt", slots));
  out.partials = partials * kernel.instances;
  out.arguments = arguments(job, bindings, job.counts_groups(), partials);
  out.grid = grid_of(job, shares.groups);
  out.block = {static_cast<std::uint32_t>(kLanes), 1, 1};
  return out;
}

}  // namespace vphi::emit
