#include "compiler/physics/clauses/ranked_values.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "compiler/physics/physics_errors.hpp"
#include "compiler/physics/tables/table_file.hpp"

namespace vphi::physics {

using dsl::ExprKind;

namespace {

/// A number for each member.
std::vector<double> numbers_of(const Setting& d, const dsl::Expr& name) {
  const auto& source = d.resolved.model.source;
  const std::string folder =
      source ? std::filesystem::path(source->name()).parent_path().string() : std::string();
  const auto refuse = [&](const std::string& message, TableError::Kind kind) {
    d.fail(errors::table_file(name.span, message, static_cast<int>(kind)));
  };
  Matrix all;
  try {
    all = read_file(folder, name.text);
  } catch (const TableError& error) {
    refuse(error.what(), error.kind);
  }
  if (all.columns == 1 || all.rows() == 1) return all.values;
  // "name.txt:3"
  const auto colon = name.text.rfind(':');
  const std::size_t column =
      colon == std::string::npos ? 0 : std::strtoul(name.text.c_str() + colon + 1, nullptr, 10);
  if (!all.lines.empty() && column >= 1 && column <= all.columns) {
    std::vector<double> values;
    for (std::size_t row = 0; row < all.rows(); ++row)
      values.push_back(all.values[row * all.columns + column - 1]);
    return values;
  }
  // a series: the row of the last time
  if (all.lines.empty())
    return {all.values.end() - static_cast<std::ptrdiff_t>(all.columns), all.values.end()};
  refuse(fmt::format("{} has {} columns; which of them is ranked?", name.text, all.columns),
         TableError::Kind::Shape);
  return {};
}

}  // namespace

std::vector<double> ranked_places(const Setting& d, Lowerer& lower, const dsl::Expr& e) {
  constexpr const char* kForm =
      "ranked(\"name.h5:set\", a..b), shares of the members with 0 <= a < b <= 1";
  if (e.args.size() != 2 || e.args[0]->kind != ExprKind::String ||
      e.args[1]->kind != ExprKind::Range)
    d.fail(errors::option_value(e.span, "ranked", kForm));
  const auto share = [&](std::size_t end) {
    return static_cast<double>(lower.fixed_number(*e.args[1]->args[end], "a share of the members"));
  };
  const double from = share(0), to = share(1);
  if (!(from >= 0 && from < to && to <= 1))
    d.fail(errors::option_value(e.args[1]->span, "ranked", kForm));
  const std::vector<double> numbers = numbers_of(d, *e.args[0]);
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < numbers.size(); ++i)
    if (std::isfinite(numbers[i])) order.push_back(i);
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return numbers[i]; });
  const auto place = [&](double at) {
    return std::llround(at * static_cast<double>(order.size()));
  };
  std::vector<double> chosen(order.begin() + place(from), order.begin() + place(to));
  if (chosen.empty())
    d.fail(errors::option_value(
        e.args[1]->span, "ranked",
        fmt::format("shares that hold a member; {} has {}", e.args[0]->text, order.size())));
  std::ranges::sort(chosen);
  return chosen;
}

}  // namespace vphi::physics
