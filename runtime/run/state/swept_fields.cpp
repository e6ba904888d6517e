#include "runtime/run/state/swept_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/observe/reduce.hpp"
#include "runtime/run/ensemble.hpp"
#include "runtime/run/onlooker.hpp"
#include "runtime/run/session.hpp"
#include "runtime/run/state/instance_buffers.hpp"

namespace vphi::runtime {

using observe::Histogram;
using program::FieldOutput;
using std::int64_t;

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kMostBytes = std::size_t{1} << 30;  ///< of all that waits

bool is_histogram(const FieldOutput& field) {
  return program::row_of(field.kind).arrays == program::OutputArrays::Counted;
}

program::FieldPart part_of(const FieldOutput& field, std::size_t axis) {
  if (axis > 0) return field.more[axis - 1];
  return {field.buffer, field.scale, field.offset, field.weight, field.slot};
}

void merge(Histogram& into, const Histogram& from) {
  for (std::size_t b = 0; b < into.counts.size(); ++b) into.counts[b] += from.counts[b];
  into.below += from.below, into.above += from.above, into.invalid += from.invalid;
}

std::size_t bytes_in(const std::vector<std::vector<double>>& lists) {
  std::size_t bytes = 0;
  for (const auto& list : lists) bytes += sizeof(double) * list.size();
  return bytes;
}

}  // namespace

SweptFields::SweptFields(const program::Program& program, io::Results* results, int64_t parts,
                         Onlooker* onlooker)
    : program_(program),
      results_(results),
      onlooker_(onlooker != nullptr && onlooker->attending() ? onlooker : nullptr),
      parts_(parts),
      rows_(program.outputs.size()) {
  for (auto& of_parts : rows_) of_parts.resize(static_cast<std::size_t>(parts));
}

bool SweptFields::wanted(const program::Output& output, const FieldOutput& field) const {
  if (program::row_of(field.kind).shape == program::OutputShape::Elements) return false;
  const bool written = results_ != nullptr && !output.file.empty();
  return written || (onlooker_ != nullptr && field.kind != FieldOutput::Kind::Snapshot);
}

bool SweptFields::keeps_values(const FieldOutput& field) const {
  return parts_ > 1 && std::any_of(field.histogram.begin(), field.histogram.end(),
                                   [](const auto& a) { return a.find_low || a.find_high; });
}

void SweptFields::add(std::size_t output, const io::Moment& at, RowOrder order,
                      const SweptPart& part) {
  const program::Output& o = program_.outputs[output];
  if (std::none_of(o.fields.begin(), o.fields.end(),
                   [&](const FieldOutput& field) { return wanted(o, field); }))
    return;
  if (parts_ == 1 && !order.regular) return;
  auto& rows = rows_[output][static_cast<std::size_t>(part.part)];
  if (!rows.empty() && rows.back().at.step == at.step) return;
  Row row{at, order, {}};
  InstanceBuffers buffers(*part.session);
  for (const FieldOutput& field : o.fields)
    row.pieces.push_back(wanted(o, field) ? piece(field, part, buffers) : Piece());
  if (parts_ == 1) {
    write(o, at, {&row});
    return;
  }
  for (std::size_t f = 0; f < o.fields.size(); ++f) {
    const Piece& piece = row.pieces[f];
    kept_ += bytes_in(piece.values);
    for (const auto& [cell, h] : piece.counts) kept_ += sizeof(int64_t) * h.counts.size();
    for (const io::Table& table : piece.tables) kept_ += sizeof(double) * table.values.size();
    if (kept_ <= kMostBytes) continue;
    throw RunError("E0802",
                   fmt::format("`{}` of a sweep in {} parts has to keep more than {} GB until the "
                               "last part has run",
                               o.fields[f].name, parts_, kMostBytes >> 30),
                   is_histogram(o.fields[f])
                       ? "give `low` and `high`, so that counts can be added up, or write it less "
                         "often"
                       : "write it less often, or run the parts one by one: --set NAME=VALUE");
  }
  rows.push_back(std::move(row));
}

// ---- one part -----------------------------------------------------------------------------------

/// What an axis of a histogram counts, [instance][site]; of a scalar one value each.
std::vector<double> SweptFields::values(const FieldOutput& field, std::size_t axis,
                                        const SweptPart& part) const {
  const int64_t count = part.scalars->instances;
  bool sites = false;
  for (std::size_t a = 0; a < field.histogram.size(); ++a) sites |= part_of(field, a).slot < 0;
  const auto width = static_cast<std::size_t>(sites ? program_.sites() : 1);
  const program::FieldPart p = part_of(field, axis);
  std::vector<double> list;
  if (p.slot < 0) {
    list = part.session->read(p.buffer);
    list.resize(static_cast<std::size_t>(count) *
                width);  // without the copies that pad the last part
    if (p.scale != 1 || p.offset != 0)
      for (double& v : list) v = p.scale * v + p.offset;
  } else {
    for (int64_t i = 0; i < count; ++i) list.insert(list.end(), width, part.scalars->at(i, p.slot));
  }
  for (int64_t i = 0; i < count; ++i)
    if (part.none[static_cast<std::size_t>(i)])
      std::fill_n(list.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(i) * width),
                  width, kNone);
  return list;
}

SweptFields::Piece SweptFields::piece(const FieldOutput& field, const SweptPart& part,
                                      InstanceBuffers& buffers) {
  Piece piece;
  if (is_histogram(field)) {
    for (std::size_t a = 0; a < field.histogram.size(); ++a)
      piece.values.push_back(values(field, a, part));
    if (keeps_values(field)) return piece;
    piece.counts = counted(field, piece.values, part.first);
    piece.values.clear();
    return piece;
  }
  for (int64_t i = 0; i < part.scalars->instances; ++i) {
    io::Table table = observe::reduce(
        program_, field, [&](int buffer) { return buffers.read(buffer, i); }, part.scalars->row(i),
        0);
    io::unpack(table);
    if (part.none[static_cast<std::size_t>(i)])
      std::fill(table.values.begin(), table.values.end(), kNone);
    piece.tables.push_back(std::move(table));
  }
  return piece;
}

/// One histogram for each cell of the axes that are left, of instances from number `first` on.
std::map<int64_t, Histogram> SweptFields::counted(const FieldOutput& field,
                                                  const std::vector<std::vector<double>>& values,
                                                  int64_t first) const {
  const Remaining left(program_, Remaining::all_but(program_, field.over));
  const bool slots =
      part_of(field, 0).slot >= 0 && (field.histogram.size() == 1 || part_of(field, 1).slot >= 0);
  const std::size_t width = slots ? 1 : static_cast<std::size_t>(program_.sites());
  std::vector<program::HistogramAxis> axes = field.histogram;
  if (axes.size() == 2)
    for (std::size_t a = 0; a < 2; ++a) {
      axes[a] = observe::with_range(axes[a], values[a]);
      axes[a].find_low = axes[a].find_high = false;
    }
  std::map<int64_t, std::vector<std::vector<double>>> cells;
  const std::size_t count = values[0].size() / width;
  for (std::size_t i = 0; i < count; ++i) {
    auto& lists = cells[left.cell(first + static_cast<int64_t>(i))];
    lists.resize(values.size());
    for (std::size_t a = 0; a < values.size(); ++a) {
      const auto from = values[a].begin() + static_cast<std::ptrdiff_t>(i * width);
      lists[a].insert(lists[a].end(), from, from + static_cast<std::ptrdiff_t>(width));
    }
  }
  std::map<int64_t, Histogram> result;
  for (const auto& [cell, lists] : cells)
    result.emplace(cell, observe::histogram({lists.begin(), lists.end()}, axes, 0));
  return result;
}

// ---- all parts ----------------------------------------------------------------------------------

void SweptFields::finish() {
  if (parts_ == 1) return;
  for (std::size_t o = 0; o < rows_.size(); ++o) {
    auto& parts = rows_[o];
    if (std::any_of(parts.begin(), parts.end(), [](const auto& rows) { return rows.empty(); }))
      continue;  // a run that was stopped, or `after` never held
    // at its end each part comes at its own step
    const bool at_end = !program_.outputs[o].regular();
    std::map<int64_t, io::Moment> moments;
    for (const auto& rows : parts)
      for (const Row& row : rows) {
        if (!row.order.regular) continue;
        io::Moment& at = moments[at_end ? 0 : row.place()];
        at.step = std::max(at.step, row.at.step), at.time = std::max(at.time, row.at.time);
      }
    for (const auto& [key, at] : moments) {
      std::vector<const Row*> row;
      for (const auto& rows : parts) {
        const auto after = std::upper_bound(rows.begin(), rows.end(), at_end ? at.step : key,
                                            [at_end](int64_t place, const Row& r) {
                                              return place < (at_end ? r.at.step : r.place());
                                            });
        if (after != rows.begin()) row.push_back(&*(after - 1));
      }
      if (row.size() == parts.size()) write(program_.outputs[o], at, row);
    }
    for (auto& rows : parts) rows.clear();
  }
}

void SweptFields::write(const program::Output& output, const io::Moment& at,
                        const std::vector<const Row*>& parts) {
  for (std::size_t f = 0; f < output.fields.size(); ++f) {
    std::vector<const Piece*> pieces;
    const FieldOutput& field = output.fields[f];
    if (!wanted(output, field)) continue;
    for (const Row* row : parts) pieces.push_back(&row->pieces[f]);
    io::Table table = joined(field, pieces);
    if (onlooker_ != nullptr && field.kind != FieldOutput::Kind::Snapshot)
      onlooker_->table(table, at);
    if (results_ != nullptr && !output.file.empty())
      results_->file(output.file).table(std::move(table), at);
  }
}

io::Table SweptFields::joined(const FieldOutput& field, const std::vector<const Piece*>& parts) {
  if (is_histogram(field) && keeps_values(field)) {
    std::vector<std::vector<double>> all(field.histogram.size());
    for (const Piece* piece : parts)
      for (std::size_t a = 0; a < all.size(); ++a)
        all[a].insert(all[a].end(), piece->values[a].begin(), piece->values[a].end());
    return histograms(field, counted(field, all, 0));
  }
  if (is_histogram(field)) {
    std::map<int64_t, Histogram> cells;
    for (const Piece* piece : parts)
      for (const auto& [cell, h] : piece->counts) {
        const auto [place, fresh] = cells.try_emplace(cell, h);
        if (!fresh) merge(place->second, h);
      }
    return histograms(field, std::move(cells));
  }
  io::Table all;
  bool first = true;
  for (const Piece* piece : parts)
    for (const io::Table& table : piece->tables) {
      if (first) {
        all = table;
        first = false;
        continue;
      }
      if (table.shape != all.shape)
        throw RunError(
            "E0901",
            fmt::format("`{}` has another shape in each instance of the sweep", field.name),
            "write it for one of them: --set NAME=VALUE");
      all.values.insert(all.values.end(), table.values.begin(), table.values.end());
    }
  lead(all, Remaining::all_but(program_, {}));
  return all;
}

io::Table SweptFields::histograms(const FieldOutput& field, std::map<int64_t, Histogram> cells) {
  io::Table all;
  std::vector<double> below, above, invalid;
  int64_t none = 0, of = 0;
  for (const auto& [cell, h] : cells) {
    io::Table table = observe::histogram_table(program_, field, h);
    if (below.empty()) {
      all = std::move(table);
    } else {
      all.values.insert(all.values.end(), table.values.begin(), table.values.end());
      for (std::size_t k = 0; k < all.numbers.size(); ++k)
        all.numbers[k].second += table.numbers[k].second;
    }
    below.push_back(static_cast<double>(h.below));
    above.push_back(static_cast<double>(h.above));
    invalid.push_back(static_cast<double>(h.invalid));
    if (h.invalid < none) continue;
    none = h.invalid, of = h.below + h.above + h.invalid;
    for (const int64_t n : h.counts) of += n;
  }
  if (cells.size() > 1) {
    all.axes.emplace_back("below", below);
    all.axes.emplace_back("above", above);
    all.axes.emplace_back("invalid", invalid);
  }
  if (none > 0)
    notes_[field.name] =
        fmt::format("`{}` leaves out what has no value: up to {} of {}", field.name, none, of);
  lead(all, Remaining::all_but(program_, field.over));
  return all;
}

/// The axes of the sweep before those of the table.
void SweptFields::lead(io::Table& table, const std::vector<int>& axes) const {
  std::vector<int64_t> shape;
  for (const int axis : axes) {
    const program::Axis& a = program_.axes[static_cast<std::size_t>(axis)];
    shape.push_back(static_cast<int64_t>(a.values.size()));
    table.leading.push_back(a.name);
  }
  table.shape.insert(table.shape.begin(), shape.begin(), shape.end());
}

std::vector<std::string> SweptFields::notes() const {
  std::vector<std::string> list;
  for (const auto& [field, note] : notes_) list.push_back(note);
  return list;
}

}  // namespace vphi::runtime
