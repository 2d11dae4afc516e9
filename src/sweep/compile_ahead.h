#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>

#include "search/search.h"
#include "sweep/context.h"
#include "sweep/recipes.h"

namespace ktune::sweep {

/// A variant that was compiled, or failed to.
struct Compiled {
  search::VariantId id = 0;
  model::Result<model::KernelBinary> binary = {};
  bool looked_up = false;  ///< no earlier trial stands for it
};

/// Compiles of one problem, kept ahead of the bench, and the problem's reference. Measured on a 16-core H200 host, a
/// compile takes about 100 ms and a trial 20, so sixteen processes keep one GPU busy.
///
/// The reference is compiled once the first variant needs it, and put on the bench when it is there: a sweep that
/// re-uses everything launches nothing. The variant that is asked for first comes out first, whatever compiles sooner.
class CompileAhead {
 public:
  CompileAhead(const Context& context, const Recipes& recipes);

  /// False while enough is queued: more would be thrown away by an interrupted sweep.
  bool wants_more() const;
  void ask(search::VariantId id, bool looked_up);
  /// Collects what is compiled, waiting at most `timeout_s` for the first.
  void take(double timeout_s);
  /// The next variant to try, left in the queue; none: nothing is ready.
  const Compiled* peek() const;
  std::optional<Compiled> next();
  /// True if nothing is queued, compiling or ready.
  bool is_idle() const { return compiling_.empty() && ready_.empty(); }
  /// Waits until the variant is compiled and the reference set, past whatever else is ready, which is dropped.
  model::Result<model::KernelBinary> compile(search::VariantId id);

  bool reference_is_set() const { return reference_is_set_; }
  /// Why the reference could not be compiled or computed; "" where it could or has not been tried.
  const std::string& failure() const { return failure_; }

 private:
  void set_reference(const model::Result<model::KernelBinary>& binary);

  const Context& context_;
  const Recipes& recipes_;
  std::map<std::int64_t, Compiled> compiling_;  ///< by ticket
  std::deque<Compiled> ready_;
  std::optional<search::VariantId> first_;  ///< until it has come out
  std::optional<std::int64_t> reference_ticket_;
  bool reference_is_set_ = false;
  std::string failure_;
};

}  // namespace ktune::sweep
