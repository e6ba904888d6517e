// The same model with a finer time step, as a file beside: for orders and error estimates.
//
// The text of `dt = ...` in the evolve clause is divided by a whole number. With `fixed_end` the
// clause's `until` goes, so that runs of different steps can end at one time; their number of steps
// is then the caller's, and every precision is f64, so that rounding hides no order. Outputs every
// N steps are the caller's too, and random initial values do not depend on the step. The file is
// removed at the end; `path` is empty where there is no `dt`.
#pragma once

#include <filesystem>
#include <string>

namespace vphi::tools {

class FinerModel {
 public:
  FinerModel(const std::string& path, int parts, bool fixed_end = false);
  ~FinerModel();
  FinerModel(const FinerModel&) = delete;
  FinerModel& operator=(const FinerModel&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace vphi::tools
