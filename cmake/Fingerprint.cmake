# cmake -D OUTPUT=file -D OPTIONS=text -D SOURCES=list -P Fingerprint.cmake
#
# Writes a 64-bit number that stands for the contents of the sources and for the options.
string(SHA256 all "${OPTIONS}")
foreach(source ${SOURCES})
  file(SHA256 ${source} one)
  string(APPEND all ${one})
endforeach()
string(SHA256 all "${all}")
string(SUBSTRING ${all} 0 16 number)
file(WRITE ${OUTPUT} "0x${number}\n")
