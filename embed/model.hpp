// A model that can be run: its text, the changes given outside of the text, and the derived
// equations.
//
// A Model never changes, and copies share the derived equations. Errors in the text throw Error
// (kind Model) with all diagnostics; `text` of the Error is the output of the command.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "compiler/compile.hpp"
#include "embed/error.hpp"
#include "embed/overrides.hpp"
#include "embed/prepare.hpp"

namespace vphi::embed {

struct InitialValues;

class Model {
 public:
  /// Messages show `name`. Tables and files that the text reads are in the folder at its beginning
  /// ("runs/cell": in `runs`).
  static Model from_text(std::string text, std::string name = "model", const Overrides& = {});
  /// A path, or the name of a shipped model.
  static Model from_file(const std::string& path, const Overrides& = {});

  const std::string& text() const;
  /// The text before initial values were put into it.
  const std::string& written() const { return written_.empty() ? text() : written_; }
  const std::string& name() const;
  const std::string& title() const;
  const Overrides& overrides() const { return overrides_; }
  const Compilation& derived() const { return *derived_; }
  /// Warnings and notes, as the command prints them; empty where there are none.
  std::string remarks() const;
  /// The same model with more changes; they replace earlier ones of the same name.
  Model with(const Overrides& changes) const;
  /// The same with another text under the same name.
  Model with_text(std::string text) const;
  /// The same with these initial values instead of the text's (embed/initial_values.hpp). The
  /// lattice must not change after this.
  Model with_initial_values(std::span<const InitialValues> initial) const;

  /// The kernels of the program for a target in readable form, or one of them. Throws Error.
  std::string source(const emit::TargetInfo& target, const std::string& kernel = {}) const;
  /// Compiles the program for a target; the result may have errors. `renewal`: CompileOptions.
  Compilation compile(const emit::TargetInfo& target, bool renewal = false) const;
  /// The same for ranks that share the model.
  Compiled compile(runtime::RankGroup& ranks, bool renewal = false) const;
  /// `ranks`: ranks.hpp. Throws Error of kind Usage, Model or Device.
  /// `renewal`: CompileOptions.
  Prepared prepare(const std::string& device, const RanksWish& ranks = {},
                   bool renewal = false) const;

 private:
  Model(dsl::ModelSource source, Overrides overrides, std::shared_ptr<const void> files = {},
        std::string written = {});

  dsl::ModelSource source_;
  Overrides overrides_;
  std::shared_ptr<const void> files_;  ///< temporary ones that the text reads; may be null
  std::string written_;                ///< see `written`; empty: it is the text
  std::shared_ptr<const Compilation> derived_;
};

/// Both sets of changes; `second` is used where both give a value.
Overrides together(Overrides first, const Overrides& second);

/// Throws Error of kind Model where the compilation has errors.
void refuse_mistakes(const Compilation& compilation);

}  // namespace vphi::embed
