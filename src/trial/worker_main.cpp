#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "compile/builtin_code.h"
#include "device/device.h"
#include "trial/verb_server.h"
#include "trial/worker.h"

namespace ktune::trial {
namespace {

/// Whatever prints to stdout in this process, a kernel's printf among it, goes to stderr; the answers have a stream of
/// their own.
class Answers {
 public:
  Answers() : fd_(dup(STDOUT_FILENO)) { dup2(STDERR_FILENO, STDOUT_FILENO); }
  ~Answers() { close(fd_); }
  Answers(const Answers&) = delete;
  Answers& operator=(const Answers&) = delete;

  bool send(std::string line) {
    line += '\n';
    for (std::size_t sent = 0; sent < line.size();) {
      const ssize_t n = write(fd_, line.data() + sent, line.size() - sent);
      if (n < 0) return false;
      sent += static_cast<std::size_t>(n);
    }
    return true;
  }

 private:
  int fd_;
};

/// Answers every request with the reason the device cannot be opened.
std::string refusal(const std::string& line, const Error& error) {
  Json reply;
  const Json request = Json::parse(line, nullptr, false);
  if (request.is_object() && request.contains("id")) reply["id"] = request.at("id");
  reply["bye"] = true;
  reply["error"] = {{"kind", static_cast<int>(error.kind())},
                    {"message", error.message()},
                    {"hint", error.hint()},
                    {"where", error.where()}};
  return reply.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

int worker_main(const std::string& device) {
  Answers answers;
  std::string line;
  std::unique_ptr<VerbServer> server;
  try {
    server = std::make_unique<VerbServer>(compile::open_device(device));
  } catch (const Error& error) {
    if (std::getline(std::cin, line)) answers.send(refusal(line, error));
    return exit_code(error.kind());
  }
  while (std::getline(std::cin, line)) {
    if (!answers.send(server->handle(line))) break;
    if (!server->ended()) continue;
    // The device's state is unknown: its destructors could hang or abort where there is nothing left to save.
    std::fflush(nullptr);
    _exit(0);
  }
  return 0;
}

}  // namespace ktune::trial
