#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/text.h"
#include "model/dtype.h"
#include "spec/sections.h"

namespace ktune::spec {
namespace {

std::string resolved(const Document& document, const Text& path, bool folder) {
  const auto base = std::filesystem::path(document.path()).parent_path();
  const std::string absolute = (base / path.text).lexically_normal().string();
  std::error_code ignored;
  if (folder ? !std::filesystem::is_directory(absolute, ignored)
             : !std::filesystem::is_regular_file(absolute, ignored)) {
    fail(path, fmt::format("there is no {} '{}'", folder ? "folder" : "file", absolute),
         "paths are relative to the folder of the spec");
  }
  return absolute;
}

std::vector<std::string> dims_of(const model::OpSpec& spec, Fields& fields, const std::string& key) {
  std::vector<std::string> result;
  for (const Text& dim : fields.texts(key)) {
    if (std::find(spec.dims.begin(), spec.dims.end(), dim.text) == spec.dims.end()) {
      fail(dim, fmt::format("'{}' is not a dim{}", dim.text, did_you_mean(dim.text, spec.dims)),
           fmt::format("dims: {}", join(spec.dims, ", ")));
    }
    result.push_back(dim.text);
  }
  return result;
}

std::vector<std::string> dtype_names() {
  std::vector<std::string> names;
  for (const model::DType dtype : model::all_dtypes()) names.emplace_back(name_of(dtype));
  return names;
}

/// A dtype or an earlier type macro.
void check_type(const Text& type, const model::OpSpec& spec) {
  std::vector<std::string> known = dtype_names();
  for (const model::TypeParam& earlier : spec.types) known.push_back(earlier.name);
  if (std::find(known.begin(), known.end(), type.text) != known.end()) return;
  fail(type, fmt::format("unknown type '{}'{}", type.text, did_you_mean(type.text, known)),
       fmt::format("types: {}", join(known, ", ")));
}

model::Value value_of(const Item& item, Names& names) {
  if (item.is_integer) return {item.integer, ""};
  return {names.number(item.text), item.text.text};
}

/// The listed value an item stands for.
model::Value listed_value(const Item& item, const std::vector<model::Value>& values, const std::string& owner) {
  std::vector<std::string> texts;
  for (const model::Value& value : values) {
    if (value.text() == item.text.text) return value;
    texts.push_back(value.text());
  }
  fail(item.text,
       fmt::format("'{}' is not a value of {}{}", item.text.text, owner, did_you_mean(item.text.text, texts)),
       fmt::format("values: {}", join(texts, ", ")));
}

std::vector<model::Value> values_of(Fields& fields, Names& names) {
  const std::vector<Item> items = fields.items("values");
  if (items.empty()) {
    if (!fields.has("values")) fields.missing("values");
    fail(fields.at(), fmt::format("{}: 'values' is empty", fields.title()));
  }
  std::vector<model::Value> values;
  for (const Item& item : items) {
    const model::Value value = value_of(item, names);
    const bool twice = std::any_of(values.begin(), values.end(),
                                   [&](const model::Value& other) { return other.number == value.number; });
    if (twice) fail(item.text, fmt::format("the value {} is listed twice", item.text.text));
    values.push_back(value);
  }
  // Numbers given to names and plain integers would mix: LOADER = 2 and LOADER = bulk could be the same point.
  const auto named = static_cast<std::size_t>(
      std::count_if(values.begin(), values.end(), [](const model::Value& value) { return !value.name.empty(); }));
  if (named != 0 && named != values.size()) {
    fail(items[0].text, fmt::format("{}: values are all integers or all names", fields.title()));
  }
  return values;
}

}  // namespace

void read_op(Fields& root, const Document& document, Names& names, model::OpSpec& spec) {
  auto op = root.table_if("op");
  if (!op) root.missing("op");
  const Text name = op->text("name");
  check_identifier(name, "op");
  spec.name = name.text;
  if (const auto summary = op->text_if("summary")) spec.summary = summary->text;
  spec.source_path = resolved(document, op->text("source"), false);
  for (const Text& dim : op->texts("dims")) {
    names.claim(dim, "dim");
    spec.dims.push_back(dim.text);
  }
  if (spec.dims.empty()) op->missing("dims");
  spec.key = dims_of(spec, *op, "key");
  if (!op->has("key")) spec.key = spec.dims;
  op->finish();

  if (auto compile = root.table_if("compile")) {
    for (const Text& folder : compile->texts("include")) spec.include_dirs.push_back(resolved(document, folder, true));
    for (const Text& option : compile->texts("options")) spec.options.push_back(option.text);
    spec.static_dims = dims_of(spec, *compile, "static_dims");
    compile->finish();
  }
}

void read_types(Fields& root, Names& names, model::OpSpec& spec) {
  auto types = root.table_if("types");
  if (!types) return;
  for (const Text& name : types->keys()) {
    names.claim(name, "type");
    if (name.text == "T") {
      fail(name, "a type macro must not be named T", "CUDA's own headers use T; name it scalar_t");
    }
    model::TypeParam type{name.text, {}};
    for (const Text& value : types->texts(name.text)) {
      check_type(value, spec);
      type.values.push_back(value.text);
    }
    if (type.values.empty()) fail(name, fmt::format("the type '{}' has no dtypes", name.text));
    spec.types.push_back(std::move(type));
  }
}

void read_attributes(Fields& root, Names& names, model::OpSpec& spec) {
  for (Fields& fields : root.tables("attr")) {
    const Text name = fields.text("name");
    names.claim(name, "attribute");
    model::Attribute attribute{name.text, values_of(fields, names), {}};
    const auto given = fields.item_if("default");
    attribute.default_value =
        given ? listed_value(*given, attribute.values, "'" + name.text + "'") : attribute.values[0];
    fields.finish();
    spec.attrs.push_back(std::move(attribute));
  }
}

void read_tensors(Fields& root, Names& names, model::OpSpec& spec) {
  for (Fields& fields : root.tables("tensor")) {
    model::TensorSpec tensor;
    const Text name = fields.text("name");
    names.claim(name, "tensor");
    tensor.name = name.text;
    tensor.at = name.at;
    const Text role = fields.text("role");
    static constexpr model::Role kRoles[] = {model::Role::kIn, model::Role::kOut, model::Role::kInOut,
                                             model::Role::kScratch};
    const auto* found = std::find_if(std::begin(kRoles), std::end(kRoles),
                                     [&](model::Role candidate) { return name_of(candidate) == role.text; });
    if (found == std::end(kRoles))
      fail(role, fmt::format("unknown role '{}'", role.text), "roles: in, out, inout, scratch");
    tensor.role = *found;
    tensor.shape = fields.expressions("shape");
    if (tensor.shape.empty()) fields.missing("shape");
    tensor.strides = fields.expressions("strides");
    if (!fields.has("strides")) {
      for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
        std::string product;
        for (std::size_t j = i + 1; j < tensor.shape.size(); ++j) {
          product += fmt::format("{}({})", product.empty() ? "" : " * ", tensor.shape[j].text);
        }
        tensor.strides.push_back({product.empty() ? "1" : product, tensor.shape[i].at});
      }
    }
    if (tensor.strides.size() != tensor.shape.size()) {
      fail(tensor.strides.empty() ? name : tensor.strides[0],
           fmt::format("tensor '{}' has {} dimensions and {} strides", name.text, tensor.shape.size(),
                       tensor.strides.size()));
    }
    const Text type = fields.text("type");
    check_type(type, spec);
    tensor.type = type.text;
    if (const auto init = fields.text_if("init")) {
      if (tensor.role == model::Role::kScratch || tensor.role == model::Role::kOut) {
        fail(*init, fmt::format("tensor '{}' is {}: it has no initial values", name.text, role.text));
      }
      tensor.init = parse_init(*init);
    }
    fields.finish();
    spec.tensors.push_back(std::move(tensor));
  }
}

void read_scalars(Fields& root, Names& names, model::OpSpec& spec) {
  for (Fields& fields : root.tables("scalar")) {
    const Text name = fields.text("name");
    names.claim(name, "scalar");
    const Text type = fields.text("type");
    const auto dtype = model::parse_dtype(type.text);
    if (!dtype) {
      const std::vector<std::string> known = dtype_names();
      fail(type, fmt::format("unknown dtype '{}'{}", type.text, did_you_mean(type.text, known)),
           fmt::format("dtypes: {}", join(known, ", ")));
    }
    const auto value = fields.number_if("value");
    if (!value) fields.missing("value");
    fields.finish();
    spec.scalars.push_back({name.text, *dtype, *value});
  }
}

void read_parameters(Fields& root, Names& names, model::OpSpec& spec) {
  for (Fields& fields : root.tables("param")) {
    model::Parameter parameter;
    const Text name = fields.text("name");
    names.claim(name, "parameter");
    parameter.name = name.text;
    parameter.at = name.at;
    parameter.values = values_of(fields, names);
    parameter.when = fields.expression_if("when");
    const auto otherwise = fields.item_if("otherwise");
    if (parameter.when.has_value() != otherwise.has_value()) {
      fail(name,
           fmt::format("parameter '{}' has '{}' without '{}'", name.text, otherwise ? "otherwise" : "when",
                       otherwise ? "when" : "otherwise"),
           "`when` says where the parameter applies, `otherwise` its one value elsewhere");
    }
    if (otherwise) parameter.otherwise = value_of(*otherwise, names);
    fields.finish();
    spec.params.push_back(std::move(parameter));
  }
}

void read_lets(Fields& root, Names& names, model::OpSpec& spec) {
  auto fields = root.table_if("let");
  if (!fields) return;
  for (const Text& name : fields->keys()) {
    names.claim(name, "let");
    spec.lets.push_back({name.text, fields->expression(name.text)});
  }
}

void read_constraints(Fields& root, model::OpSpec& spec) {
  for (Fields& fields : root.tables("constraint")) {
    model::Constraint constraint{fields.expression("expr"), fields.text("why").text};
    if (constraint.why.empty()) fail(constraint.expr, "[[constraint]]: 'why' is empty");
    fields.finish();
    spec.constraints.push_back(std::move(constraint));
  }
}

void read_defaults(Fields& root, model::OpSpec& spec) {
  auto fields = root.table_if("default");
  std::vector<Text> given;
  if (fields) given = fields->keys();
  for (const Text& name : given) {
    if (find_named(spec.params, name.text) == nullptr) {
      const std::vector<std::string> known = names_of(spec.params);
      fail(name, fmt::format("[default]: there is no parameter '{}'{}", name.text, did_you_mean(name.text, known)),
           fmt::format("parameters: {}", join(known, ", ")));
    }
  }
  for (const model::Parameter& parameter : spec.params) {
    if (fields && fields->has(parameter.name)) {
      spec.defaults.emplace_back(parameter.name, fields->expression(parameter.name));
    } else if (parameter.values.size() == 1) {
      spec.defaults.emplace_back(parameter.name, Text{std::to_string(parameter.values[0].number), parameter.at});
    } else {
      fail({parameter.name, parameter.at}, fmt::format("[default] gives parameter '{}' no value", parameter.name));
    }
  }
}

}  // namespace ktune::spec
