#include "dsl/messages/diagnostic.hpp"

#include <algorithm>
#include <tuple>

namespace vphi::dsl {
namespace {

// The most messages kept: a text full of errors must not fill the memory.
constexpr std::size_t kKept = 1000;

// The order of places in the text; messages without a place come last.
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
    if (same(*(it - 1))) return;  // reported already for the same place
  }
  if (diagnostic.severity == Severity::Error) ++errors_;
  if (all_.size() < kKept) all_.insert(place, std::move(diagnostic));
}

}  // namespace vphi::dsl
