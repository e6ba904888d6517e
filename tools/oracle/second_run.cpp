#include "tools/oracle/second_run.hpp"

#include "embed/target.hpp"

namespace vphi::tools {

SecondRun::SecondRun(const embed::Prepared& made)
    : device_(made.first()),
      ranks_(made.ranks.get()),
      batch_(made.ranks && !made.whole ? made.batch : 0) {}

embed::Compiled SecondRun::compile(const dsl::ModelSource& model, CompileOptions options,
                                   const embed::Compiler& compiler) const {
  if (batch_ > 0) options.batch = batch_;
  if (ranks_ != nullptr) return embed::compile_for_group(model, options, *ranks_, {}, compiler);
  embed::Compiled made;
  *made.compilation = compiler(model, options, embed::target_of(device_.info()));
  return made;
}

runtime::RunResult SecondRun::run(const embed::Compiled& made, runtime::RunOptions options) const {
  made.share(options);
  options.ranks = ranks_;
  return runtime::run(*made.compilation->program, device_, options);
}

}  // namespace vphi::tools
