#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/text.h"
#include "spec/sections.h"
#include "spec/spec.h"

namespace ktune::spec {
namespace {

std::filesystem::path ops_folder() { return resource_root() / "configs" / "ops"; }

void check_outputs(const Fields& root, const model::OpSpec& spec) {
  const bool any = std::any_of(spec.tensors.begin(), spec.tensors.end(), [](const model::TensorSpec& tensor) {
    return tensor.role == model::Role::kOut || tensor.role == model::Role::kInOut;
  });
  if (!any) fail(root.at(), "no [[tensor]] is an output: there is nothing to verify", "give one role = \"out\"");
}

}  // namespace

model::OpSpec load_op(const std::string& path) {
  const std::string absolute = std::filesystem::absolute(path).lexically_normal().string();
  const Document document(absolute);
  Fields root(document, document.root(), "");
  Names names;
  model::OpSpec spec;
  spec.spec_path = absolute;
  spec.hash = hash_hex(document.bytes());
  read_op(root, document, names, spec);
  read_types(root, names, spec);
  read_attributes(root, names, spec);
  read_tensors(root, names, spec);
  read_scalars(root, names, spec);
  read_parameters(root, names, spec);
  read_lets(root, names, spec);
  read_constraints(root, spec);
  read_defaults(root, spec);
  read_launches(root, spec);
  read_reference(root, spec);
  read_verify(root, spec);
  read_cost(root, spec);
  read_problems(root, spec);
  root.finish();
  check_outputs(root, spec);
  check_expressions(spec);
  return spec;
}

std::vector<std::string> shipped_ops() {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(ops_folder(), ignored)) {
    if (entry.path().extension() == ".toml") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

model::OpSpec load_shipped_op(const std::string& name) {
  const std::vector<std::string> known = shipped_ops();
  if (std::find(known.begin(), known.end(), name) == known.end()) {
    throw Error(ErrorKind::kUsage, fmt::format("unknown op '{}'{}", name, did_you_mean(name, known)),
                fmt::format("ops: {}; an op of your own: --config FILE.toml", join(known, ", ")));
  }
  return load_op((ops_folder() / (name + ".toml")).string());
}

}  // namespace ktune::spec
