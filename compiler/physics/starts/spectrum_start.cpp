#include "compiler/physics/starts/spectrum_start.hpp"

#include <cmath>
#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include "compiler/algebra/transform.hpp"
#include "compiler/physics/clauses/box_errors.hpp"
#include "compiler/physics/clauses/sweep_axes.hpp"
#include "compiler/physics/clauses/twists.hpp"
#include "compiler/physics/lower/lower.hpp"
#include "compiler/physics/physics_errors.hpp"
#include "compiler/physics/starts/init_errors.hpp"
#include "compiler/physics/tables/table_file.hpp"
#include "dsl/words/builtins.hpp"
#include "program/wave_numbers.hpp"

namespace vphi::physics {

namespace {

constexpr std::size_t kMostPowers = std::size_t{1} << 24;
constexpr const char* kSymbol = "wave number";

/// `table("file", k)`.
dsl::ExprPtr table_of_wave_numbers(const dsl::ExprPtr& file) {
  auto k = std::make_shared<dsl::Expr>();
  k->kind = dsl::ExprKind::Name;
  k->text = dsl::kWaveNumber;
  k->span = file->span;
  auto call = std::make_shared<dsl::Expr>();
  call->kind = dsl::ExprKind::Call;
  call->text = "table";
  call->span = file->span;
  call->args = {file, std::move(k)};
  call->depth = 2;
  return call;
}

/// Fails where the box has wave numbers that the file does not have.
void check_reach(const Program& d, const dsl::Expr& file, double least, double largest) {
  const auto& source = d.resolved.model.source;
  const std::string folder =
      source ? std::filesystem::path(source->name()).parent_path().string() : std::string();
  try {
    const std::vector<double> k = read_table(folder, file.text, 1).axes[0];
    constexpr double kRounding = 1e-9;
    if (least < k.front() * (1 - kRounding) || largest > k.back() * (1 + kRounding))
      d.fail(
          errors::spectrum_beyond_file(file.span, file.text, k.front(), k.back(), least, largest));
  } catch (const TableError& error) {
    d.fail(errors::table_file(file.span, error.what(), static_cast<int>(error.kind)));
  }
}

/// The values of each axis of the sweep that P depends on, in every instance.
std::vector<std::pair<std::string, std::vector<double>>> swept_values(const Program& d,
                                                                      Expr power) {
  std::vector<std::pair<std::string, std::vector<double>>> out;
  for (const int axis : axes_of(d, power)) {
    const std::string& symbol = d.axes[static_cast<std::size_t>(axis)].symbol;
    out.emplace_back(symbol, in_every_instance(d, d.arena().symbol(symbol)));
  }
  return out;
}

}  // namespace

RandomField spectrum_draw(const Program& d, Lowerer& lower, const dsl::Expr& e,
                          const Reading& reading, double share) {
  const auto numbers = program::WaveNumbers::of(d.grid.extent);
  if (!numbers) d.fail(errors::not_yet(e.span, "`spectrum` in a box of so many wave numbers"));
  if (d.grid.shifted()) d.fail(errors::shifted_box(e.span, "`spectrum`", d.grid.span));
  for (const StateField& field : d.fields)
    if (twisted(field.walls)) d.fail(errors::twisted_start(e.span, e.text));
  if (!d.periodic()) d.fail(errors::not_yet(e.span, "`spectrum` in a box that is not periodic"));
  const auto dx = static_cast<double>(d.grid.dx->number.real);

  const bool file = e.args[0]->kind == dsl::ExprKind::String;
  const std::size_t count = numbers->count();
  if (file && count > 1)
    check_reach(d, *e.args[0], numbers->k_dx(1) / dx, numbers->k_dx(count - 1) / dx);
  const dsl::ExprPtr text = file ? table_of_wave_numbers(e.args[0]) : e.args[0];
  Scope scope = Scope::in(reading);
  scope.values.emplace(std::string(dsl::kWaveNumber), Value::of(d.arena().symbol(kSymbol)));
  const Expr power = lower.real(*text, "a power", scope);
  if (!known_per_instance(
          d, algebra::substitute(power, d.arena().symbol(kSymbol), d.arena().integer(1))))
    d.fail(errors::not_fixed(e.args[0]->span, "a power"));

  double volume = 1;
  for (int axis = 0; axis < d.grid.dims; ++axis)
    volume *= dx * static_cast<double>(d.grid.extent[static_cast<std::size_t>(axis)]);
  const auto swept = swept_values(d, power);
  const std::size_t lists = swept.empty() ? 1 : swept[0].second.size();
  if (lists * count > kMostPowers)
    d.fail(errors::not_yet(e.span, fmt::format("more than {} powers, one for each wave number and "
                                               "instance",
                                               kMostPowers)));
  RandomField random;
  random.kind = RandomField::Kind::Spectrum;
  random.powers.reserve(lists * count);
  for (std::size_t list = 0; list < lists; ++list) {
    random.powers.push_back(0);  // k = 0
    for (std::size_t i = 1; i < count; ++i) {
      const double k = numbers->k_dx(i) / dx;
      const auto value =
          static_cast<double>(algebra::evaluate_long(power, [&](const algebra::Node& node) {
            if (node.name == kSymbol) return static_cast<long double>(k);
            for (const auto& [symbol, values] : swept)
              if (node.name == symbol) return static_cast<long double>(values[list]);
            return static_cast<long double>(NAN);
          }));
      if (!(value >= 0) || std::isinf(value))
        d.fail(errors::spectrum_not_positive(e.args[0]->span, k, value));
      random.powers.push_back(share * value / volume);
    }
  }
  return random;
}

}  // namespace vphi::physics
