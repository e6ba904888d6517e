// `table` and `file` in expressions.
#include <filesystem>

#include <fmt/format.h>

#include "compiler/algebra/pairs.hpp"
#include "compiler/algebra/transform.hpp"
#include "compiler/physics/lower/lower.hpp"
#include "compiler/physics/particles/particles.hpp"
#include "compiler/physics/physics_errors.hpp"
#include "compiler/physics/stages/context.hpp"
#include "compiler/physics/starts/start_files.hpp"
#include "compiler/physics/tables/tables.hpp"

namespace vphi::physics {

using dsl::ExprKind;

namespace {

constexpr std::size_t kMostEntries =
    1 << 20;  // the entries become constants in the source of kernels

std::string folder_of_model(const Context& d) {
  const auto& source = d.resolved.model.source;
  return source ? std::filesystem::path(source->name()).parent_path().string() : std::string();
}

template <class Read>
auto read(const Context& d, const dsl::Expr& name, Read how) {
  if (name.kind != ExprKind::String)
    d.fail(errors::wrong_shape(name.span, "the first argument is the name of a file"));
  try {
    return how(folder_of_model(d), name.text);
  } catch (const TableError& error) {
    d.fail(errors::table_file(name.span, error.what(), static_cast<int>(error.kind)));
  }
}

/// `even = rho`, `odd = rho`: arguments are replaced by their absolute values. Returns the factor
/// of the value where it is odd in an argument; nothing otherwise.
template <class Read>
Expr symmetric(const Context& d, const dsl::Expr& e, std::vector<Expr>& arguments, Read how) {
  Arena& arena = d.arena();
  const std::vector<Expr> as_written = arguments;
  Expr sign;
  for (const dsl::NamedArgument& option : e.named) {
    if (option.name != "even" && option.name != "odd") continue;
    std::vector<dsl::ExprPtr> named{option.value};
    if (option.value->kind == ExprKind::List) named = option.value->args;
    for (const dsl::ExprPtr& one : named) {
      const Expr wanted = how(*one);
      bool found = false;
      for (std::size_t a = 0; a < arguments.size(); ++a) {
        if (!(as_written[a] == wanted)) continue;
        found = true;
        arguments[a] = arena.make(algebra::Op::Abs, {as_written[a]});
        if (option.name == "even") continue;
        const Expr own = arena.make(algebra::Op::Sign, {as_written[a]});
        sign = sign ? sign * own : own;
      }
      if (!found) {
        d.fail(errors::option_value(one->span, option.name, "one of the table's own arguments"));
      }
    }
  }
  return sign;
}

/// Keeps the ends of tables without `outside` for a promise. Several tables have no gap.
void promise_ends(const Context& d, const dsl::Expr& e, const std::vector<TableData>& tables,
                  const std::vector<Expr>& arguments) {
  if (tables.size() > 1) {
    if (const auto gap = gap_between(tables))
      d.fail(errors::table_file(e.span,
                                fmt::format("no table holds argument {} between {} and {}",
                                            gap->axis + 1, gap->first, gap->last),
                                static_cast<int>(TableError::Kind::Hole)));
    d.collected.ends.push_back({beyond_all(d.arena(), tables, arguments), 0, 0, e.span});
    return;
  }
  for (std::size_t a = 0; a < arguments.size(); ++a) {
    const std::vector<double>& axis = tables[0].axes[a];
    d.collected.ends.push_back({arguments[a], axis.front(), axis.back(), e.span});
  }
}

/// Refuses a periodic table whose values at both ends differ.
void check_period(const Context& d, const dsl::Expr& name, const TableData& data) {
  double most = 0;
  for (const double value : data.values) most = std::max(most, std::abs(value));
  const auto differ = [&](std::size_t first, std::size_t last, const std::string& where) {
    if (std::abs(data.values[first] - data.values[last]) <= 1e-9 * most) return;
    d.fail(errors::table_file(
        name.span,
        fmt::format("the first value{} is {} and the last one {}: a periodic table ends where it "
                    "begins",
                    where, data.values[first], data.values[last]),
        static_cast<int>(TableError::Kind::Period)));
  };
  const std::size_t width = data.axes.size() == 2 ? data.axes[1].size() : 1;
  const std::size_t rows = data.axes[0].size();
  for (std::size_t j = 0; j < width; ++j)
    differ(j, (rows - 1) * width + j,
           width == 1 ? "" : fmt::format(" at {} of the second argument", data.axes[1][j]));
  for (std::size_t i = 0; i < rows && width > 1; ++i)
    differ(i * width, (i + 1) * width - 1,
           fmt::format(" at {} of the first argument", data.axes[0][i]));
}

}  // namespace

std::optional<Value> Lowerer::table(const dsl::Expr& e, const Scope& scope) {
  Arena& arena = d_.arena();
  std::size_t files = 1;  // the finest first
  while (files < e.args.size() && e.args[files]->kind == ExprKind::String) ++files;
  const std::size_t count = e.args.size() - files;
  if (count < 1 || count > 2)
    d_.fail(errors::wrong_shape(e.span, "a table has one or two arguments behind its name"));
  std::vector<Expr> arguments;
  for (std::size_t i = files; i < e.args.size(); ++i)
    arguments.push_back(real(*e.args[i], "the argument of a table", scope));
  Expr sign = symmetric(d_, e, arguments, [&](const dsl::Expr& at) {
    return real(at, "an argument with a symmetry", scope);
  });
  int order = count == 1 ? 3 : 1;
  std::vector<Outside> outside(count);
  bool told = false;  // what holds outside
  for (const dsl::NamedArgument& option : e.named) {
    if (option.name == "order") {
      const auto asked = fixed_integer(*option.value, "`order`", scope);
      if (asked != 1 && asked != 3) {
        d_.fail(errors::option_value(option.span, "order", "1 or 3"));
      }
      order = static_cast<int>(asked);
    } else if (option.name == "outside") {
      told = true;
      const std::string& word = option.value->text;
      const bool name = option.value->kind == ExprKind::Name;
      for (Outside& side : outside) {
        if (name && word == "periodic") {
          side.kind = Outside::Kind::Periodic;
        } else if (!name || word != "clamp") {
          side.kind = Outside::Kind::Value;
          side.value = real(*option.value, "`outside`", scope);
        }
      }
    }
  }
  std::vector<TableData> tables;
  std::size_t entries = 0;
  for (std::size_t i = 0; i < files; ++i) {
    tables.push_back(read(d_, *e.args[i], [&](const std::string& folder, const std::string& text) {
      return read_table(folder, text, count);
    }));
    entries += tables.back().values.size() * (count == 2 && order == 3 ? 3 : 1);
    if (entries > kMostEntries) {
      d_.fail(errors::table_file(
          e.args[i]->span,
          fmt::format("{} numbers{}, and tables have {} at most", entries,
                      count == 2 && order == 3 ? " (value and two slopes for each pair)" : "",
                      kMostEntries),
          static_cast<int>(TableError::Kind::Size)));
    }
  }
  const dsl::Expr& name = *e.args[files - 1];
  const TableData& data = tables.back();
  if (outside[0].kind == Outside::Kind::Periodic) check_period(d_, name, data);
  if (!told) promise_ends(d_, e, tables, arguments);
  // values outside of the table are given for the arguments as written, so they keep their sign
  std::vector<Outside> inner = outside;
  if (sign) {
    for (Outside& side : inner) {
      if (side.kind == Outside::Kind::Value) side.value = side.value * sign;
    }
  }
  Expr value = nested(arena, tables, arguments, order, inner, real_precision(d_));
  if (sign) value = value * sign;
  if (order == 1) {
    algebra::visit(value, [&](Expr node) {
      if (node.is(algebra::Op::Lookup))
        d_.collected.lines.emplace(static_cast<int>(node.arg(0)->number.rational.num), e.span);
    });
  }
  return Value::of(arena.mark(value, e.span));
}

/// `file("name:set")[i, j]` between the bodies i and j of a pair; nothing for other indices.
std::optional<Value> Lowerer::matrix_entry(const dsl::Expr& e, const Scope& scope) {
  const auto body = [&](std::size_t at) {
    if (e.args.size() <= at || e.args[at]->kind != ExprKind::Name) return IndexValue::Body::None;
    const IndexValue* k = scope.index(e.args[at]->text);
    return k ? k->body : IndexValue::Body::None;
  };
  const auto row = body(1), column = body(2);
  if (row == IndexValue::Body::None && column == IndexValue::Body::None) return std::nullopt;
  if (e.args.size() != 3 || row == column || row == IndexValue::Body::None ||
      column == IndexValue::Body::None) {
    d_.fail(errors::not_yet(e.span, "a file with another index than those of the two particles"));
  }
  const dsl::Expr& name = *e.args[0]->args[0];
  const MatrixFile found = read(d_, name, [](const std::string& folder, const std::string& text) {
    return matrix_file(folder, text);
  });
  const auto n = static_cast<std::size_t>(d_.grid.sites());
  if (found.rows != n || found.columns != n) {
    d_.fail(errors::matrix_shape(
        name.span, name.text, fmt::format("{} x {}", found.rows, found.columns), d_.grid.sites()));
  }
  const int array = matrix_array(d_, found.file, false, name.span);
  const Expr entry = algebra::pair_entry(d_.arena(), array, e.span);
  return Value::of(row == IndexValue::Body::Own ? entry : algebra::exchanged(entry));
}

/// `file("name:set")[i]`, `[i, j]`: numbers known now, row i, column j, from 0.
Value Lowerer::file_entry(const dsl::Expr& e, const Scope& scope) {
  const Reading& reading = scope.reading();
  const dsl::Expr& call = *e.args[0];
  if (!call.named.empty() && !reading.random)
    d_.fail(errors::not_yet(call.named[0].span, "points of a file elsewhere than in `init`"));
  if (const auto entry = matrix_entry(e, scope)) return *entry;
  if (reading.random && is_stack(d_, e)) return reading.random(e, reading);  // initial values
  const Matrix m = read(d_, *call.args[0], [](const std::string& folder, const std::string& text) {
    return read_file(folder, text);
  });
  const auto at = [&](std::size_t i, std::size_t size) {
    const auto k = fixed_integer(*e.args[i], "an index", scope);
    if (k < 0 || k >= static_cast<std::int64_t>(size))
      d_.fail(
          errors::index_out_of_range(e.args[i]->span, static_cast<int>(k), static_cast<int>(size)));
    return static_cast<std::size_t>(k);
  };
  if (e.args.size() > 3 || (e.args.size() == 2 && m.columns != 1 && m.rows() != 1))
    d_.fail(errors::wrong_shape(
        e.span, fmt::format("this file has {} rows of {} numbers: write [row, column]", m.rows(),
                            m.columns)));
  const std::size_t entry =
      e.args.size() == 2 ? at(1, m.values.size()) : at(1, m.rows()) * m.columns + at(2, m.columns);
  return Value::of(d_.arena().real(m.values[entry]));
}

}  // namespace vphi::physics
