#include "tools/oracle/both_sides.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "compiler/schedule/schedule.hpp"

namespace vphi::tools {

void prepare_sides(const dsl::Resolved& resolved, const physics::System& system, Written& text,
                   DerivedValue& derived) {
  std::array<int, 4> extent{1, 1, 1, 1};
  for (std::size_t k = 0; k < 4; ++k) extent[k] = static_cast<int>(system.lattice.extent[k]);
  for (const physics::Axis& axis : system.axes) {
    const double value = axis.values.at(axis.values.size() / 2);
    text.swept[axis.name] = value;
    derived.symbols[axis.symbol] = value;
  }
  text.read_box(resolved.clause("lattice") ? system.lattice.dims : 0, extent);
  text.declare(text.box.sites());
}

std::optional<RunPosition> standing(Written& text, std::string shown) {
  RunPosition result;
  if (shown.starts_with("re(") || shown.starts_with("im(")) {
    result.real = shown[0] == 'i' ? 1 : 0;
    shown = shown.substr(3, shown.size() - 4);
  }
  std::size_t row = 0, column = 0;
  if (const auto bracket = shown.find('['); bracket != std::string::npos) {
    row = std::stoul(shown.substr(bracket + 1));
    if (const auto comma = shown.find(',', bracket); comma != std::string::npos)
      column = std::stoul(shown.substr(comma + 1));
    shown.resize(bracket);
  }
  const auto field = text.fields.find(shown);
  if (field == text.fields.end() || field->second.colours > 0) return std::nullopt;
  result.field = &field->second;
  const auto columns = static_cast<std::size_t>(field->second.columns);
  if (field->second.symmetric && row != column)
    result.mirror = 2 * (column * columns + row) + result.real;
  result.real += 2 * (row * columns + column);
  return result;
}

schedule::Plan plan_in_f64(const physics::System& given, const dsl::Resolved& resolved) {
  physics::System system = given;
  system.numerics.real = system.numerics.store = program::Precision::F64;
  system.numerics.stores.clear();
  for (physics::Axis& axis : system.axes) axis.values = {axis.values.at(axis.values.size() / 2)};
  dsl::Diagnostics diagnostics;
  auto plan = schedule::schedule(system, resolved, diagnostics);
  if (!plan) throw NotCovered{{}, "a step that cannot be scheduled"};
  return std::move(*plan);
}

// ---- rows ---------------------------------------------------------------------------------------

void Filling::take(long double derived, long double written) {
  if (!std::isfinite(derived) && !std::isfinite(written)) return;
  ++row_.points;
  largest_ = std::max(largest_, std::fabs(written));
  const long double difference = std::fabs(derived - written);
  difference_ = std::isfinite(difference) ? std::max(difference_, difference) : 1 + largest_;
}

void Filling::size(long double value) {
  if (std::isfinite(value)) largest_ = std::max(largest_, std::fabs(value));
}

DerivativeRow Filling::done() {
  if (row_.not_checked.empty() && row_.points == 0)
    row_.not_checked = "no state where it is finite";
  if (row_.not_checked.empty())
    row_.deviation =
        largest_ > 0 ? static_cast<double>(difference_ / largest_) : (difference_ > 0 ? 1 : 0);
  return row_;
}

// ---- links --------------------------------------------------------------------------------------

std::vector<StoredLinks> links_of(Written& text, const physics::System& system) {
  std::vector<StoredLinks> result;
  for (auto& [name, field] : text.fields)
    if (field.colours > 0 || field.phase) result.emplace_back(field, text, system);
  return result;
}

StoredLinks::StoredLinks(WrittenField& field, const Written& text, const physics::System& system)
    : field_(&field), sites_(text.box.sites()), dims_(text.box.dims) {
  for (const physics::Variable& v : system.variables)
    if (v.name == field.name || v.name.starts_with(field.name + "_")) arrays_.push_back(v.array);
  if (arrays_.size() % static_cast<std::size_t>(dims_) != 0)
    throw NotCovered{{}, "how the links of `" + field.name + "` are stored"};
  reals_ = arrays_.size() / static_cast<std::size_t>(dims_);
  quaternion_ = field.colours == 2 && reals_ == 4 && !text.facts().field(field.name)->store;
}

int StoredLinks::generators() const {
  return field_->phase ? 1 : field_->colours * field_->colours - 1;
}

std::vector<Complex> StoredLinks::matrix(int site, int axis) const {
  if (field_->phase) {
    const auto at = static_cast<std::size_t>(site * field_->reals() + 2 * axis);
    const long double angle = field_->values[at];
    return {Complex(std::cos(angle), std::sin(angle))};
  }
  const int n = field_->colours;
  const auto first = static_cast<std::size_t>(site * field_->reals() + axis * 2 * n * n);
  std::vector<Complex> u;
  for (std::size_t i = 0; i < static_cast<std::size_t>(n * n); ++i)
    u.emplace_back(field_->values[first + 2 * i], field_->values[first + 2 * i + 1]);
  return u;
}

void StoredLinks::set_matrix(int site, int axis, const std::vector<Complex>& u) {
  if (field_->phase) {
    field_->values[static_cast<std::size_t>(site * field_->reals() + 2 * axis)] = std::arg(u.at(0));
    return;
  }
  const int n = field_->colours;
  const auto first = static_cast<std::size_t>(site * field_->reals() + axis * 2 * n * n);
  for (std::size_t i = 0; i < u.size(); ++i) {
    field_->values[first + 2 * i] = u[i].real();
    field_->values[first + 2 * i + 1] = u[i].imag();
  }
}

void StoredLinks::draw(std::mt19937_64& random, std::optional<long double> width) {
  std::normal_distribution<long double> normal;
  std::uniform_real_distribution<long double> turn(-std::numbers::pi_v<long double>,
                                                   std::numbers::pi_v<long double>);
  for (int site = 0; site < sites_; ++site) {
    for (int axis = 0; axis < dims_; ++axis) {
      if (field_->phase) {
        const long double angle = width ? *width * normal(random) : turn(random);
        set_matrix(site, axis, {Complex(std::cos(angle), std::sin(angle))});
        continue;
      }
      const int n = field_->colours;
      if (!width) {
        set_matrix(site, axis, random_link(n, [&] { return normal(random); }));
        continue;
      }
      std::vector<Complex> u(static_cast<std::size_t>(n * n));
      for (int i = 0; i < n; ++i) u[static_cast<std::size_t>(i * n + i)] = 1;
      for (int a = 0; a < n * n - 1; ++a) u = rotated_link(u, n, a, *width * normal(random));
      set_matrix(site, axis, u);
    }
  }
}

std::vector<long double> StoredLinks::reals_of(int site, int axis) const {
  std::vector<long double> all;
  for (const Complex z : matrix(site, axis)) {
    all.push_back(z.real());
    all.push_back(z.imag());
  }
  if (field_->phase && reals_ == 1) return {std::atan2(all[1], all[0])};
  if (quaternion_) return {all[0], all[3], all[2], all[1]};  // a0 + i a.sigma
  all.resize(reals_);
  return all;
}

std::vector<long double> StoredLinks::stored(int array) const {
  const auto at =
      static_cast<std::size_t>(std::find(arrays_.begin(), arrays_.end(), array) - arrays_.begin());
  std::vector<long double> values;
  for (int site = 0; site < sites_; ++site)
    values.push_back(reals_of(site, static_cast<int>(at / reals_)).at(at % reals_));
  return values;
}

void StoredLinks::read(const std::function<long double(int array, int site)>& value) {
  const auto n = static_cast<std::size_t>(std::max(1, field_->colours));
  for (int site = 0; site < sites_; ++site) {
    for (int axis = 0; axis < dims_; ++axis) {
      std::vector<long double> x;
      for (std::size_t i = 0; i < reals_; ++i)
        x.push_back(value(arrays_[static_cast<std::size_t>(axis) * reals_ + i], site));
      if (field_->phase && reals_ == 1) {
        set_matrix(site, axis, {Complex(std::cos(x[0]), std::sin(x[0]))});
        continue;
      }
      if (quaternion_) x = {x[0], x[3], x[2], x[1], -x[2], x[1], x[0], -x[3]};
      std::vector<Complex> u;
      for (std::size_t i = 0; i + 1 < x.size(); i += 2) u.emplace_back(x[i], x[i + 1]);
      if (n == 2 && u.size() == 2) u.insert(u.end(), {-std::conj(u[1]), std::conj(u[0])});
      for (std::size_t j = 0; n == 3 && u.size() < 9; ++j) {
        const std::size_t k = (j + 1) % 3, l = (j + 2) % 3;
        u.push_back(std::conj(u[k] * u[3 + l] - u[l] * u[3 + k]));
      }
      set_matrix(site, axis, u);
    }
  }
}

}  // namespace vphi::tools
