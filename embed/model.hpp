// A model that is ready to be run: its text, what was changed beside it, and what was derived.
//
// A Model is made once and never changes; copies share what was derived. Mistakes of the text throw
// Error (kind Model) with every diagnostic; `text` of the Error is what the command prints.
#pragma once

#include <memory>
#include <string>

#include "compiler/compile.hpp"
#include "embed/error.hpp"
#include "embed/overrides.hpp"
#include "embed/prepare.hpp"

namespace vphi::embed {

class Model {
 public:
  /// `name` stands in messages; tables and files that the text reads lie in the folder that it
  /// begins with ("runs/cell": in `runs`).
  static Model from_text(std::string text, std::string name = "model", const Overrides& = {});
  /// A path, or the name of a shipped model.
  static Model from_file(const std::string& path, const Overrides& = {});

  const std::string& text() const;
  const std::string& name() const;
  const std::string& title() const;
  const Overrides& overrides() const { return overrides_; }
  const Compilation& derived() const { return *derived_; }
  /// Warnings and notes, as the command prints them; empty where there are none.
  std::string remarks() const;
  /// The same model with more changes. The later of two values counts.
  Model with(const Overrides& changes) const;
  /// The same with another text under the same name.
  Model with_text(std::string text) const;

  /// On to the program for a target; it may have mistakes.
  Compilation compile(const emit::TargetInfo& target) const;
  /// Throws Error of kind Model or Device.
  Prepared prepare(const std::string& device) const;

 private:
  Model(dsl::ModelSource source, Overrides overrides);

  dsl::ModelSource source_;
  Overrides overrides_;
  std::shared_ptr<const Compilation> derived_;
};

/// The second where both give the same thing.
Overrides together(Overrides first, const Overrides& second);

/// Error of kind Model where the compilation has mistakes.
void refuse_mistakes(const Compilation& compilation);

}  // namespace vphi::embed
