#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "device/device.h"
#include "trial/protocol.h"
#include "verify/verify.h"

namespace ktune::trial {

/// The worker's end of the protocol: a device, one problem on it and the variants that are loaded. Knows no pipes, so
/// that tests can speak to it line by line.
class Session {
 public:
  explicit Session(std::unique_ptr<device::Device> device) : device_(std::move(device)) {}
  ~Session() { drop_problem(); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// The answer to one line, without newline. Never throws: a line that is no request gets an error answer.
  std::string handle(const std::string& line);
  /// True once the device is no longer fit for use: the last answer said "bye".
  bool ended() const { return ended_; }

 private:
  struct Resident {
    verify::LoadedVariant variant;
    bool verified = false;
  };

  Json answer(const Json& request);
  model::Result<Json> serve(const Json& request);
  model::Result<Json> set_problem(const Json& request);
  model::Result<Json> load(const Json& request);
  model::Result<Json> verify(Resident& resident);
  model::Result<Json> measure(Resident& resident, const measure::Request& request);
  model::Result<Json> check_timer(const model::TimerRequest& timer);
  model::Failure with_reason(model::Failure failure, const model::TimerRequest& timer);
  model::Status inspect_timed(const Resident& resident, int sets);
  void unload(std::int64_t variant);
  void drop_problem();
  Resident& resident(const Json& request);

  std::unique_ptr<device::Device> device_;
  std::optional<device::ModuleId> reference_;
  std::unique_ptr<verify::ProblemMemory> memory_;
  std::map<std::int64_t, Resident> residents_;
  bool warm_ = false;
  bool ended_ = false;
};

}  // namespace ktune::trial
