#include "base/document.h"

#include <algorithm>

namespace ktune {
namespace {

/// Where the columns of `from` are in `into`, which gains those it lacks; -1 for those that only people see.
std::vector<int> placed(const Table& from, Table& into) {
  std::vector<int> places;
  for (const Table::Column& column : from.columns) {
    if (column.audience == Audience::kPeople) {
      places.push_back(-1);
      continue;
    }
    const auto same = [&](const Table::Column& other) { return key_of(other) == key_of(column); };
    const auto at = std::find_if(into.columns.begin(), into.columns.end(), same);
    places.push_back(static_cast<int>(at - into.columns.begin()));
    if (at == into.columns.end()) into.columns.push_back(column);
  }
  return places;
}

}  // namespace

std::vector<Records> records_of(const Document& document) {
  std::vector<Records> all;
  for (const Section& section : document.sections) {
    if (section.audience == Audience::kPeople) continue;
    auto at = std::find_if(all.begin(), all.end(), [&](const Records& records) { return records.key == section.key; });
    if (at == all.end()) at = all.insert(all.end(), {section.key, {}});
    const std::vector<int> places = placed(section.table, at->table);
    for (const auto& row : section.table.rows) {
      std::vector<Cell> cells(at->table.columns.size(), Cell::nothing());
      for (std::size_t c = 0; c < places.size(); ++c)
        if (places[c] >= 0) cells[static_cast<std::size_t>(places[c])] = cell_of(row, c);
      at->table.rows.push_back(std::move(cells));
    }
  }
  return all;
}

}  // namespace ktune
