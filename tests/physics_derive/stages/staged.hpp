// Runs the stages of `derive` one after the other, up to the one that a test needs.
#pragma once

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "compiler/algebra/transform.hpp"
#include "compiler/physics/fields/program_units.hpp"
#include "compiler/physics/stages/outputs.hpp"
#include "dsl/resolve.hpp"
#include "dsl/syntax/load.hpp"
#include "dsl/syntax/parse.hpp"

namespace vphi::physics::test {

/// A model's text and the results of its stages; each stage runs when it is first requested.
class Staged {
 public:
  explicit Staged(const std::string& text) {
    const auto source = std::make_shared<dsl::Source>("model.vphi", text);
    dsl::ModelText model = dsl::parse(source, diagnostics_);
    resolved_ = std::make_unique<dsl::Resolved>(
        dsl::resolve(std::move(model), dsl::load_library(diagnostics_)));
    // an incomplete model is an error of later stages
    if (diagnostics_.has_errors()) throw std::runtime_error(messages());
    facts_ = collect_facts(*resolved_);
    ledger_.emplace(*resolved_);
    context_ =
        std::make_unique<Context>(Context{*resolved_, options_, diagnostics_, facts_, *ledger_,
                                          collected_, std::make_shared<algebra::Arena>()});
  }

  const Setting& setting() {
    return stage(setting_, [&] { return read_setting(*context_); });
  }
  const Declared& declared() {
    return stage(declared_, [&] { return declare_fields(setting()); });
  }
  const Space& space() {
    return stage(space_, [&] { return read_space(declared()); });
  }
  const Theory& theory() {
    return stage(theory_, [&] { return read_theory(space()); });
  }
  const Equations& equations() {
    return stage(equations_, [&] { return derive_equations(theory()); });
  }
  const Motion& motion() {
    return stage(motion_, [&] { return read_motion(equations()); });
  }
  const Program& program() {
    return stage(program_, [&] {
      units_.emplace(motion());
      return to_program_units(motion(), *units_);
    });
  }
  const Start& start() {
    program();
    return stage(start_, [&] { return read_start(program(), *units_); });
  }

  /// The expression with fields by name: `u`, and `u'` for the velocity of a second-order equation.
  std::string text(Expr e) {
    algebra::Names names;
    names.leaf = [&](const algebra::Node& node) -> std::string {
      if (node.op == algebra::Op::Load) return array(node.index);
      return node.name;
    };
    return algebra::to_text(e, names);
  }
  std::string array(int number) {
    for (const StateField& field : theory().fields) {
      const std::string several = field.arrays.size() > 1 ? "_" : "";
      for (std::size_t i = 0; i < field.arrays.size(); ++i) {
        const std::string name = field.name + (several.empty() ? "" : several + std::to_string(i));
        if (field.arrays[i] == number) return name;
        if (field.order == 2 && field.velocities[i] == number) return name + "'";
      }
    }
    return "#" + std::to_string(number);
  }

 private:
  std::string messages() const {
    return dsl::render_text(resolved_->diagnostics, resolved_->sources()) +
           dsl::render_text(diagnostics_, resolved_->sources());
  }
  template <class Stage, class Make>
  const Stage& stage(std::optional<Stage>& made, Make make) {
    if (made) return *made;
    try {
      return made.emplace(make());
    } catch (const Failure&) {
      throw std::runtime_error(messages());
    }
  }

  dsl::Diagnostics diagnostics_;
  CompileOptions options_;
  std::unique_ptr<dsl::Resolved> resolved_;
  Facts facts_;
  std::optional<Ledger> ledger_;
  Collected collected_;
  std::unique_ptr<Context> context_;
  std::optional<Setting> setting_;
  std::optional<Declared> declared_;
  std::optional<Space> space_;
  std::optional<Theory> theory_;
  std::optional<Equations> equations_;
  std::optional<Motion> motion_;
  std::optional<ProgramUnits> units_;
  std::optional<Program> program_;
  std::optional<Start> start_;
};

}  // namespace vphi::physics::test
