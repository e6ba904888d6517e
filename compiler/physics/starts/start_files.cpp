#include "compiler/physics/starts/start_files.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <set>
#include <unordered_map>

#include <fmt/format.h>

#include "compiler/algebra/transform.hpp"
#include "compiler/physics/chains/sampling_errors.hpp"
#include "compiler/physics/clauses/sweep_axes.hpp"
#include "compiler/physics/physics_errors.hpp"
#include "compiler/physics/tables/table_file.hpp"
#include "dsl/syntax/parse.hpp"

namespace vphi::physics {

namespace fs = std::filesystem;
using dsl::ExprKind;

namespace {

const dsl::Expr& call_of(const dsl::Expr& e) { return e.kind == ExprKind::Index ? *e.args[0] : e; }

std::string model_folder(const Program& d) {
  const auto& source = d.resolved.model.source;
  return source ? fs::path(source->name()).parent_path().string() : std::string();
}

/// Axes of the set where the name is one of an HDF5 file.
std::optional<std::size_t> axes_in(const Program& d, const dsl::Expr& name) {
  try {
    return axes_of_file(model_folder(d), name.text);
  } catch (const TableError& error) {
    d.fail(errors::table_file(name.span, error.what(), static_cast<int>(error.kind)));
  }
}

/// Axes of the domain, slowest first.
void take_domain(const Program& d, const StateField& field, FieldWanted& wanted) {
  if (field.particle) {
    wanted.axes = {"body"};
    wanted.extents = {d.grid.sites()};
    return;
  }
  for (int axis = d.grid.dims - 1; axis >= 0; --axis) {
    wanted.axes.emplace_back(1, "xyzt"[axis]);
    if (field.link) wanted.extents.push_back(d.grid.extent[static_cast<std::size_t>(axis)]);
  }
}

FieldFound find(const Program& d, const dsl::Expr& e, const FieldWanted& wanted) {
  const dsl::Expr& name = *call_of(e).args[0];
  try {
    return field_file(model_folder(d), name.text, wanted);
  } catch (const TableError& error) {
    d.fail(errors::table_file(name.span, error.what(), static_cast<int>(error.kind)));
  }
}

/// Which member of the stack each instance takes.
std::vector<double> members(const Program& d, Lowerer& lower, const dsl::Expr& e,
                            const Reading& reading, const std::vector<std::int64_t>& lengths) {
  if (lengths.empty()) return {};
  std::vector<double> all(static_cast<std::size_t>(d.instances()), 0);
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const dsl::Expr& index = *e.args[i + 1];
    const Expr value = lower.real(index, "an index of a file", Scope::in(reading));
    if (!known_per_instance(d, value)) d.fail(errors::not_fixed(index.span, "an index of a file"));
    const std::vector<double> each = in_every_instance(d, value);
    for (std::size_t n = 0; n < all.size(); ++n) {
      if (!(each[n] >= 0 && each[n] < static_cast<double>(lengths[i])) ||
          each[n] != std::floor(each[n])) {
        d.fail(errors::table_file(
            index.span,
            fmt::format("`{}` takes the value {}, and {} has {} of them: 0 to {}",
                        dsl::to_text(index), each[n], call_of(e).args[0]->text, lengths[i],
                        lengths[i] - 1),
            static_cast<int>(TableError::Kind::Shape)));
      }
      all[n] = all[n] * static_cast<double>(lengths[i]) + each[n];
    }
  }
  return all;
}

// ---- names with a swept value, "ic.h5:event_{event}"
// ---------------------------------------------

/// What stands between braces in the name of a file; nothing without braces.
std::optional<std::string> swept_part(const dsl::Expr& name) {
  const std::size_t open = name.text.find('{'), close = name.text.find('}');
  if (open == std::string::npos || close == std::string::npos || close < open) return std::nullopt;
  return name.text.substr(open + 1, close - open - 1);
}

std::string with_swept_part(const std::string& name, const std::string& text) {
  const std::size_t open = name.find('{');
  return name.substr(0, open) + text + name.substr(name.find('}') + 1);
}

/// file("...") with another name.
dsl::Expr renamed(const dsl::Expr& e, const std::string& name) {
  dsl::Expr copy = e;
  if (e.kind == ExprKind::Index) {
    copy.args[0] = std::make_shared<dsl::Expr>(renamed(*e.args[0], name));
    return copy;
  }
  dsl::Expr text = *e.args[0];
  text.text = name;
  copy.args[0] = std::make_shared<dsl::Expr>(std::move(text));
  return copy;
}

/// The value of each instance that stands in the name of its set.
std::vector<double> swept_values(const Program& d, Lowerer& lower, const dsl::Expr& e,
                                 const Reading& reading, const std::string& part) {
  const dsl::Expr& name = *call_of(e).args[0];
  const auto fail = [&](const std::string& problem) {
    d.fail(errors::table_file(name.span, problem, static_cast<int>(TableError::Kind::Shape)));
  };
  const bool axis = std::ranges::any_of(d.axes, [&](const Axis& a) { return a.name == part; });
  if (!axis)
    fail(
        fmt::format("`{{{}}}` in {} is no swept name: a set for each instance is named by the "
                    "values of a sweep",
                    part, name.text));
  if (e.kind == ExprKind::Index)
    fail(fmt::format("{} names a set for each instance, and an index selects from one", name.text));
  dsl::Expr swept;
  swept.kind = ExprKind::Name;
  swept.text = part;
  swept.span = name.span;
  std::vector<double> values =
      in_every_instance(d, lower.real(swept, "a swept name", Scope::in(reading)));
  for (const double value : values)
    if (!(value >= 0 && value <= 1e9) || value != std::floor(value))
      fail(fmt::format("`{}` takes the value {}, and names of sets hold whole numbers from 0", part,
                       value));
  return values;
}

using Add = std::function<Expr(const RandomField&)>;

/// A gauge configuration, or links in a set of an HDF5 file: an array for each number of a link
/// that is stored.
Value links_of_file(const Program& d, const dsl::Expr& e, const StateField& field, const Add& add) {
  Arena& arena = d.arena();
  const dsl::Expr& name = *call_of(e).args[0];
  if (e.kind == ExprKind::Index) {
    dsl::Diagnostic message = errors::not_yet(e.span, "links from a stack of configurations");
    message.rule =
        "one configuration starts all instances of a sweep; fields may come from a stack";
    message.hint = fmt::format(
        "write init {} = {} of one configuration, and make a run for each with --out of its own",
        field.name, dsl::to_text(call_of(e)));
    d.fail(message);
  }
  const int n = field.links->group.n;
  RandomField random;
  random.kind = RandomField::Kind::Link;
  random.colours = n;
  if (axes_in(d, name)) {
    FieldWanted wanted;
    wanted.field = field.name;
    take_domain(d, field, wanted);
    const std::int64_t dims = d.grid.dims;
    wanted.values = {{dims, n, n}};
    if (n == 1) wanted.values.push_back({dims});
    wanted.complex = wanted.links = true;
    const FieldFound found = find(d, e, wanted);
    if (!found.complex && n > 1) {
      d.fail(errors::table_file(name.span,
                                fmt::format("{} holds real numbers, and links of SU({}) are "
                                            "complex: a compound type, or one more axis of 2",
                                            name.text, n),
                                static_cast<int>(TableError::Kind::Shape)));
    }
    random.file = found.file;
  } else {
    random.file = fs::absolute(fs::path(model_folder(d)) / name.text).string();
    std::error_code error;
    if (!fs::is_regular_file(random.file, error))
      d.fail(errors::no_configuration(name.span, name.text));
  }
  // which entries of a matrix are stored
  gauge::Matrix open = gauge::zero(arena, n, n);
  std::vector<Expr> names;
  for (gauge::Complex& part : open.parts) {
    for (Expr* number : {&part.re, &part.im}) {
      names.push_back(arena.symbol(fmt::format("entry {}", names.size())));
      *number = names.back();
    }
  }
  const std::vector<Expr> stored = gauge::store(*field.links, open);
  Value v{field.rows, field.columns, {}};
  for (int axis = 0; axis < field.rows; ++axis) {
    std::unordered_map<const algebra::Node*, Expr> numbers;
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto reads = [&](Expr x) { return algebra::depends_on(x, names[i]); };
      if (!std::ranges::any_of(stored, reads)) continue;
      random.entry = axis * static_cast<int>(names.size()) + static_cast<int>(i);
      numbers.emplace(names[i].get(), add(random));
    }
    if (field.angle) {
      v.parts.push_back({numbers.at(names[0].get()), numbers.at(names[1].get())});
      continue;
    }
    for (const Expr part : stored) v.parts.push_back({algebra::substitute(part, numbers), {}});
  }
  return v;
}

/// The width that points of a file are spread with, if the text says so.
const dsl::NamedArgument* spread_of(const dsl::Expr& e) {
  const dsl::Expr& call = call_of(e);
  return call.named.empty() ? nullptr : &call.named[0];
}

/// Points with weights, spread as Gaussians: an array that the run fills.
Value points_start(const Program& d, Lowerer& lower, const dsl::Expr& e,
                   const dsl::NamedArgument& spread, const StateField& field,
                   const Reading& reading, const Add& add) {
  if (field.particle || field.links || field.complex || field.rows * field.columns != 1 ||
      !d.grid.present || d.grid.dims > 3)
    d.fail(
        errors::not_yet(spread.span, "points as a start of what is no real number at each site"));
  const Walls& walls = field.beside_laws() ? field.walls : d.grid;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(d.grid.dims); ++axis) {
    const Boundary ends = walls.boundary[axis];
    if (ends == Boundary::Periodic || ends == Boundary::Antiperiodic)
      d.fail(errors::not_yet(spread.span, "points in a box whose ends are joined"));
  }
  const auto width = static_cast<double>(lower.fixed(*spread.value, "a width")->number.real);
  if (!(width > 0)) d.fail(errors::option_value(spread.span, "spread", "a positive length"));
  const dsl::Expr& name = *call_of(e).args[0];
  FieldWanted wanted;
  wanted.field = field.name;
  wanted.axes = {"point"};
  wanted.values = {{d.grid.dims + 1}};
  wanted.indices = e.kind == ExprKind::Index ? e.args.size() - 1 : 0;
  const auto fail = [&](const std::string& problem) {
    d.fail(errors::table_file(name.span, problem, static_cast<int>(TableError::Kind::Shape)));
  };
  if (!axes_in(d, name))
    fail(fmt::format("{} is a text: points lie in sets of an HDF5 file", name.text));
  const FieldFound found = find(d, e, wanted);
  if (found.value.empty())
    fail(
        fmt::format("{} has a number for each point, and `spread` takes rows of {}: a position and "
                    "a weight",
                    name.text, d.grid.dims + 1));
  RandomField random;
  random.kind = RandomField::Kind::File;
  random.file = found.file;
  random.members = members(d, lower, e, reading, found.leading);
  for (const std::int64_t n : found.leading) random.leading.push_back(static_cast<int>(n));
  random.components = d.grid.dims + 1;
  random.cutoff = 1 / width;
  return Value::of(add(random));
}

/// The start with a set for each instance: all must have the shape of the first.
Value start_of_sets(const Program& d, Lowerer& lower, const dsl::Expr& e, const StateField& field,
                    const Reading& reading, const Add& add, const std::string& part) {
  const dsl::Expr& name = *call_of(e).args[0];
  const std::vector<double> values = swept_values(d, lower, e, reading, part);
  const auto named = [&](double value) {
    return with_swept_part(name.text, fmt::format("{:.0f}", value));
  };
  const std::set<double> all(values.begin(), values.end());
  const auto shape = [&](double value) {
    try {
      return shape_of_start(model_folder(d), named(value));
    } catch (const TableError& error) {
      d.fail(errors::table_file(name.span, error.what(), static_cast<int>(error.kind)));
    }
  };
  const auto first = shape(*all.begin());
  if (first.empty())
    d.fail(errors::table_file(name.span,
                              fmt::format("{} is a text: a set for each instance lies in an HDF5 "
                                          "file, name.h5:set_{{{}}}",
                                          name.text, part),
                              static_cast<int>(TableError::Kind::Shape)));
  for (const double value : all)
    if (shape(value) != first)
      d.fail(errors::table_file(name.span,
                                fmt::format("{} has another shape than {}: a start has one shape "
                                            "for all instances",
                                            named(value), named(*all.begin())),
                                static_cast<int>(TableError::Kind::Shape)));
  const std::string path = located(model_folder(d), with_swept_part(name.text, "{}"));
  return file_start(d, lower, renamed(e, named(*all.begin())), field, reading,
                    [&](RandomField random) {
                      random.file = path;
                      random.members = values;
                      return add(random);
                    });
}

}  // namespace

bool is_file(const dsl::Expr& e) {
  const dsl::Expr& call = call_of(e);
  return call.kind == ExprKind::Call && call.text == "file";
}

bool is_stack(const Program& d, const dsl::Expr& e) {
  const dsl::Expr& name = *call_of(e).args[0];
  if (name.kind != ExprKind::String) return false;
  if (swept_part(name)) return true;  // which has no indices: told where it is read
  const auto axes = axes_in(d, name);
  return axes && *axes >= e.args.size();
}

Value file_start(const Program& d, Lowerer& lower, const dsl::Expr& e, const StateField& field,
                 const Reading& reading, const Add& add) {
  if (const auto part = swept_part(*call_of(e).args[0]); part && !field.links)
    return start_of_sets(d, lower, e, field, reading, add, *part);
  if (const dsl::NamedArgument* spread = spread_of(e))
    return points_start(d, lower, e, *spread, field, reading, add);
  if (field.links) return links_of_file(d, e, field, add);
  if (!field.particle && !d.grid.present)
    d.fail(errors::not_yet(e.span, "a file of the initial values of what is not a field"));
  FieldWanted wanted;
  wanted.field = field.name;
  wanted.complex = field.complex;
  wanted.indices = e.kind == ExprKind::Index ? e.args.size() - 1 : 0;
  take_domain(d, field, wanted);
  if (field.rows * field.columns == 1) {
    wanted.values = {{}};
  } else if (field.columns == 1) {
    wanted.values = {{field.rows}};
  } else {
    wanted.values = {{field.rows, field.columns}};
  }
  const FieldFound found = find(d, e, wanted);
  RandomField random;
  random.kind = RandomField::Kind::File;
  random.members = members(d, lower, e, reading, found.leading);
  for (const std::int64_t n : found.leading) random.leading.push_back(static_cast<int>(n));
  random.as_it_is = !wanted.extents.empty();
  const std::size_t count = found.value.empty() ? 1 : field.cells.size();
  random.components = static_cast<int>(count) * (found.complex ? 2 : 1);
  const auto number = [&](std::size_t entry) {
    random.entry = static_cast<int>(entry);
    random.file = found.column == 0 ? found.file
                                    : fmt::format("{}:{}", found.file, found.column + random.entry);
    return add(random);
  };
  Value v = count == 1 ? Value{1, 1, {}} : Value{field.rows, field.columns, {}};
  for (std::size_t i = 0; i < count; ++i) {
    if (found.complex) {
      const Expr re = number(2 * i);
      v.parts.push_back({re, number(2 * i + 1)});
    } else {
      v.parts.push_back({number(i), {}});
    }
  }
  return v;
}

}  // namespace vphi::physics
