#include "runtime/device/cuda/memory_holders.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <vector>

#include "runtime/device/cuda/cuda.hpp"
#include "runtime/device/library.hpp"

namespace vphi::runtime {
namespace {

constexpr std::size_t kWorthNaming = 100'000'000;  ///< bytes; a context alone takes more
constexpr std::size_t kMostNamed = 4;

struct HolderOfMemory {
  long process = 0;
  std::size_t bytes = 0;
};

/// NVML's entry points and its record of a process (nvml.h, version 3 of the list).
struct ProcessRecord {
  unsigned process;
  unsigned long long bytes;
  unsigned gpu_instance, compute_instance;
};
constexpr unsigned long long kUnknown = ~0ULL;

/// "GPU-3f2a..." as NVML writes it.
std::string nvml_uuid(const std::string& digits) {
  if (digits.size() != 32) return {};
  return fmt::format("GPU-{}-{}-{}-{}-{}", digits.substr(0, 8), digits.substr(8, 4),
                     digits.substr(12, 4), digits.substr(16, 4), digits.substr(20));
}

/// The processes with a context on the device, as far as the driver tells their memory.
std::vector<HolderOfMemory> holders_on(const std::string& uuid) {
  const auto library =
      Library::open({"libnvidia-ml.so.1", "libnvidia-ml.so"}, Library::Close::Never);
  if (!library || uuid.empty()) return {};
  int (*begin)() = nullptr;
  int (*find)(const char*, void**) = nullptr;
  int (*list)(void*, unsigned*, ProcessRecord*) = nullptr;
  if (!library->bind(begin, "nvmlInit_v2") || !library->bind(find, "nvmlDeviceGetHandleByUUID") ||
      !library->bind(list, "nvmlDeviceGetComputeRunningProcesses_v3"))
    return {};
  void* device = nullptr;
  if (begin() != 0 || find(uuid.c_str(), &device) != 0) return {};
  std::vector<ProcessRecord> records(256);
  auto count = static_cast<unsigned>(records.size());
  if (list(device, &count, records.data()) != 0) return {};
  records.resize(std::min<std::size_t>(count, records.size()));
  std::vector<HolderOfMemory> all;
  for (const ProcessRecord& one : records)
    if (one.bytes != kUnknown && one.bytes >= kWorthNaming)
      all.push_back({static_cast<long>(one.process), static_cast<std::size_t>(one.bytes)});
  std::ranges::sort(all, std::greater<>(), &HolderOfMemory::bytes);
  return all;
}

std::string name_of_process(long process) {
  std::ifstream file(fmt::format("/proc/{}/comm", process));
  std::string name;
  return std::getline(file, name) ? fmt::format(" ({})", name) : std::string();
}

}  // namespace

std::string gigabytes(std::size_t bytes) {
  const double mb = static_cast<double>(bytes) / 1e6;
  return mb < 1000 ? fmt::format("{:.0f} MB", mb) : fmt::format("{:.1f} GB", mb / 1000);
}

std::string memory_holders(const DeviceInfo& info) {
  const std::string kind = "cuda:";
  if (!info.id.starts_with(kind) || info.memory_total <= info.memory_free) return {};
  const std::size_t held = info.memory_total - info.memory_free;
  if (held < info.memory_total / 20) return {};
  auto holders = holders_on(nvml_uuid(cuda_uuid(std::stoi(info.id.substr(kind.size())))));
  if (holders.empty())
    return fmt::format("{} are in use, by other processes or by other libraries of this one",
                       gigabytes(held));
  holders.resize(std::min(holders.size(), kMostNamed));
  std::vector<std::string> parts;
  for (const HolderOfMemory& one : holders) {
    const std::string verb = parts.empty() ? " are held" : "";
    parts.push_back(one.process == getpid()
                        ? fmt::format("{}{} by this process", gigabytes(one.bytes), verb)
                        : fmt::format("{}{} by process {}{}", gigabytes(one.bytes), verb,
                                      one.process, name_of_process(one.process)));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace vphi::runtime
