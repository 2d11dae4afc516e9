#include "sweep/compile_ahead.h"

#include <algorithm>
#include <utility>

namespace ktune::sweep {

namespace {

/// Compiles kept ahead of the bench, beyond one a process: enough that no process waits while a trial runs, few enough
/// that an interrupted sweep throws little away.
constexpr int kQueueAhead = 8;
/// A wait that Ctrl-C may have to end.
constexpr double kLookS = 0.1;

}  // namespace

CompileAhead::CompileAhead(const Context& context, const Recipes& recipes) : context_(context), recipes_(recipes) {}

bool CompileAhead::wants_more() const {
  return compiling_.size() + ready_.size() < static_cast<std::size_t>(context_.compiler.jobs() + kQueueAhead);
}

void CompileAhead::ask(search::VariantId id, bool looked_up) {
  if (!reference_ticket_) {
    reference_ticket_ = context_.compiler.submit(recipes_.reference_job());
    first_ = id;
  }
  compiling_[context_.compiler.submit(recipes_.job(id))] = Compiled{id, {}, looked_up};
}

void CompileAhead::take(double timeout_s) {
  while (auto result = context_.compiler.wait(timeout_s)) {
    timeout_s = 0.0;
    if (reference_ticket_ == result->ticket) {
      set_reference(result->binary);
      continue;
    }
    const auto at = compiling_.find(result->ticket);
    if (at == compiling_.end()) continue;  // of an earlier problem
    at->second.binary = std::move(result->binary);
    const bool comes_first = at->second.id == first_;
    ready_.insert(comes_first ? ready_.begin() : ready_.end(), std::move(at->second));
    compiling_.erase(at);
  }
}

void CompileAhead::set_reference(const model::Result<model::KernelBinary>& binary) {
  const auto fail = [this](const char* what, const model::Failure& why) {
    failure_ = std::string("the reference ") + what + ": " + why.reason + "\n" + why.detail;
  };
  if (!binary) return fail("did not compile", binary.error());
  const model::Status set = context_.bench.set_problem(recipes_.prepared().plan, *binary);
  if (!set) return fail("could not be computed", set.error());
  reference_is_set_ = true;
}

const Compiled* CompileAhead::peek() const {
  if (ready_.empty() || (first_ && ready_.front().id != *first_)) return nullptr;
  return &ready_.front();
}

std::optional<Compiled> CompileAhead::next() {
  if (peek() == nullptr) return std::nullopt;
  Compiled compiled = std::move(ready_.front());
  ready_.pop_front();
  first_.reset();
  return compiled;
}

model::Result<model::KernelBinary> CompileAhead::compile(search::VariantId id) {
  ask(id, true);
  const auto is_it = [id](const Compiled& compiled) { return compiled.id == id; };
  while (!context_.interrupted() && failure_.empty()) {
    const auto at = std::find_if(ready_.begin(), ready_.end(), is_it);
    if (at != ready_.end() && reference_is_set_) {
      const auto binary = std::move(at->binary);
      ready_.clear();
      return binary;
    }
    take(kLookS);
  }
  return model::fail(model::Outcome::kCompileFailed, failure_.empty() ? "interrupted" : failure_);
}

}  // namespace ktune::sweep
