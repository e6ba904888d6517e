// A result file of unknown origin, as `vphi report` reads it: numbers or a message.
#include "runtime/report/page.hpp"
#include "runtime/report/read_hdf5.hpp"
#include "scratch_file.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace vphi;
  const fuzz::ScratchFile file(data, size, ".h5");
  report::Report report;
  try {
    report::read_hdf5(report, file.path());
    const std::string html = report::page(report);
    fuzz::must(html.size() < 8'000'000, "a page is small");
  } catch (const io::ResultsError&) {
    // said so
  }
  return 0;
}
