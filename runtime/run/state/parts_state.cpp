// Data kept until the last part of a sweep, as bytes of a checkpoint and back: rows of scalars, the
// last values for the expectations, histograms and tables of the parts that have ended.
//
// Slots are identified by number, so a sweep in parts can go on only with the same scalars and
// outputs. `restore` throws RunError E0853 where they differ, DamagedCheckpoint where sizes are
// wrong.
#include "runtime/run/ensemble.hpp"
#include "runtime/run/state/packing.hpp"

namespace vphi::runtime {

namespace {

void put_moment(Packer& to, const io::Moment& at, RowOrder order) {
  to.whole(at.step);
  to.real(at.time);
  to.number(2 * static_cast<std::uint64_t>(order.order) + (order.regular ? 1 : 0));
}

RowOrder get_order(Unpacker& from) {
  const std::uint64_t number = from.number();
  return {number % 2 != 0, static_cast<std::int64_t>(number / 2)};
}

io::Moment get_moment(Unpacker& from) {
  io::Moment at;
  at.step = from.whole();
  at.time = from.real();
  return at;
}

void put_table(Packer& to, const Table& table) {
  to.whole(table.instances);
  to.number(table.width);
  to.reals(table.values);
}

Table get_table(Unpacker& from) {
  Table table;
  table.instances = from.whole();
  table.width = from.number();
  table.values = from.reals();
  const bool empty = table.instances == 0 && table.values.empty();
  const bool fits =
      table.instances > 0 && table.width > 0 &&
      table.values.size() / table.width == static_cast<std::size_t>(table.instances) &&
      table.values.size() % table.width == 0;
  if (!empty && !fits) throw DamagedCheckpoint("a table of a part has another size");
  return table;
}

void put_histogram(Packer& to, const observe::Histogram& h) {
  to.list(h.edges, [&](const auto& edges) { to.reals(edges); });
  to.wholes(h.counts);
  for (const std::int64_t n : {h.below, h.above, h.invalid}) to.whole(n);
}

observe::Histogram get_histogram(Unpacker& from) {
  observe::Histogram h;
  h.edges = from.list<std::vector<double>>(8, [&] { return from.reals(); });
  h.counts = from.wholes();
  for (std::int64_t* n : {&h.below, &h.above, &h.invalid}) *n = from.whole();
  return h;
}

void put_array(Packer& to, const io::Table& table) {
  to.text(table.group());
  to.text(table.name);
  to.wholes(table.shape);
  to.reals(table.values);
  to.list(table.columns, [&](const std::string& name) { to.text(name); });
  to.list(table.axes, [&](const auto& axis) {
    to.text(axis.first);
    to.reals(axis.second);
  });
  to.list(table.numbers, [&](const auto& number) {
    to.text(number.first);
    to.real(number.second);
  });
  to.list(table.leading, [&](const std::string& name) { to.text(name); });
  to.list(table.inner, [&](const std::string& name) { to.text(name); });
}

io::Table get_array(Unpacker& from) {
  io::Table table;
  const std::string group = from.text();
  const program::OutputRow* row = program::output_of_group(group);
  if (row == nullptr) throw DamagedCheckpoint("`" + group + "` is no group of results");
  table.kind = row->kind;
  table.name = from.text();
  table.shape = from.wholes();
  table.values = from.reals();
  table.columns = from.list<std::string>(8, [&] { return from.text(); });
  table.axes = from.list<std::pair<std::string, std::vector<double>>>(16, [&] {
    std::string name = from.text();
    return std::pair{std::move(name), from.reals()};
  });
  table.numbers = from.list<std::pair<std::string, double>>(16, [&] {
    std::string name = from.text();
    return std::pair{std::move(name), from.real()};
  });
  table.leading = from.list<std::string>(8, [&] { return from.text(); });
  table.inner = from.list<std::string>(8, [&] { return from.text(); });
  return table;
}

}  // namespace

void SweptFields::save(Packer& to) const {
  to.list(rows_, [&](const auto& of_parts) {
    to.list(of_parts, [&](const auto& rows) {
      to.list(rows, [&](const Row& row) {
        put_moment(to, row.at, row.order);
        to.list(row.pieces, [&](const Piece& piece) {
          to.list(piece.values, [&](const auto& list) { to.reals(list); });
          to.list(piece.counts, [&](const auto& cell) {
            to.whole(cell.first);
            put_histogram(to, cell.second);
          });
          to.list(piece.tables, [&](const io::Table& table) { put_array(to, table); });
        });
      });
    });
  });
  to.list(notes_, [&](const auto& note) {
    to.text(note.first);
    to.text(note.second);
  });
}

void SweptFields::restore(Unpacker& from) {
  const auto piece = [&] {
    Piece p;
    p.values = from.list<std::vector<double>>(8, [&] { return from.reals(); });
    for (std::size_t i = from.count(48); i > 0; --i) {
      const std::int64_t cell = from.whole();
      p.counts.emplace(cell, get_histogram(from));
    }
    p.tables = from.list<io::Table>(64, [&] { return get_array(from); });
    return p;
  };
  const auto row = [&] {
    Row r;
    r.at = get_moment(from);
    r.order = get_order(from);
    r.pieces = from.list<Piece>(24, piece);
    return r;
  };
  auto rows = from.list<std::vector<std::vector<Row>>>(
      8, [&] { return from.list<std::vector<Row>>(8, [&] { return from.list<Row>(32, row); }); });
  bool fits = rows.size() == rows_.size();
  for (std::size_t o = 0; fits && o < rows.size(); ++o) {
    fits = rows[o].size() == rows_[o].size();
    for (const auto& of_part : rows[o])
      for (const Row& r : of_part)
        fits = fits && r.pieces.size() == program_.outputs[o].fields.size();
  }
  if (!fits) throw DamagedCheckpoint("the arrays of its parts have another number");
  rows_ = std::move(rows);
  notes_.clear();
  for (std::size_t i = from.count(16); i > 0; --i) {
    std::string field = from.text();
    notes_[std::move(field)] = from.text();
  }
}

void Ensemble::save_parts(Packer& to) const {
  to.text(reached_);
  to.whole(parts_);
  if (parts_ == 1) return;
  to.whole(part_);
  to.whole(steps_);
  to.real(time_);
  to.list(program_.scalars, [&](const program::Scalar& scalar) { to.text(scalar.name); });
  to.list(waiting_, [&](const auto& of_parts) {
    to.list(of_parts, [&](const Waiting& waiting) {
      to.list(waiting.rows, [&](const Row& row) { put_moment(to, row.at, row.order); });
      to.list(waiting.tables, [&](const Table& table) { put_table(to, table); });
    });
  });
  to.list(last_watch_, [&](const Table& table) { put_table(to, table); });
  fields_.save(to);
}

void Ensemble::restore_parts(Unpacker& from) {
  reached_ = from.text();
  const auto differs = [](const std::string& what) {
    throw RunError("E0853", "the checkpoint does not fit this program: " + what,
                   "a sweep in parts goes on with the same outputs and the same --batch, or starts "
                   "over with --restart");
  };
  if (from.whole() != parts_) differs("it has another number of parts");
  if (parts_ == 1) return;
  part_ = from.whole();
  if (part_ < 0 || part_ >= parts_) throw DamagedCheckpoint("it has no such part");
  steps_ = from.whole();
  time_ = from.real();
  const auto names = from.list<std::string>(8, [&] { return from.text(); });
  bool same = names.size() == program_.scalars.size();
  for (std::size_t i = 0; same && i < names.size(); ++i)
    same = names[i] == program_.scalars[i].name;
  if (!same) differs("its outputs are others");
  auto waiting = from.list<std::vector<Waiting>>(8, [&] {
    return from.list<Waiting>(16, [&] {
      Waiting w;
      w.rows = from.list<Row>(24, [&] {
        Row row;
        row.at = get_moment(from);
        row.order = get_order(from);
        return row;
      });
      w.tables = from.list<Table>(24, [&] { return get_table(from); });
      return w;
    });
  });
  auto watch = from.list<Table>(24, [&] { return get_table(from); });
  bool fits = waiting.size() == waiting_.size() && watch.size() == last_watch_.size();
  const auto of_part = [&](const Table& table, std::size_t part) {
    return table.width == program_.scalars.size() &&
           table.instances == count_of(static_cast<std::int64_t>(part));
  };
  for (const auto& parts : waiting) {
    fits = fits && static_cast<std::int64_t>(parts.size()) == parts_;
    for (std::size_t p = 0; fits && p < parts.size(); ++p) {
      fits = parts[p].rows.size() == parts[p].tables.size();
      for (const Table& table : parts[p].tables) fits = fits && of_part(table, p);
    }
  }
  for (std::size_t p = 0; fits && p < watch.size(); ++p)
    fits = watch[p].instances == 0 || of_part(watch[p], p);
  if (!fits) throw DamagedCheckpoint("the rows of its parts have another size");
  waiting_ = std::move(waiting);
  last_watch_ = std::move(watch);
  fields_.restore(from);
}

}  // namespace vphi::runtime
