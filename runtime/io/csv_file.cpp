// Series and spectra as comma-separated text.
#include <fmt/format.h>

#include <fstream>

#include "runtime/io/results.hpp"

namespace vphi::io {
namespace {

namespace fs = std::filesystem;

/// RFC 4180: quotes around names with commas or quotes.
std::string field(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string out = "\"";
  for (char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + '"';
}

class CsvFile : public ResultFile {
 public:
  explicit CsvFile(const fs::path& path) : stem_(path) { stem_.replace_extension(); }

  void scalars(std::span<const std::string> names, const Moment& at,
               std::span<const double> values) override {
    // Clauses of different names and times have a table each.
    std::string header = "step,t";
    for (const auto& name : names) header += ',' + field(name);
    auto [place, fresh] = tables_.try_emplace(header);
    if (fresh) {
      const std::string number = tables_.size() == 1 ? "" : std::to_string(tables_.size());
      open(place->second, ".series" + number + ".csv");
      place->second << header << '\n';
    }
    std::string row = fmt::format("{},{}", at.step, at.time);
    for (double value : values) row += fmt::format(",{}", value);
    place->second << row << '\n';
  }

  void spectrum(const std::string& name, const Moment& at,
                std::span<const SpectrumBin> bins) override {
    if (!spectra_.is_open()) {
      open(spectra_, ".spectra.csv");
      spectra_ << "name,step,t,k,P,Delta,modes\n";
    }
    for (const auto& bin : bins)
      spectra_ << fmt::format("{},{},{},{},{},{},{}\n", field(name), at.step, at.time, bin.k,
                              bin.power, bin.delta, bin.modes);
  }

  void array(const std::string&, const std::string& name, const Moment&,
             std::span<const std::int64_t>, std::span<const double>, program::Precision) override {
    if (!left_out_.empty()) return;
    left_out_ = fmt::format(
        "`{}` and other arrays are not written: that takes HDF5 (apt-get install libhdf5-dev) and "
        "a file name that ends in .h5",
        name);
  }

  void flush() override {
    for (auto& [header, table] : tables_) check(table.flush());
    if (spectra_.is_open()) check(spectra_.flush());
  }

  std::vector<std::string> notes() const override {
    return left_out_.empty() ? std::vector<std::string>{} : std::vector{left_out_};
  }

 private:
  void open(std::ofstream& stream, const std::string& ending) const {
    stream.open(stem_.string() + ending);
    check(stream);
  }
  void check(const std::ostream& stream) const {
    if (!stream) throw ResultsError(fmt::format("{} cannot be written", stem_.string()));
  }

  fs::path stem_;
  std::map<std::string, std::ofstream> tables_;
  std::ofstream spectra_;
  std::string left_out_;
};

}  // namespace

std::unique_ptr<ResultFile> open_csv(const fs::path& path, const program::Program&) {
  return std::make_unique<CsvFile>(path);
}

}  // namespace vphi::io
