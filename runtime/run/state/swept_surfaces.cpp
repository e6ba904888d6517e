#include "runtime/run/state/swept_surfaces.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <utility>

#include "program/axes.hpp"
#include "runtime/observe/reduce.hpp"
#include "runtime/run/ensemble.hpp"
#include "runtime/run/onlooker.hpp"
#include "runtime/run/state/instance_buffers.hpp"
#include "runtime/run/state/packing.hpp"

namespace vphi::runtime {

using std::int64_t;

namespace {

bool is_surface(const program::FieldOutput& field) {
  return program::row_of(field.kind).shape == program::OutputShape::Elements;
}

}  // namespace

SweptSurfaces::SweptSurfaces(const program::Program& program, io::Results* results,
                             Onlooker* onlooker)
    : program_(program),
      results_(results),
      onlooker_(onlooker != nullptr && onlooker->attending() ? onlooker : nullptr) {}

io::Moment SweptSurfaces::moment_of(int64_t i, const io::Moment& at, const SweptPart& part) const {
  io::Moment own = at;
  if (program_.step_slot >= 0) own.step = std::llround(part.scalars->at(i, program_.step_slot));
  own.time = program_.time_slot >= 0 ? part.scalars->at(i, program_.time_slot)
                                     : static_cast<double>(own.step) * program_.dt_physical;
  return own;
}

void SweptSurfaces::add(std::size_t output, const io::Moment& at, bool at_its_step,
                        const SweptPart& part) {
  const program::Output& o = program_.outputs[output];
  if (onlooker_ == nullptr && (results_ == nullptr || o.file.empty())) return;
  InstanceBuffers buffers(*part.session);
  const int64_t last = part.first + part.scalars->instances;
  // of parts that have ended
  std::erase_if(earlier_, [&](const auto& kept) {
    return kept.first[2] < part.first || kept.first[2] >= last;
  });
  for (std::size_t f = 0; f < o.fields.size(); ++f) {
    const program::FieldOutput& field = o.fields[f];
    if (!is_surface(field)) continue;
    for (int64_t i = 0; i < part.scalars->instances; ++i) {
      if (part.none[static_cast<std::size_t>(i)]) continue;
      const io::Moment own = moment_of(i, at, part);
      const Key key{static_cast<int64_t>(output), static_cast<int64_t>(f), part.first + i};
      const auto before = earlier_.find(key);
      const bool due = field.in_time ? before == earlier_.end() || before->second.time < own.time
                                     : at_its_step && (!o.regular() || own.step == at.step);
      if (due)
        write(key, own, part.scalars->row(i),
              observe::ReadBuffer([&](int buffer) { return buffers.read(buffer, i); }));
    }
  }
}

void SweptSurfaces::write(const Key& key, const io::Moment& at, const std::vector<double>& scalars,
                          const observe::ReadBuffer& read) {
  const program::Output& output = program_.outputs[static_cast<std::size_t>(key[0])];
  const program::FieldOutput& field = output.fields[static_cast<std::size_t>(key[1])];
  std::optional<io::Table> table;
  if (field.in_time) {
    observe::Arrays now = observe::FilledOutput{program_, field, read, scalars, 0}.arrays(at.time);
    const auto before = earlier_.find(key);
    if (before != earlier_.end())
      table = observe::reduce_between(program_, field, before->second, now, 0);
    earlier_[key] = std::move(now);
  } else {
    table = observe::reduce(program_, field, read, scalars, 0);
  }
  if (!table) return;
  table->instance = program::instance_label(program_, key[2]);
  table->name += ", " + table->instance;
  if (onlooker_ != nullptr) onlooker_->table(*table, at);
  if (results_ != nullptr && !output.file.empty())
    results_->file(output.file).table(*std::move(table), at);
}

void SweptSurfaces::save(Packer& to) const {
  to.list(earlier_, [&](const auto& entry) {
    for (const int64_t number : entry.first) to.whole(number);
    to.real(entry.second.time);
    to.real(entry.second.level);
    to.list(entry.second.values, [&](const auto& values) { to.reals(values); });
  });
}

void SweptSurfaces::restore(Unpacker& from) {
  earlier_.clear();
  for (std::size_t i = from.count(48); i > 0; --i) {
    Key key;
    for (int64_t& number : key) number = from.whole();
    observe::Arrays& arrays = earlier_[key];
    arrays.time = from.real();
    arrays.level = from.real();
    arrays.values = from.list<std::vector<double>>(8, [&] { return from.reals(); });
    // of other outputs, or of another lattice
    const auto output = static_cast<std::size_t>(key[0]), field = static_cast<std::size_t>(key[1]);
    const auto sites = static_cast<std::size_t>(program_.sites());
    const bool fits =
        output < program_.outputs.size() && field < program_.outputs[output].fields.size() &&
        is_surface(program_.outputs[output].fields[field]) &&
        arrays.values.size() == program_.outputs[output].fields[field].more.size() + 1 &&
        arrays.values[0].size() == sites;
    if (!fits) earlier_.erase(key);
  }
}

}  // namespace vphi::runtime
