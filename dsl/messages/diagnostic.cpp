#include "dsl/messages/diagnostic.hpp"

#include <algorithm>
#include <tuple>

namespace vphi::dsl {
namespace {

// What is kept; a hopeless text must not fill the memory with messages.
constexpr std::size_t kKept = 1000;

// Text order; what has no place in the text comes last.
bool before(const Diagnostic& a, const Diagnostic& b) {
  const auto key = [](const Diagnostic& d) {
    const bool nowhere = d.span.empty() && d.span.begin == 0;
    return std::make_tuple(nowhere, d.span.file, d.span.begin);
  };
  return key(a) < key(b);
}

}  // namespace

void Diagnostics::add(Diagnostic diagnostic) {
  const auto same = [&](const Diagnostic& d) {
    return d.code == diagnostic.code && d.span == diagnostic.span &&
           d.message == diagnostic.message;
  };
  const auto place = std::upper_bound(all_.begin(), all_.end(), diagnostic, before);
  for (auto it = place; it != all_.begin() && !before(*(it - 1), diagnostic); --it) {
    if (same(*(it - 1))) return;  // said already, for the same place
  }
  if (diagnostic.severity == Severity::Error) ++errors_;
  if (all_.size() < kKept) all_.insert(place, std::move(diagnostic));
}

}  // namespace vphi::dsl
