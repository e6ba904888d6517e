#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <stdexcept>

#include "tests/emit/fixture.hpp"

namespace vphi::emit_test {

State through_buffers(const Case& c, const program::Kernel& kernel, const State& start,
                      const std::function<void(std::vector<std::vector<std::byte>>&)>& go);

namespace {

cl_device_id first_device() {
  cl_platform_id platform = nullptr;
  cl_device_id device = nullptr;
  if (clGetPlatformIDs(1, &platform, nullptr) != CL_SUCCESS) return nullptr;
  if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr) != CL_SUCCESS)
    return nullptr;
  return device;
}

void check(cl_int status, const char* what) {
  if (status != CL_SUCCESS)
    throw std::runtime_error(std::string(what) + ": OpenCL error " + std::to_string(status));
}

}  // namespace

bool opencl_available() { return first_device() != nullptr; }

State run_opencl(const Case& c, const program::Kernel& kernel, const State& start) {
  const cl_device_id device = first_device();
  cl_int status = 0;
  const cl_context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &status);
  check(status, "context");
  const cl_command_queue queue = clCreateCommandQueue(context, device, 0, &status);
  check(status, "queue");
  const char* text = kernel.source.c_str();
  const cl_program built = clCreateProgramWithSource(context, 1, &text, nullptr, &status);
  check(status, "program");
  if (clBuildProgram(built, 1, &device, "-cl-std=CL1.2", nullptr, nullptr) != CL_SUCCESS) {
    std::string log(100000, '\0');
    clGetProgramBuildInfo(built, device, CL_PROGRAM_BUILD_LOG, log.size(), log.data(), nullptr);
    throw std::runtime_error("build failed:\n" + std::string(log.c_str()) + kernel.source);
  }
  const cl_kernel entry = clCreateKernel(built, kernel.entry.c_str(), &status);
  check(status, "kernel");
  State end = through_buffers(c, kernel, start, [&](auto& buffers) {
    std::vector<cl_mem> memory;
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      memory.push_back(clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                      buffers[i].size(), buffers[i].data(), &status));
      check(status, ("buffer " + std::to_string(i) + " of " + kernel.entry).c_str());
      check(clSetKernelArg(entry, static_cast<cl_uint>(i), sizeof(cl_mem), &memory.back()),
            "argument");
    }
    std::size_t global[3], local[3];
    for (std::size_t i = 0; i < 3; ++i) {
      local[i] = kernel.block[i];
      global[i] = static_cast<std::size_t>(kernel.grid[i]) * kernel.block[i];
    }
    check(clEnqueueNDRangeKernel(queue, entry, 3, nullptr, global, local, 0, nullptr, nullptr),
          "launch");
    check(clFinish(queue), "finish");
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      check(clEnqueueReadBuffer(queue, memory[i], CL_TRUE, 0, buffers[i].size(), buffers[i].data(),
                                0, nullptr, nullptr),
            "read");
      clReleaseMemObject(memory[i]);
    }
  });
  clReleaseKernel(entry);
  clReleaseProgram(built);
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
  return end;
}

}  // namespace vphi::emit_test
