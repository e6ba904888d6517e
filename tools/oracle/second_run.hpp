// Where a model runs again in another form: on the device of the run before, or on its ranks.
#pragma once

#include "embed/prepare.hpp"
#include "runtime/run/run.hpp"

namespace vphi::tools {

class SecondRun {
 public:
  /// On one device, which must outlive this.
  SecondRun(runtime::Device& device) : device_(device) {}
  /// Where `made` has run, with as many instances at once. It must outlive this.
  explicit SecondRun(const embed::Prepared& made);

  /// With the options of the run before, beside those that are asked for here. Its program is
  /// missing where the model has errors. `compiler`: compile_model or compile_coarse.
  embed::Compiled compile(const dsl::ModelSource& model, CompileOptions options,
                          const embed::Compiler& compiler = compile_model) const;
  /// Runs what `compile` has made.
  runtime::RunResult run(const embed::Compiled& made, runtime::RunOptions options) const;

 private:
  runtime::Device& device_;
  runtime::RankGroup* ranks_ = nullptr;
  std::int64_t batch_ = 0;  ///< instances at once, of all ranks together; 0: as the options say
};

}  // namespace vphi::tools
