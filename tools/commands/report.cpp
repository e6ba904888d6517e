// vphi report: the page of a run from its result files, or several runs on one page.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "dsl/syntax/load.hpp"
#include "runtime/io/results.hpp"
#include "runtime/report/page.hpp"
#include "runtime/report/read.hpp"
#include "runtime/report/record.hpp"
#include "tools/model.hpp"
#include "tools/running/page.hpp"

namespace vphi::tools {

namespace fs = std::filesystem;
using vphi::report::Report;

namespace {

std::string contents(const fs::path& path) {
  std::ostringstream all;
  all << std::ifstream(path, std::ios::binary).rdbuf();
  return all.str();
}

/// Formulas of a run whose page is gone, from the model text that its result file holds.
void rederive(Report& report) {
  if (report.text.empty()) return;
  const fs::path file =
      fs::temp_directory_path() / fmt::format("vphi_report_{}.vphi", static_cast<long>(getpid()));
  std::ofstream(file) << report.text;
  const Compilation c = derive_model(file.string(), {});
  std::error_code error;
  fs::remove(file, error);
  if (!c.system) {
    report.notes.emplace_back(
        "This version of vphi reads the model text of the run with errors, so "
        "that its formulas are not shown.");
    return;
  }
  take_compilation(report, c, {});
}

struct Place {
  fs::path folder;
  std::vector<fs::path> files;
};

Place find_run(const std::string& argument) {
  const fs::path path(argument);
  std::error_code error;
  Place place;
  if (fs::is_directory(path, error)) {
    place.folder = path;
    place.files = vphi::report::result_files(path);
  } else if (path.extension() == ".html" && fs::exists(path, error)) {
    place.folder = path.parent_path();
    place.files = vphi::report::result_files(place.folder.empty() ? "." : place.folder);
  } else if (vphi::report::is_result_file(path)) {
    place.folder = path.parent_path();
    place.files = {path};
  } else if (fs::exists(path, error)) {
    throw UsageError(fmt::format("`{}` is not a result file", argument),
                     "give the folder of a run's results, or a file that ends in .h5, .series.csv "
                     "or .spectra.csv");
  } else {
    throw UsageError(fmt::format("there is no run `{}`", argument),
                     "give the folder of a run's results, or one of its result files");
  }
  if (place.files.empty() && !fs::exists(place.folder / "report.html", error))
    throw UsageError(fmt::format("`{}` holds no results", argument),
                     "results are files that end in .h5, .series.csv or .spectra.csv");
  return place;
}

/// Reads the file once in a child process: libhdf5 may crash on a damaged file (1.10.8 does, in
/// H5HG_read), which must become a message.
void read_in_child_process(const fs::path& file) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) return;  // no child process possible: read it here
  if (child == 0) {
    try {
      Report ignored;
      vphi::report::read_results(ignored, file);
    } catch (const std::exception&) {  // reported when it is read here
    }
    _exit(0);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status))
    throw io::ResultsError(
        fmt::format("{} is damaged: the HDF5 library crashed while reading it", file.string()));
}

Report load(const std::string& argument) {
  const Place place = find_run(argument);
  Report report;
  const fs::path old = place.folder / "report.html";
  std::error_code error;
  const bool page = fs::exists(old, error);
  bool remembered = false;
  if (page)
    if (auto known = vphi::report::report_of_page(contents(old))) {
      report = std::move(*known);
      remembered = true;
    }
  for (const fs::path& file : place.files) {
    if (file.extension() == ".h5") read_in_child_process(file);
    vphi::report::read_results(report, file);
  }
  if (!remembered) rederive(report);
  report.name = fs::path(argument).lexically_normal().string();
  while (report.name.ends_with('/')) report.name.pop_back();
  return report;
}

}  // namespace

int report(const Words& words) {
  std::vector<std::string> runs;
  std::string file;
  bool json = false;
  CommandLine line("report RUN...",
                   "Writes the page of a run again from its result files; of several runs one page "
                   "that compares them.");
  line.arguments(runs, 1, 64)
      .value("-o", "FILE", file,
             "the page (default: report.html in the run's folder, "
             "comparison.html for several runs)")
      .flag("--json", json, "where the page is, as one JSON object");
  if (!line.parse(words)) return kOk;
  const auto done = [&](const fs::path& page) {
    const nlohmann::ordered_json out = {
        {"ok", true}, {"file", page.string()}, {"bytes", fs::file_size(page)}};
    fmt::print("{}\n", json ? out.dump(1) : page.string());
    return kOk;
  };
  std::vector<Report> reports;
  for (const std::string& run : runs) reports.push_back(load(run));
  if (reports.size() == 1) {
    const Place place = find_run(runs[0]);
    const fs::path target = file.empty() ? place.folder / "report.html" : fs::path(file);
    reports[0].name.clear();
    write_page(target, vphi::report::page(reports[0]));
    return done(target);
  }
  const fs::path target = file.empty() ? fs::path("comparison.html") : fs::path(file);
  write_page(target, vphi::report::comparison(reports));
  return done(target);
}

}  // namespace vphi::tools
