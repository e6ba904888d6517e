// Every shipped model that runs, without a race and without an access outside of its buffers, as a
// processor and as a GPU would run it, on 8 and on 12 sites along each axis.
#include "tests/support/oclgrind.hpp"

#include <gtest/gtest.h>

#include "compiler/compile.hpp"
#include "tests/support/simulate.hpp"
#include "tools/model.hpp"

namespace vphi {
namespace {

using testing::Form;

class OclgrindAll : public ::testing::TestWithParam<std::pair<std::string, std::string>> {
 protected:
  void check(Form form, int side, int steps) {
    std::string why;
    if (!testing::oclgrind_here(&why)) GTEST_SKIP() << why;
    const std::string& path = GetParam().second;
    const Compilation c = compile_model(path, {}, tools::default_target("opencl"));
    if (!c.program) {
      for (const auto& d : c.diagnostics.all())
        if (d.severity == dsl::Severity::Error)
          GTEST_SKIP() << "left out, " << d.code << ": " << d.message;
    }
    const auto found = testing::watch(path, form, side, steps);
    EXPECT_EQ(found.log, "");
    EXPECT_GT(found.launches, 2);
  }
};

TEST_P(OclgrindAll, AsOnAProcessor) { check(Form::Processor, 8, 2); }
TEST_P(OclgrindAll, AsOnAGpu) { check(Form::Gpu, 8, 2); }
TEST_P(OclgrindAll, AsOnAGpuWhereTilesHangOver) { check(Form::Gpu, 12, 1); }

INSTANTIATE_TEST_SUITE_P(Models, OclgrindAll, ::testing::ValuesIn(tools::shipped_models()),
                         [](const auto& test) { return test.param.first; });

}  // namespace
}  // namespace vphi
