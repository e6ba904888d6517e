#include "tools/stand_alone.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace vphi::tools {
namespace {

using program::Argument;
using program::Kernel;
using program::Precision;
using program::Program;
using program::Target;

struct Array {
  std::string comment, type;
  std::int64_t count = 0;
  bool field = false, scalars = false;
};

std::vector<Array> arrays_of(const Program& p, const Kernel& k) {
  std::vector<Array> arrays;
  for (const Argument& a : k.arguments) {
    switch (a.kind) {
      case Argument::Kind::Current:
      case Argument::Kind::Next: {
        const auto& buffer = p.buffers[a.index];
        const char* copy = a.kind == Argument::Kind::Next ? ", the other copy" : "";
        arrays.push_back({buffer.name + copy,
                          buffer.precision == Precision::F32 ? "float" : "double", p.sites(), true,
                          false});
        break;
      }
      case Argument::Kind::Scalars:
        arrays.push_back(
            {"scalars", "double", static_cast<std::int64_t>(p.scalars.size()), false, true});
        break;
      case Argument::Kind::Partials:
        arrays.push_back({"partial sums", "double", std::max<std::int64_t>(1, k.partials)});
        break;
      case Argument::Kind::Counter:
        arrays.push_back({"counter", "unsigned", 1});
        break;
    }
  }
  return arrays;
}

/// Scalars with the program's first values; those it computes later stand at 1 here.
std::string scalar_values(const Program& p) {
  std::string text;
  for (std::size_t i = 0; i < p.scalars.size(); ++i) {
    const int slot = static_cast<int>(i);
    const bool counts = slot == p.step_slot || slot == p.time_slot || slot == p.stop_slot;
    const double value = p.scalars[i].initial != 0 || counts ? p.scalars[i].initial : 1.0;
    text += fmt::format("    {:.17g},  // {}\n", value, p.scalars[i].name);
  }
  return text;
}

std::string host_arrays(const Program& p, const std::vector<Array>& arrays) {
  std::string text;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const Array& a = arrays[i];
    if (a.scalars) {
      text += fmt::format("  std::vector<double> host{} = {{  // scalars\n{}  }};\n", i,
                          scalar_values(p));
      continue;
    }
    text += fmt::format("  std::vector<{}> host{}({});  // {}\n", a.type, i, a.count, a.comment);
    if (a.field)
      text += fmt::format(
          "  for (long i = 0; i < {}; ++i) host{}[i] = {}(0.1*std::sin(0.001*i + {}));\n", a.count,
          i, a.type, i);
  }
  return text;
}

/// The last lines of main: time and a checksum of every field.
std::string closing(const Program& p, const std::vector<Array>& arrays) {
  std::string text =
      fmt::format("  std::printf(\"%.4g ns a site\\n\", 1e9*seconds/repeats/{}.0);\n", p.sites());
  for (std::size_t i = 0; i < arrays.size(); ++i)
    if (arrays[i].field)
      text += fmt::format(
          "  {{\n    double sum = 0;\n    for (auto v : host{0}) sum += v;\n"
          "    std::printf(\"sum of {1}: %.12g\\n\", sum);\n  }}\n",
          i, arrays[i].comment);
  return text + "}\n";
}

constexpr const char* kClock = "  const auto start = std::chrono::steady_clock::now();\n";
constexpr const char* kElapsed =
    "  const double seconds =\n"
    "      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();\n";
constexpr const char* kIncludes =
    "#include <chrono>\n#include <cmath>\n#include <cstdio>\n#include <cstdlib>\n#include "
    "<vector>\n\n";

std::string native(const Program& p, const Kernel& k, const std::vector<Array>& arrays) {
  std::string text = "// g++ -std=c++20 -O3 -march=native FILE && ./a.out\n" + k.source + "\n";
  text += kIncludes + std::string("int main() {\n  const int repeats = 10;\n");
  text += host_arrays(p, arrays) + "  void* arguments[] = {";
  for (std::size_t i = 0; i < arrays.size(); ++i) text += fmt::format("host{}.data(), ", i);
  text += "};\n";
  text += kClock;
  text += fmt::format(
      "  for (int repeat = 0; repeat < repeats; ++repeat) {{\n"
      "    for (long task = 0; task < {}; ++task) {}(arguments, task);\n{}  }}\n",
      k.grid[0], k.entry, k.finish.empty() ? "" : fmt::format("    {}(arguments);\n", k.finish));
  return text + kElapsed + closing(p, arrays);
}

std::string cuda(const Program& p, const Kernel& k, const std::vector<Array>& arrays) {
  std::string text = "// nvcc -std=c++17 -O3 -arch=native FILE && ./a.out\n" + k.source + "\n";
  text += kIncludes;
  text +=
      "static void check(cudaError_t status) {\n"
      "  if (status == cudaSuccess) return;\n"
      "  std::printf(\"%s\\n\", cudaGetErrorString(status));\n  std::exit(1);\n}\n\n"
      "int main() {\n  const int repeats = 10;\n";
  text += host_arrays(p, arrays);
  std::string list;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    text += fmt::format(
        "  void* device{0};\n  check(cudaMalloc(&device{0}, {1}*sizeof({2})));\n"
        "  check(cudaMemcpy(device{0}, host{0}.data(), {1}*sizeof({2}), "
        "cudaMemcpyHostToDevice));\n",
        i, arrays[i].count, arrays[i].type);
    list += fmt::format("&device{}, ", i);
  }
  text += fmt::format("  void* arguments[] = {{{}}};\n", list);
  text += fmt::format(
      "  check(cudaFuncSetAttribute((const void*){}, cudaFuncAttributeMaxDynamicSharedMemorySize, "
      "{}));\n",
      k.entry, k.shared_bytes);
  text += kClock;
  text += fmt::format(
      "  for (int repeat = 0; repeat < repeats; ++repeat)\n"
      "    check(cudaLaunchKernel((const void*){}, dim3({}, {}, {}), dim3({}, {}, {}), arguments, "
      "{}, "
      "0));\n  check(cudaDeviceSynchronize());\n",
      k.entry, k.grid[0], k.grid[1], k.grid[2], k.block[0], k.block[1], k.block[2], k.shared_bytes);
  text += kElapsed;
  for (std::size_t i = 0; i < arrays.size(); ++i)
    text += fmt::format(
        "  check(cudaMemcpy(host{0}.data(), device{0}, {1}*sizeof({2}), "
        "cudaMemcpyDeviceToHost));\n",
        i, arrays[i].count, arrays[i].type);
  return text + closing(p, arrays);
}

std::string opencl(const Program& p, const Kernel& k, const std::vector<Array>& arrays) {
  std::string text =
      "// g++ -std=c++17 -O2 FILE -lOpenCL && ./a.out     (runs on the first device)\n"
      "#define CL_TARGET_OPENCL_VERSION 120\n#include <CL/cl.h>\n";
  text += kIncludes +
          fmt::format("static const char* const source = R\"kernel({})kernel\";\n\n", k.source);
  text +=
      "static void check(cl_int status, const char* doing) {\n"
      "  if (status == CL_SUCCESS) return;\n"
      "  std::printf(\"%s: %d\\n\", doing, status);\n  std::exit(1);\n}\n\n"
      "int main() {\n  const int repeats = 10;\n  cl_platform_id platform;\n  cl_device_id "
      "device;\n"
      "  cl_int status;\n"
      "  check(clGetPlatformIDs(1, &platform, nullptr), \"platform\");\n"
      "  check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr), \"device\");\n"
      "  cl_context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &status);\n"
      "  check(status, \"context\");\n"
      "  cl_command_queue queue = clCreateCommandQueue(context, device, 0, &status);\n"
      "  check(status, \"queue\");\n"
      "  const char* text = source;\n"
      "  cl_program program = clCreateProgramWithSource(context, 1, &text, nullptr, &status);\n"
      "  check(clBuildProgram(program, 1, &device, \"-cl-std=CL1.2\", nullptr, nullptr), "
      "\"build\");\n";
  text += fmt::format("  cl_kernel kernel = clCreateKernel(program, \"{}\", &status);\n", k.entry);
  text += "  check(status, \"kernel\");\n" + host_arrays(p, arrays);
  for (std::size_t i = 0; i < arrays.size(); ++i)
    text += fmt::format(
        "  cl_mem device{0} = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,\n"
        "                                  {1}*sizeof({2}), host{0}.data(), &status);\n"
        "  check(status, \"array\");\n"
        "  check(clSetKernelArg(kernel, {0}, sizeof(cl_mem), &device{0}), \"argument\");\n",
        i, arrays[i].count, arrays[i].type);
  if (k.shared_bytes > 0)
    text += fmt::format("  check(clSetKernelArg(kernel, {}, {}, nullptr), \"local memory\");\n",
                        arrays.size(), k.shared_bytes);
  text += fmt::format("  const size_t block[] = {{{}, {}, {}}}, size[] = {{{}, {}, {}}};\n",
                      k.block[0], k.block[1], k.block[2], std::uint64_t{k.grid[0]} * k.block[0],
                      std::uint64_t{k.grid[1]} * k.block[1], std::uint64_t{k.grid[2]} * k.block[2]);
  text += kClock;
  text +=
      "  for (int repeat = 0; repeat < repeats; ++repeat)\n"
      "    check(clEnqueueNDRangeKernel(queue, kernel, 3, nullptr, size, block, 0, nullptr, "
      "nullptr),\n"
      "          \"launch\");\n  check(clFinish(queue), \"run\");\n";
  text += kElapsed;
  for (std::size_t i = 0; i < arrays.size(); ++i)
    text += fmt::format(
        "  check(clEnqueueReadBuffer(queue, device{0}, CL_TRUE, 0, {1}*sizeof({2}), "
        "host{0}.data(), 0,\n"
        "                            nullptr, nullptr), \"read\");\n",
        i, arrays[i].count, arrays[i].type);
  return text + closing(p, arrays);
}

}  // namespace

std::string stand_alone(const Program& p, int kernel) {
  const Kernel& k = p.kernels.at(static_cast<std::size_t>(kernel));
  const auto arrays = arrays_of(p, k);
  const std::string head =
      fmt::format("// Kernel `{}` of the model {}, written by vphi.\n", k.name, p.model);
  switch (p.target) {
    case Target::Native:
      return head + native(p, k, arrays);
    case Target::Cuda:
      return head + cuda(p, k, arrays);
    case Target::OpenCL:
      return head + opencl(p, k, arrays);
  }
  return {};
}

}  // namespace vphi::tools
