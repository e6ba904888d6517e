#include "runtime/device/opencl/opencl_api.hpp"

namespace vphi::runtime::cl {
namespace {

struct Loaded {
  Api api;
  bool complete = false;
  std::string why;
};

Loaded load() {
  Loaded result;
  const auto library =
      Library::open({"libOpenCL.so.1", "libOpenCL.so"}, Library::Close::Never, &result.why);
  if (!library) return result;
  Api& api = result.api;
  result.complete = library->bind(api.GetPlatformIDs, "clGetPlatformIDs") &&
                    library->bind(api.GetPlatformInfo, "clGetPlatformInfo") &&
                    library->bind(api.GetDeviceIDs, "clGetDeviceIDs") &&
                    library->bind(api.GetDeviceInfo, "clGetDeviceInfo") &&
                    library->bind(api.CreateContext, "clCreateContext") &&
                    library->bind(api.ReleaseContext, "clReleaseContext") &&
                    library->bind(api.CreateCommandQueue, "clCreateCommandQueue") &&
                    library->bind(api.ReleaseCommandQueue, "clReleaseCommandQueue") &&
                    library->bind(api.CreateBuffer, "clCreateBuffer") &&
                    library->bind(api.ReleaseMemObject, "clReleaseMemObject") &&
                    library->bind(api.EnqueueWriteBuffer, "clEnqueueWriteBuffer") &&
                    library->bind(api.EnqueueReadBuffer, "clEnqueueReadBuffer") &&
                    library->bind(api.EnqueueFillBuffer, "clEnqueueFillBuffer") &&
                    library->bind(api.EnqueueMapBuffer, "clEnqueueMapBuffer") &&
                    library->bind(api.CreateProgramWithSource, "clCreateProgramWithSource") &&
                    library->bind(api.CreateProgramWithBinary, "clCreateProgramWithBinary") &&
                    library->bind(api.BuildProgram, "clBuildProgram") &&
                    library->bind(api.GetProgramInfo, "clGetProgramInfo") &&
                    library->bind(api.GetProgramBuildInfo, "clGetProgramBuildInfo") &&
                    library->bind(api.ReleaseProgram, "clReleaseProgram") &&
                    library->bind(api.CreateKernel, "clCreateKernel") &&
                    library->bind(api.GetKernelInfo, "clGetKernelInfo") &&
                    library->bind(api.GetKernelWorkGroupInfo, "clGetKernelWorkGroupInfo") &&
                    library->bind(api.SetKernelArg, "clSetKernelArg") &&
                    library->bind(api.ReleaseKernel, "clReleaseKernel") &&
                    library->bind(api.EnqueueNDRangeKernel, "clEnqueueNDRangeKernel") &&
                    library->bind(api.Flush, "clFlush") && library->bind(api.Finish, "clFinish");
  if (!result.complete) result.why = library->name() + " lacks functions of OpenCL 1.2";
  return result;
}

}  // namespace

const Api* Api::get(std::string* why) {
  static const Loaded loaded = load();
  if (!loaded.complete && why) *why = loaded.why;
  return loaded.complete ? &loaded.api : nullptr;
}

std::string error_name(Int code) {
  switch (code) {
    case -1:
      return "CL_DEVICE_NOT_FOUND";
    case -2:
      return "CL_DEVICE_NOT_AVAILABLE";
    case -3:
      return "CL_COMPILER_NOT_AVAILABLE";
    case -4:
      return "CL_MEM_OBJECT_ALLOCATION_FAILURE";
    case -5:
      return "CL_OUT_OF_RESOURCES";
    case -6:
      return "CL_OUT_OF_HOST_MEMORY";
    case -11:
      return "CL_BUILD_PROGRAM_FAILURE";
    case -14:
      return "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST";
    case -30:
      return "CL_INVALID_VALUE";
    case -34:
      return "CL_INVALID_CONTEXT";
    case -36:
      return "CL_INVALID_COMMAND_QUEUE";
    case -38:
      return "CL_INVALID_MEM_OBJECT";
    case -42:
      return "CL_INVALID_BINARY";
    case -43:
      return "CL_INVALID_BUILD_OPTIONS";
    case -44:
      return "CL_INVALID_PROGRAM";
    case -45:
      return "CL_INVALID_PROGRAM_EXECUTABLE";
    case -46:
      return "CL_INVALID_KERNEL_NAME";
    case -48:
      return "CL_INVALID_KERNEL";
    case -49:
      return "CL_INVALID_ARG_INDEX";
    case -50:
      return "CL_INVALID_ARG_VALUE";
    case -51:
      return "CL_INVALID_ARG_SIZE";
    case -52:
      return "CL_INVALID_KERNEL_ARGS";
    case -54:
      return "CL_INVALID_WORK_GROUP_SIZE";
    case -55:
      return "CL_INVALID_WORK_ITEM_SIZE";
    case -61:
      return "CL_INVALID_BUFFER_SIZE";
    case -1001:
      return "no OpenCL platform is installed";
    default:
      return "OpenCL error " + std::to_string(code);
  }
}

}  // namespace vphi::runtime::cl
