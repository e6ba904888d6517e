#include "runtime/device/native/native.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <tuple>

#include "runtime/device/cache.hpp"
#include "runtime/device/code_cache.hpp"
#include "runtime/device/kernel_list.hpp"
#include "runtime/device/native/host_compiler.hpp"
#include "runtime/device/native/shared_text.hpp"
#include "runtime/device/native/thread_pool.hpp"
#include "runtime/device/native/wave.hpp"

namespace vphi::runtime {
namespace {

using Clock = std::chrono::steady_clock;

/// A line "NAME: VALUE kB" of /proc/meminfo, in bytes.
std::size_t meminfo(std::string_view name) {
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(name))
      return std::strtoull(line.c_str() + name.size() + 1, nullptr, 10) << 10;
  return 0;
}

std::size_t number_in(const char* path) {
  std::ifstream file(path);
  std::size_t value = 0;
  return file >> value ? value : 0;
}

/// Memory of the machine or of the control group, whichever is less: (total, free).
std::pair<std::size_t, std::size_t> memory() {
  std::size_t total = meminfo("MemTotal:"), free = meminfo("MemAvailable:");
  const std::size_t limit = number_in("/sys/fs/cgroup/memory.max");
  const std::size_t used = number_in("/sys/fs/cgroup/memory.current");
  if (limit > 0 && limit < total) {
    total = limit;
    free = std::min(free, limit - std::min(limit, used));
  }
  return {total, free};
}

/// Anonymous pages: zero, untouched, in huge pages where the system has them.
class Pages {
 public:
  Pages(std::size_t bytes, std::size_t offset) : size_(bytes + offset), offset_(offset) {
    void* at = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) return;
    base_ = static_cast<std::byte*>(at);
    if (bytes >= (std::size_t(4) << 20)) madvise(base_, size_, MADV_HUGEPAGE);
  }
  ~Pages() {
    if (base_) munmap(base_, size_);
  }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  std::byte* data() const { return base_ ? base_ + offset_ : nullptr; }
  std::size_t size() const { return size_ - offset_; }

 private:
  std::byte* base_ = nullptr;
  std::size_t size_, offset_;
};

/// What the kernels of one call of `compile` share: equal texts are compiled once.
class Objects {
 public:
  struct One {
    std::mutex lock;
    std::string bytes;  ///< empty before the first kernel of this text is compiled
  };

  Objects(std::span<const program::Kernel> kernels, int threads) : first_(kernels.size()) {
    std::vector<std::string_view> sources;
    for (const program::Kernel& kernel : kernels) sources.push_back(kernel.source);
    texts_ = shared_texts(sources, threads);
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      const auto [place, is_new] = objects_.try_emplace(texts_[k].text);
      first_[k] = is_new;
      own_.push_back(&place->second);
    }
  }

  const SharedText& text(std::size_t k) const { return texts_[k]; }
  One& of(std::size_t k) { return *own_[k]; }
  /// Kernels that are compiled come first, the largest before the others.
  std::size_t size(std::size_t k) const { return first_[k] ? texts_[k].text.size() : 0; }

 private:
  std::vector<SharedText> texts_;
  std::map<std::string_view, One> objects_;
  std::vector<One*> own_;
  std::vector<bool> first_;
};

class NativeDevice : public Device {
 public:
  NativeDevice(std::unique_ptr<HostCompiler> compiler, int threads)
      : compiler_(std::move(compiler)),
        pool_(threads > 0 ? threads : usable_threads()),
        info_(native_info()) {
    info_.driver = compiler_->name();
    info_.compute_units = pool_.threads();
  }

  DeviceInfo info() const override {
    DeviceInfo now = info_;
    std::tie(now.memory_total, now.memory_free) = memory();
    return now;
  }

  BufferHandle allocate(std::size_t bytes) override {
    // Arrays of a power of two of sites would start at the same place of every cache set: shift
    // each by 17 cache lines more than the one before.
    const std::size_t offset = std::size_t(next_buffer_ % 31) * 17 * 64;
    const std::size_t free = memory().second;
    auto pages =
        bytes <= free ? std::make_unique<Pages>(std::max<std::size_t>(bytes, 1), offset) : nullptr;
    if (!pages || !pages->data())
      throw DeviceError("Not enough memory: " + std::to_string(bytes >> 20) + " MiB wanted, " +
                        std::to_string(free >> 20) + " MiB free on this machine.");
    buffers_[next_buffer_] = std::move(pages);
    return {next_buffer_++};
  }

  void free(BufferHandle buffer) override { buffers_.erase(buffer.id); }

  void upload(BufferHandle to, std::size_t offset, std::span<const std::byte> from) override {
    if (!from.empty()) std::memcpy(range(to, offset, from.size()), from.data(), from.size());
  }

  void download(std::span<std::byte> to, BufferHandle from, std::size_t offset) override {
    if (!to.empty()) std::memcpy(to.data(), range(from, offset, to.size()), to.size());
  }

  void zero(BufferHandle buffer) override {
    // In as many pieces as there are threads: pages then lie near the thread that will use them.
    Pages& pages = find(buffer);
    const std::size_t piece = pages.size() / std::size_t(pool_.threads()) + 1;
    void* arguments[] = {pages.data(), reinterpret_cast<void*>(pages.size()),
                         reinterpret_cast<void*>(piece)};
    pool_.run(
        pool_.threads(),
        [](void* const* a, long task) {
          const auto size = reinterpret_cast<std::size_t>(a[1]);
          const auto piece_size = reinterpret_cast<std::size_t>(a[2]);
          const std::size_t begin = std::min(size, std::size_t(task) * piece_size);
          std::memset(static_cast<std::byte*>(a[0]) + begin, 0, std::min(piece_size, size - begin));
        },
        arguments);
  }

  std::vector<KernelHandle> compile(std::span<const program::Kernel> kernels) override {
    const std::string identity = compiler_->identity();
    const DiskCache cache = DiskCache::standard();
    Objects objects(kernels, pool_.threads());
    return compile_into(
        kernels_, kernels, pool_.threads(),
        [&](const program::Kernel& kernel) {
          const auto k = std::size_t(&kernel - kernels.data());
          return compile_one(kernel, objects.text(k), objects.of(k), identity, cache);
        },
        [&](int k) { return objects.size(std::size_t(k)); });
  }

  KernelReport report(KernelHandle kernel) const override {
    return kernels_.at(std::size_t(kernel.id)).report;
  }

  void* raw_memory(BufferHandle buffer) override { return find(buffer).data(); }

  void launch(KernelHandle kernel, std::span<const BufferHandle> arguments) override {
    const Compiled& code = kernels_.at(std::size_t(kernel.id));
    check_arguments(code, arguments);
    Recorded launch{&code - kernels_.data(), {}, {}, 0};
    for (BufferHandle buffer : arguments) launch.pointers.push_back(find(buffer).data());
    if (recording_)
      recording_->push_back(std::move(launch));
    else
      run(launch);
  }

  void launch_wave(KernelHandle kernel, std::span<const std::vector<BufferHandle>> arguments,
                   std::int64_t reach) override {
    const Compiled& code = kernels_.at(std::size_t(kernel.id));
    Recorded wave{&code - kernels_.data(), {}, {}, reach};
    for (const auto& own : arguments) {
      check_arguments(code, own);
      auto& pointers = wave.wave.emplace_back();
      for (BufferHandle buffer : own) pointers.push_back(find(buffer).data());
    }
    if (recording_)
      recording_->push_back(std::move(wave));
    else
      run(wave);
  }

  RecordingHandle record(const std::function<void()>& body) override {
    std::vector<Recorded> launches;
    recording_ = &launches;
    try {
      body();
    } catch (...) {
      recording_ = nullptr;
      throw;
    }
    recording_ = nullptr;
    recordings_.push_back(std::move(launches));
    return {int(recordings_.size()) - 1};
  }

  void replay(RecordingHandle recording) override {
    for (const Recorded& launch : recordings_.at(std::size_t(recording.id))) run(launch);
  }

  void synchronise() override {}

  int mark() override {
    marks_.push_back(Clock::now());
    return int(marks_.size()) - 1;
  }

  double seconds_between(int first_mark, int second_mark) override {
    return std::chrono::duration<double>(marks_.at(std::size_t(second_mark)) -
                                         marks_.at(std::size_t(first_mark)))
        .count();
  }

 private:
  struct Compiled {
    std::string name;
    std::unique_ptr<HostCode> code;
    ThreadPool::Task entry = nullptr;
    void (*finish)(void* const*) = nullptr;
    long tasks = 1;
    std::size_t arguments = 0;
    std::size_t scalars = 0, scalar_count = 0;  ///< place among the arguments, and numbers there
    KernelReport report;
  };
  struct Recorded {
    std::ptrdiff_t kernel;
    std::vector<void*> pointers;
    std::vector<std::vector<void*>> wave;  ///< of launches that overlap, in the place of `pointers`
    std::int64_t reach = 0;
  };

  Compiled compile_one(const program::Kernel& kernel, const SharedText& text, Objects::One& shared,
                       const std::string& identity, const DiskCache& cache) const {
    const bool contract = contraction_allowed(text.text);
    const std::string key = CacheKey()
                                .add("native", identity)
                                .add("contract", contract ? "on" : "off")
                                .add("source", text.text)
                                .text();
    CodeSource source{
        [&](std::string_view object) { return compiler_->load(object); },
        [&] {
          try {
            return compiler_->compile(text.text, contract);
          } catch (const DeviceError&) {
            compiler_->compile(kernel.source, contract);  // a log with the names of the model
            throw;
          }
        },
    };
    Compiled result;
    result.name = kernel.name;
    {
      const std::scoped_lock alone(shared.lock);
      result.code = cached_code(cache, key, kernel, source, result.report, &shared.bytes);
    }
    result.entry = reinterpret_cast<ThreadPool::Task>(result.code->symbol(text.name(kernel.entry)));
    if (!kernel.finish.empty())
      result.finish =
          reinterpret_cast<void (*)(void* const*)>(result.code->symbol(text.name(kernel.finish)));
    if (!text.places.empty())
      std::ranges::copy(text.places, static_cast<long*>(result.code->symbol(kPlacesTable)));
    if (!result.entry || (!kernel.finish.empty() && !result.finish))
      throw DeviceError("Kernel '" + kernel.name + "' lacks its function " +
                        (result.entry ? kernel.finish : kernel.entry) + " after compilation.");
    result.tasks = long(kernel.grid[0]);
    result.arguments = kernel.arguments.size();
    for (std::size_t i = 0; i < kernel.arguments.size(); ++i) {
      if (kernel.arguments[i].kind != program::Argument::Kind::Scalars) continue;
      result.scalars = i;
      result.scalar_count = std::size_t(kernel.arguments[i].bytes) / sizeof(double);
    }
    return result;
  }

  void run(const Recorded& launch) {
    const Compiled& kernel = kernels_[std::size_t(launch.kernel)];
    if (!launch.wave.empty()) {
      run_wave(pool_,
               {kernel.entry, kernel.finish, kernel.tasks, kernel.scalars, kernel.scalar_count},
               launch.wave, launch.reach);
      return;
    }
    pool_.run(kernel.tasks, kernel.entry, launch.pointers.data());
    if (kernel.finish) kernel.finish(launch.pointers.data());
  }

  Pages& find(BufferHandle buffer) const {
    const auto found = buffers_.find(buffer.id);
    if (found == buffers_.end()) throw DeviceError("A buffer was used that does not exist.");
    return *found->second;
  }

  std::byte* range(BufferHandle buffer, std::size_t offset, std::size_t bytes) const {
    Pages& pages = find(buffer);
    if (offset > pages.size() || bytes > pages.size() - offset)
      throw DeviceError("A copy reaches beyond the end of its buffer.");
    return pages.data() + offset;
  }

  std::unique_ptr<HostCompiler> compiler_;
  ThreadPool pool_;
  DeviceInfo info_;
  std::map<int, std::unique_ptr<Pages>> buffers_;
  int next_buffer_ = 0;
  std::vector<Compiled> kernels_;
  std::vector<std::vector<Recorded>> recordings_;
  std::vector<Recorded>* recording_ = nullptr;
  std::vector<Clock::time_point> marks_;
};

HostCompilerChoice wanted_compiler() {
  const char* value = std::getenv("VPHI_NATIVE_COMPILER");
  const std::string text = value ? value : "";
  if (text == "plugin") return HostCompilerChoice::Plugin;
  if (text == "system") return HostCompilerChoice::System;
  return HostCompilerChoice::Auto;
}

std::unique_ptr<HostCompiler> open_compiler(HostCompilerChoice choice, std::string* why) {
  if (choice == HostCompilerChoice::Auto) choice = wanted_compiler();
  std::unique_ptr<HostCompiler> compiler;
  std::string plugin_why, system_why;
  if (choice != HostCompilerChoice::System) compiler = open_plugin_compiler(&plugin_why);
  if (!compiler && choice != HostCompilerChoice::Plugin)
    compiler = open_system_compiler(&system_why);
  *why = plugin_why + (plugin_why.empty() || system_why.empty() ? "" : "; ") + system_why;
  return compiler;
}

}  // namespace

DeviceInfo native_info() {
  DeviceInfo info;
  info.id = "native";
  info.name = processor_name();
  info.target = program::Target::Native;
  std::tie(info.memory_total, info.memory_free) = memory();
  info.compute_units = usable_threads();
  info.is_cpu = true;
  const long cache = sysconf(_SC_LEVEL2_CACHE_SIZE);
  info.local_bytes = cache > 0 ? std::size_t(cache) : std::size_t(256) << 10;
  return info;
}

std::unique_ptr<Device> open_native(HostCompilerChoice choice, int threads) {
  std::string why;
  auto compiler = open_compiler(choice, &why);
  if (!compiler)
    throw DeviceError(
        "The native device needs the plug-in libvphi_llvm.so or a C++ compiler, and "
        "found neither (apt-get install g++).",
        why);
  return std::make_unique<NativeDevice>(std::move(compiler), threads);
}

std::string native_compiler_description() {
  std::string why;
  const auto compiler = open_compiler(HostCompilerChoice::Auto, &why);
  return compiler ? compiler->name() : why;
}

}  // namespace vphi::runtime
