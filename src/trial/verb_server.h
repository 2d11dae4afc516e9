#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "device/device.h"
#include "trial/device_trial.h"
#include "trial/protocol.h"

namespace ktune::trial {

/// The worker's end of the protocol: a device, one problem on it and the trials that are loaded. It translates; what a
/// verb does is in device_trial.h. It knows no pipes, so that tests can speak to it line by line.
class VerbServer {
 public:
  explicit VerbServer(std::unique_ptr<device::Device> device) : device_(std::move(device)) {}
  ~VerbServer() { drop_problem(); }
  VerbServer(const VerbServer&) = delete;
  VerbServer& operator=(const VerbServer&) = delete;

  /// The answer to one line, without newline. Never throws: a line that is no request gets an error answer.
  std::string handle(const std::string& line);
  /// True once the device is no longer fit for use: the last answer said "bye".
  bool ended() const { return ended_; }

 private:
  Json answer(const Json& request);
  model::Result<Json> serve(const Json& request);
  model::Result<Json> set_problem(const Json& request);
  model::Result<Json> load(const Json& request);
  Trial& resident(const Json& request);
  void drop_problem();

  std::unique_ptr<device::Device> device_;
  std::unique_ptr<TrialProblem> problem_;
  std::map<std::int64_t, std::unique_ptr<Trial>> residents_;
  bool ended_ = false;
};

}  // namespace ktune::trial
