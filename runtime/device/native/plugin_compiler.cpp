#include <cstdlib>

#include "runtime/device/native/host_compiler.hpp"
#include "runtime/device/native/plugin_library.hpp"

namespace vphi::runtime {
namespace {

class PluginCode : public HostCode {
 public:
  PluginCode(const Plugin& plugin, VphiCode* code) : plugin_(plugin), code_(code) {}
  ~PluginCode() override { plugin_.unload(code_); }
  PluginCode(const PluginCode&) = delete;
  PluginCode& operator=(const PluginCode&) = delete;
  void* symbol(const std::string& name) const override {
    VphiText log{};
    void* address = plugin_.symbol(code_, name.c_str(), &log);
    if (!address)
      throw DeviceError("Compiled code lacks the function " + name + " or what it needs.",
                        plugin_.take(log));
    return address;
  }

 private:
  const Plugin& plugin_;
  VphiCode* code_;
};

class PluginCompiler : public HostCompiler {
 public:
  explicit PluginCompiler(const Plugin& plugin)
      : plugin_(plugin), identity_(plugin.take(plugin.identity())) {}

  std::string name() const override {
    return std::string(plugin_.compiler()) + " in process (" + plugin_.path + ")";
  }
  std::string identity() const override { return "plugin|" + identity_; }

  std::string compile(const std::string& source, bool contract) const override {
    VphiText object{}, log{};
    if (plugin_.compile(source.data(), source.size(), contract, &object, &log) != 0)
      throw DeviceError("The in-process C++ compiler did not accept a generated kernel.",
                        plugin_.take(log));
    return plugin_.take(object);
  }

  std::unique_ptr<HostCode> load(std::string_view object) const override {
    VphiText log{};
    VphiCode* code = plugin_.load(object.data(), object.size(), &log);
    if (!code)
      throw DeviceError("Compiled code could not be loaded into the process.", plugin_.take(log));
    return std::make_unique<PluginCode>(plugin_, code);
  }

 private:
  const Plugin& plugin_;
  std::string identity_;
};

}  // namespace

std::unique_ptr<HostCompiler> open_plugin_compiler(std::string* why) {
  const Plugin* plugin = Plugin::get(why);
  return plugin ? std::make_unique<PluginCompiler>(*plugin) : nullptr;
}

}  // namespace vphi::runtime
