#include "tools/oracle/shown_state.hpp"

#include <cmath>

namespace vphi::tools {

using physics::Variable;

const Variable* ShownState::variable(int array) const {
  for (const Variable& v : system_.variables)
    if (v.array == array) return &v;
  return nullptr;
}

std::size_t ShownState::place_of_scale() const {
  for (std::size_t i = 0; i < system_.scalars.size(); ++i)
    if (system_.scalars[i].symbol == text_.scale_factor()) return i;
  return 0;
}

bool ShownState::second_order_momentum(const Variable& v) {
  return v.role == physics::Role::Momentum && v.shown.find('\'') != std::string::npos;
}

long double ShownState::stored(const Variable& v, int site) const {
  const long double held = derived_.arrays.at(v.array).at(static_cast<std::size_t>(site));
  return v.reference.empty() ? held : held + derived_.symbols.at(v.reference);
}

long double ShownState::rate(const Variable& v, const Place& place) {
  long double sum = derived_.at(v.rate, place);
  for (const auto& s : system_.scalars)
    if (!v.reference.empty() && s.symbol == v.reference) sum += derived_.scalar(s.rate);
  return sum;
}

long double ShownState::time_rate() {
  for (const auto& s : system_.scalars)
    if (s.symbol == system_.time) return derived_.scalar(s.rate);
  return 1;
}

long double ShownState::unit(const WrittenField& f) const {
  return f.phase || f.colours > 0 ? 1 : static_cast<long double>(system_.A);
}

long double ShownState::power(const Coordinate& c) const {
  return powers(c) ? std::pow(text_.a, static_cast<long double>(system_.r)) : 1;
}

long double ShownState::velocity(const Coordinate& c, int site) {
  const Place p = text_.box.place(site);
  long double rate = this->rate(*c.variable, p);
  if (powers(c)) {
    const long double slope =
        text_.closed() ? derived_.scalar(scale().rate) / text_.a : text_.hubble * time_rate();
    rate -= static_cast<long double>(system_.r) * slope * stored(*c.variable, site);
  }
  return rate / (unit(*c.at.field) * power(c) * time_rate());
}

void ShownState::background() {
  text_.t = derived_.symbols.at(system_.time);
  text_.set_background();
  if (!text_.closed()) return;
  text_.a = derived_.symbols.at(scale().symbol);
  text_.hubble = derived_.scalar(scale().rate) / (text_.a * time_rate());
}

void ShownState::show() {
  for (const Variable& v : system_.variables) {
    const auto at = standing(text_, v.shown);
    if (!at || second_order_momentum(v) || (v.frozen && v.partner >= 0)) continue;
    WrittenField& f = *at->field;
    Coordinate c{&v, nullptr, *at};
    const Variable* partner = v.partner >= 0 ? variable(v.partner) : nullptr;
    if (partner && second_order_momentum(*partner)) c.momentum = partner;
    f.scale = 1 / unit(f);
    for (int s = 0; s < text_.box.sites(); ++s) {
      const auto first = static_cast<std::size_t>(s * f.reals());
      const long double value = stored(v, s) / (unit(f) * power(c));
      f.values[first + at->real] = value;
      if (at->mirror) f.values[first + *at->mirror] = value;
      if (!c.momentum) continue;
      const long double rate = velocity(c, s);
      f.rates[first + at->real] = rate;
      if (at->mirror) f.rates[first + *at->mirror] = rate;
    }
  }
}

}  // namespace vphi::tools
