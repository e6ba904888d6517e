// Kernels that differ by names and by the places of their scalars are compiled once, and compute
// what each of them says.
#include "runtime/device/native/shared_text.hpp"

#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <vector>

#include "runtime/device/compile_progress.hpp"
#include "runtime/device/device.hpp"
#include "runtime/device/native/native.hpp"
#include "tests/device/scratch.hpp"

namespace vphi::runtime {
namespace {

/// out = in*factor + scalars[from], and scalars[to] = the first of the results; long enough to be
/// worth sharing.
program::Kernel scaled(const std::string& field, const std::string& factor, int from, int to) {
  const std::string f = "vphi_" + field;
  std::string source = "// " + field + " of the model\n#define VPHI_ADD(sum, x) sum += x\n" +
                       "static double offset_of_" + field + "(const double* scalars) {\n" +
                       "  return scalars[" + std::to_string(from) + "];\n}\n" +
                       "extern \"C\" void " + f + "_kernel(void* const* args, long task) {\n" +
                       "  double* " + f + " = (double*)args[0];\n" +
                       "  double* scalars = (double*)args[1];\n  double sum = 0.0;\n";
  for (int i = 0; i < 200; ++i) source += "  VPHI_ADD(sum, 1.0); // " + field + "\n";
  source += "  " + f + "[task] = " + f + "[task]*" + factor +
            " + (sum - 200.0) +\n      offset_of_" + field + "(scalars);\n}\n" +
            "extern \"C\" void " + f +
            "_finish(void* const* args) {\n  double* scalars = (double*)args[1];\n  scalars[" +
            std::to_string(to) + "] = ((double*)args[0])[0];\n}\n";
  program::Kernel kernel;
  kernel.name = field;
  kernel.source = source;
  kernel.entry = f + "_kernel";
  kernel.finish = f + "_finish";
  kernel.grid = {4, 1, 1};
  kernel.arguments.resize(2);
  return kernel;
}

std::string form(const program::Kernel& kernel, bool with_table) {
  return shared_text(kernel.source, with_table).text;
}

TEST(SharedText, NamesRemarksAndWrappedLinesDoNotMatter) {
  EXPECT_EQ(form(scaled("phi", "2.0", 3, 4), false),
            form(scaled("a_long_name", "2.0", 3, 4), false));
  EXPECT_EQ(shared_text("int a = 1 +\n   2; // x\n", false).text,
            shared_text("int bb = 1 + 2;", false).text);
}

TEST(SharedText, NumbersOperatorsAndWhichNameIsMeantMatter) {
  const auto text = [](std::string_view source) { return shared_text(source, true).text; };
  EXPECT_NE(form(scaled("phi", "2.0", 3, 4), true), form(scaled("phi", "2.5", 3, 4), true));
  EXPECT_NE(text("f(a, b)"), text("f(a, a)"));
  EXPECT_NE(text("f(a, b) + a"), text("f(a, b) + b"));
  EXPECT_NE(text("x = a + b"), text("x = a - b"));
  EXPECT_NE(text("x = 1.0e-3"), text("x = 1.0e+3"));
  EXPECT_NE(text("a - -b"), text("a --b"));
}

TEST(SharedText, WordsOfTheLanguageMacrosAndStringsStay) {
  const std::string text =
      shared_text(
          "#define KEEP(x) x + \\\n  also\nextern \"C\" double f() { return KEEP(own) + "
          "also + __builtin_sqrt(0x1fu + 2.5e-3); }\n",
          false)
          .text;
  EXPECT_EQ(text,
            "#define KEEP(x) x + \\\n  also\nextern \"C\" double n0() { return KEEP(n1) + also + "
            "__builtin_sqrt(0x1fu + 2.5e-3);\n}\n");
}

TEST(SharedText, LinesForTheCompilerStayInTheirPlaces) {
  const SharedText text = shared_text(
      "// vphi: long\n// phi\n// vphi: contract=off\nscalars[7] = 1;\n// vphi: seldom\n", true);
  EXPECT_TRUE(text.text.starts_with("// vphi: long\n")) << text.text;
  EXPECT_TRUE(text.text.ends_with("// vphi: seldom\n")) << text.text;
  EXPECT_NE(text.text.find("\n// vphi: contract=off\n"), std::string::npos) << text.text;
  EXPECT_EQ(text.places, std::vector<long>{7});
}

TEST(SharedText, PlacesAreInATableOnlyWhereThatMakesKernelsEqual) {
  const std::vector<program::Kernel> kernels = {scaled("a", "2.0", 1, 2), scaled("b", "2.0", 1, 2),
                                                scaled("c", "3.0", 1, 2), scaled("d", "3.0", 5, 6)};
  std::vector<std::string_view> sources;
  for (const program::Kernel& kernel : kernels) sources.push_back(kernel.source);
  sources.push_back("int short_text;");
  const auto texts = shared_texts(sources, 2);
  EXPECT_EQ(texts[0].text, texts[1].text);
  EXPECT_TRUE(texts[0].places.empty());
  EXPECT_EQ(texts[2].text, texts[3].text);
  EXPECT_EQ(texts[2].places, (std::vector<long>{1, 2}));
  EXPECT_EQ(texts[3].places, (std::vector<long>{5, 6}));
  EXPECT_EQ(texts[4].text, "int short_text;");
}

class SharedKernels : public ::testing::TestWithParam<HostCompilerChoice> {};

TEST_P(SharedKernels, AreCompiledOnceAndComputeWhatEachSays) {
  const ScratchCache cache;
  std::unique_ptr<Device> device;
  try {
    device = open_native(GetParam(), 2);
  } catch (const DeviceError&) {
    GTEST_SKIP() << "this way of compiling is absent here";
  }
  const std::vector<program::Kernel> kernels = {
      scaled("a", "2.0", 0, 4), scaled("other", "2.0", 1, 5), scaled("third", "2.0", 2, 6),
      scaled("apart", "3.0", 3, 7)};
  for (const int compilations : {2, 0}) {  // the second time from the cache
    const auto before = kernels_compiled();
    const auto handles = device->compile(kernels);
    EXPECT_EQ(kernels_compiled() - before, compilations);
    const std::array fields{device->allocate(32), device->allocate(64)};
    std::vector<double> scalars(8);
    std::iota(scalars.begin(), scalars.end(), 10.0);
    device->upload(fields[1], 0, std::as_bytes(std::span(scalars)));
    std::vector<double> expected{1, 2, 3, 4}, got(4);
    device->upload(fields[0], 0, std::as_bytes(std::span(expected)));
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      device->launch(handles[k], fields);
      for (double& x : expected) x = x * (k == 3 ? 3.0 : 2.0) + (10.0 + static_cast<double>(k));
      device->download(std::as_writable_bytes(std::span(got)), fields[0], 0);
      EXPECT_EQ(got, expected) << kernels[k].name;
      scalars[4 + k] = expected[0];
    }
    std::vector<double> left(8);
    device->download(std::as_writable_bytes(std::span(left)), fields[1], 0);
    EXPECT_EQ(left, scalars);
    for (const BufferHandle one : fields) device->free(one);
  }
}

INSTANTIATE_TEST_SUITE_P(Compilers, SharedKernels,
                         ::testing::Values(HostCompilerChoice::Plugin, HostCompilerChoice::System),
                         [](const auto& info) {
                           return info.param == HostCompilerChoice::Plugin ? "plugin" : "system";
                         });

}  // namespace
}  // namespace vphi::runtime
