#include "tools/reduced_model.hpp"

#include <algorithm>
#include <vector>

#include "runtime/run/run.hpp"

namespace vphi::tools {
namespace {

using dsl::ExprKind;

class Shrinking {
 public:
  Shrinking(const Compilation& model, CompileOptions& options) : model_(model), options_(options) {}

  void lattice(const Most& most) {
    if (!options_.lattice.empty() || !model_.resolved.clause("lattice")) return;
    const auto& lattice = model_.system->lattice;
    std::vector<std::int64_t> extent(lattice.extent.begin(), lattice.extent.begin() + lattice.dims);
    std::int64_t edge = most.edge[std::clamp<std::size_t>(extent.size(), 1, 4) - 1];
    if (model_.system->instances() > 1) edge = (edge + 1) / 2;  // there are many of them
    for (auto& n : extent) n = std::min(n, edge);
    options_.lattice = runtime::shape_text(extent);
  }

  /// `particles body: N`, where N is a parameter. A matrix from a file fixes it.
  void particles(std::int64_t most) {
    const dsl::Clause* clause = model_.resolved.clause("particles");
    if (!clause || model_.system->lattice.sites() <= most) return;
    if (!model_.system->matrices.empty()) return;
    for (const dsl::Item& item : clause->items)
      if (item.leading == dsl::Item::Leading::Colon && !item.head &&
          item.value->kind == ExprKind::Name)
        set(item.value->text, std::to_string(most));
  }

  /// `sweep path = 1..5243`: the numbers of instances that differ in what is drawn.
  void counts(std::int64_t most) {
    for (const dsl::Clause* clause : model_.resolved.clauses("sweep"))
      for (const dsl::Item& item : clause->items)
        if (item.head && item.value && item.value->kind == ExprKind::Range)
          for (const auto& axis : model_.system->axes)
            if (axis.name == item.head->name &&
                static_cast<std::int64_t>(axis.values.size()) > most)
              set(axis.name, "1.." + std::to_string(most));
  }

 private:
  void set(const std::string& name, const std::string& value) {
    if (std::ranges::none_of(options_.set, [&](const auto& s) { return s.first == name; }))
      options_.set.emplace_back(name, value);
  }

  const Compilation& model_;
  CompileOptions& options_;
};

}  // namespace

CompileOptions made_small(const std::string& path, CompileOptions options, const Most& most) {
  const Compilation model = derive_model(path, options);
  if (!model.system) return options;
  Shrinking shrinking(model, options);
  shrinking.lattice(most);
  shrinking.particles(most.particles);
  shrinking.counts(most.count);
  return options;
}

}  // namespace vphi::tools
