// Estimates the effect of the precision: a second run in the other precision.
//
// A model that computes or stores in f32 is run again in f64, another one in f32, on the same
// device, from the same draws and at the same outputs. Every scalar of every output is compared,
// and every bin of every spectrum. A difference is relative to the value in f64 at that moment. For
// a scalar that changes its sign it is relative to its largest value. In chaotic motion the
// differences grow with time in any precision.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/compile.hpp"
#include "runtime/run/run.hpp"
#include "tools/oracle/second_run.hpp"

namespace vphi::tools {

/// Stores the spectra of a run, and passes all calls on to another onlooker.
class SpectrumKeeper : public runtime::Onlooker {
 public:
  struct Bin {
    double k = 0, power = 0, modes = 0;
  };
  struct Row {
    std::string name;
    io::Moment at;
    std::vector<Bin> bins;
  };

  explicit SpectrumKeeper(runtime::Onlooker* next = nullptr) : next_(next) {}

  bool attending() const override { return true; }
  void scalars(std::span<const std::string> names, const io::Moment& at,
               std::span<const double> values) override;
  void table(const io::Table& table, const io::Moment& at) override;
  void checks(const std::vector<runtime::ExpectationResult>& results) override;
  runtime::Wish between(const runtime::Progress& now) override;

  const std::vector<Row>& rows() const { return rows_; }

 private:
  bool relayed() const { return next_ != nullptr && next_->attending(); }

  runtime::Onlooker* next_;
  std::vector<Row> rows_;
};

/// The worst difference of a scalar, or of the bins of a spectrum.
struct Compared {
  std::string name;
  double difference = 0;  ///< relative
  double time = 0;        ///< time of this difference
  double k = -1;          ///< k of the bin; below 0: a scalar
  double f32 = 0, f64 = 0;
  bool of_largest = false;  ///< relative to the largest value
};

struct PrecisionCheck {
  std::string shown = "f32";  ///< precision of the requested run
  double allowed = 0.01;
  std::vector<Compared> rows;  ///< scalars, then spectra
  bool passed() const;
};

/// Compiles for the same device or ranks in the other precision and runs again, without files.
/// Throws RunError where that fails (E0807, E0843).
PrecisionCheck precision_check(const std::string& path, CompileOptions options,
                               const Compilation& model, const SecondRun& again,
                               const runtime::RunResult& shown, const SpectrumKeeper& spectra,
                               const runtime::RunOptions& how, double allowed);

void print_precision(const PrecisionCheck& check);

}  // namespace vphi::tools
