#include "compiler/physics/clauses/output_names.hpp"

#include <fmt/format.h>

#include <tuple>
#include <vector>

#include "compiler/physics/clauses/output_errors.hpp"

namespace vphi::physics {

namespace {

struct Named {
  Observable* observable = nullptr;
  std::size_t clause = 0;
  OutputOptions options;
};

bool same_values(const Observable& a, const Observable& b) {
  if (!(a.value == b.value) || a.more.size() != b.more.size()) return false;
  for (std::size_t i = 0; i < a.more.size(); ++i)
    if (!(a.more[i].value == b.more[i].value)) return false;
  return true;
}

/// "spectrum(phi)" becomes "spectrum(phi, type = 1)".
std::string with_options(const std::string& name, const std::string& options) {
  return name.substr(0, name.size() - 1) + ", " + options + ")";
}

}  // namespace

void settle_names(const Context& d, std::vector<OutputClause>& outputs,
                  const WrittenOptions& options) {
  using Place =
      std::tuple<std::string, std::optional<Observable::Kind>, std::string>;  // file, kind, name
  std::map<Place, std::vector<Named>> places;
  for (std::size_t c = 0; c < outputs.size(); ++c) {
    OutputClause& out = outputs[c];
    for (std::size_t i = 0; i < out.observables.size(); ++i) {
      Observable& o = out.observables[i];
      const auto written = options.find({c, i});
      places[{out.file, o.kind, o.name}].push_back(
          {&o, c, written == options.end() ? OutputOptions() : written->second});
    }
  }
  for (auto& [place, all] : places) {
    bool differ = false;
    for (const Named& one : all) differ = differ || one.options.text != all[0].options.text;
    std::map<std::string, const Named*> taken;
    for (const Named& one : all) {
      if (differ && !one.options.text.empty() && !one.options.named)
        one.observable->name = with_options(one.observable->name, one.options.text);
      const auto [first, fresh] = taken.try_emplace(one.observable->name, &one);
      if (fresh) continue;
      const Named& other = *first->second;
      const bool twice = other.clause == one.clause;
      if (!twice && other.options.text == one.options.text &&
          same_values(*other.observable, *one.observable))
        continue;
      d.diagnostics.add(errors::same_output_name(one.observable->span, one.observable->name,
                                                 std::get<0>(place), other.observable->span,
                                                 twice));
    }
  }
}

}  // namespace vphi::physics
