# atoll_turn(RESULT NAME COUNT): which of COUNT runs' turn it is to have the test NAME, 0 to COUNT - 1, by nothing but its name,
# so that it is the same wherever tests are listed. Included when tests are described, and by ctest.
function(atoll_turn result name count)
  string(MD5 turn "${name}")
  string(SUBSTRING ${turn} 0 4 turn)
  math(EXPR turn "0x${turn} % ${count}")
  set(${result} ${turn} PARENT_SCOPE)
endfunction()
