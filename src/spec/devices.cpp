#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/files.h"
#include "spec/document.h"
#include "spec/spec.h"

namespace ktune::spec {
namespace {

/// Whether a name is a pattern's, in which * stands for any text.
bool matches(std::string_view pattern, std::string_view name) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == name;
  if (name.substr(0, star) != pattern.substr(0, star)) return false;
  const std::string_view rest = pattern.substr(star + 1);
  for (std::size_t at = star; at <= name.size(); ++at)
    if (matches(rest, name.substr(at))) return true;
  return false;
}

DevicePeak read_peak(const std::string& path) {
  const Document document(path);
  Fields root(document, document.root(), "");
  auto device = root.table_if("device");
  if (!device) root.missing("device");
  DevicePeak peak;
  for (const Text& name : device->texts("names")) peak.names.push_back(name.text);
  const auto gbps = device->number_if("peak_gbps");
  if (!gbps) device->missing("peak_gbps");
  if (*gbps <= 0.0) fail(device->at(), "peak_gbps is not above 0");
  peak.gbps = *gbps;
  peak.source = device->text("source").text;
  device->finish();
  root.finish();
  return peak;
}

}  // namespace

std::vector<DevicePeak> device_peaks() { return device_peaks_in((resource_root() / "configs" / "devices").string()); }

std::vector<DevicePeak> device_peaks_in(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored))
    if (entry.path().extension() == ".toml") paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  std::vector<DevicePeak> peaks;
  for (const std::string& path : paths) peaks.push_back(read_peak(path));
  return peaks;
}

std::optional<DevicePeak> peak_of(const std::vector<DevicePeak>& peaks, const std::string& name) {
  for (const DevicePeak& peak : peaks)
    for (const std::string& pattern : peak.names)
      if (matches(pattern, name)) return peak;
  return std::nullopt;
}

}  // namespace ktune::spec
