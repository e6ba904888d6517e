#include "embed/translate.hpp"

#include <fmt/format.h>

#include <new>

#include "embed/failing_term.hpp"
#include "program/json.hpp"
#include "runtime/device/device.hpp"
#include "runtime/io/configurations/configuration.hpp"
#include "runtime/io/results.hpp"
#include "runtime/io/start_error.hpp"
#include "runtime/run/run.hpp"

namespace vphi::embed {

void throw_translated(const Compilation* compilation) {
  try {
    throw;
  } catch (const Error&) {
    throw;
  } catch (const runtime::BrokenState& broken) {
    Error error(broken.what(), broken.hint, broken.code, ErrorKind::Broken);
    error.step = broken.step;
    if (compilation != nullptr && compilation->program && broken.plane < 0) {
      const program::Program& p = *compilation->program;
      error.site.assign(broken.site.begin(), broken.site.begin() + p.dims);
      error.line = p.state.at(static_cast<std::size_t>(broken.variable)).line_number;
    }
    if (compilation != nullptr) error.cause = failing_term(broken, *compilation);
    throw error;
  } catch (const runtime::RunError& failure) {
    throw Error(failure.what(), failure.hint, failure.code, ErrorKind::Run);
  } catch (const io::ConfigurationError& failure) {
    throw Error(failure.what(), {}, "E0831", ErrorKind::Results);
  } catch (const io::StartError& failure) {
    throw Error(failure.what(), {}, "E0782", ErrorKind::Results);
  } catch (const io::ResultsError& failure) {
    throw Error(failure.what(), {}, "E0830", ErrorKind::Results);
  } catch (const program::ProgramError& failure) {
    throw Error(failure.what(), {}, "E0840", ErrorKind::Usage);
  } catch (const runtime::DeviceError& failure) {
    Error error(failure.what(), {}, "E0820", ErrorKind::Device);
    error.log = failure.log;
    throw error;
  } catch (const std::bad_alloc&) {
    throw Error("the host ran out of memory", "a smaller lattice", "E0802", ErrorKind::Run);
  }
}

}  // namespace vphi::embed
