# cmake -D PROGRAM=program -D FOLDER=folder -P printed.cmake: what a program prints about itself, in FOLDER: man1/*.1.gz and
# the scripts bash, zsh and fish. -D EMULATOR=qemu-aarch64 runs a program for another processor.
file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER}/man1)
get_filename_component(NAME ${PROGRAM} NAME)

function(print FILE)
  execute_process(COMMAND ${EMULATOR} ${PROGRAM} ${ARGN} OUTPUT_FILE ${FOLDER}/${FILE} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

foreach(SHELL bash zsh fish)
  print(${SHELL} completion ${SHELL})
endforeach()

# The commands are those of the overview.
print(overview --help)
file(STRINGS ${FOLDER}/overview COMMANDS REGEX "^  [a-z]+  ")
print(man1/${NAME}.1 manual)
foreach(LINE ${COMMANDS})
  string(REGEX REPLACE "^  ([a-z]+) .*" "\\1" COMMAND "${LINE}")
  print(man1/${NAME}-${COMMAND}.1 manual ${COMMAND})
endforeach()

file(GLOB PAGES ${FOLDER}/man1/*.1)
execute_process(COMMAND gzip -9 -n ${PAGES} COMMAND_ERROR_IS_FATAL ANY)
