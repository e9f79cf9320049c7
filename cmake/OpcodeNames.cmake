# cmake -D TABLE=directory -D OUTPUT=file -P OpcodeNames.cmake
#
# Writes the names of the instruction table's rows, in the order of rows.inc, as the enumerators of isa::Opcode. The
# file is written only if the names change: a change in another column of a row compiles table.cpp alone.
file(STRINGS ${TABLE}/rows.inc includes REGEX "^#include")
set(names "")
foreach(include IN LISTS includes)
  string(REGEX REPLACE "^#include \"isa/table/(.*)\"$" "\\1" part "${include}")
  file(STRINGS ${TABLE}/${part} rows REGEX "^ATOLL_ROW\\(")
  foreach(row IN LISTS rows)
    string(REGEX REPLACE "^ATOLL_ROW\\(([a-z0-9_]+),.*" "\\1" name "${row}")
    string(APPEND names "${name},\n")
  endforeach()
endforeach()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "${names}" @ONLY)
