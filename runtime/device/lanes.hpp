// A device that has a second queue beside its usual one: work of which others wait for the results
// goes there, and what nobody waits for goes on meanwhile.
//
//   aside();  ...first...  back();  ...meanwhile...  join();  ...then...
//
// `first` begins after all that was queued before, with priority. `meanwhile` begins after that
// too, and beside `first`; neither may touch what the other one writes. `then` begins after both.
// Recordings contain all of it. Devices without a second queue do the same one after the other,
// without these calls. What fails throws DeviceError.
#pragma once

namespace vphi::runtime {

class Lanes {
 public:
  virtual ~Lanes() = default;
  virtual void aside() = 0;
  virtual void back() = 0;
  virtual void join() = 0;
};

}  // namespace vphi::runtime
