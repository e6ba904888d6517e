#include "compiler/emit/text/reading.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <set>
#include <stdexcept>

#include "compiler/emit/text/fill.hpp"

namespace vphi::emit {

std::vector<std::string> slot_names(const program::Program& program) {
  std::vector<std::string> names;
  std::set<std::string> taken;
  for (const program::Scalar& scalar : program.scalars) {
    std::string plain;
    for (const char c : scalar.name)
      if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_')
        plain += c;
      else if (!plain.empty() && plain.back() != '_')
        plain += '_';
    while (!plain.empty() && plain.back() == '_') plain.pop_back();
    std::string name = "vphi_slot_" + plain;
    for (int n = 2; !taken.insert(name).second; ++n)
      name = fmt::format("vphi_slot_{}_{}", plain, n);
    names.push_back(name);
  }
  return names;
}

std::ptrdiff_t slot_number(const Bindings& bindings, const std::string& name) {
  const auto at = std::ranges::find(bindings.slots, name);
  if (at == bindings.slots.end()) throw std::invalid_argument("no scalar is called " + name);
  return at - bindings.slots.begin();
}

std::string slot_text(const Bindings& bindings, std::ptrdiff_t slot) {
  const auto place = static_cast<std::size_t>(slot);
  if (!bindings.reading || place >= bindings.reading->slots.size()) return std::to_string(slot);
  return bindings.reading->slots[place];
}

std::string line_note(const Bindings& bindings, const algebra::Node& node) {
  if (!bindings.reading || !bindings.reading->line || node.span.empty()) return {};
  const std::string line = bindings.reading->line(node.span);
  return line.empty() ? "" : comment_lines(line);
}

FactorName factor_name(const algebra::StencilData& stencil) {
  const int power = std::abs(stencil.dx_power);
  const bool plain = stencil.denominator == 1;
  const std::string dx = power == 1 ? "dx" : fmt::format("dx^{}", power),
                    word = power == 1 ? "dx" : fmt::format("dx{}", power),
                    count = std::to_string(stencil.denominator);
  if (power == 0) return {"over_" + count, "1/" + count};
  if (stencil.dx_power > 0)
    return {word + (plain ? "" : "_over_" + count), dx + (plain ? "" : "/" + count)};
  if (plain) return {"per_" + word, "1/" + dx};
  return {"per_" + count + "_" + word, fmt::format("1/({}*{})", count, dx)};
}

}  // namespace vphi::emit
