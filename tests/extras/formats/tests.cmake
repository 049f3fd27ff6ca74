dragoman_test(extras/formats LINKS PkgConfig::ZLIB)
dragoman_test(extras/formats/commands)

# What NumPy and PyTorch write.
add_executable(print_contents extras/formats/real/print_contents.cpp)
dragoman_warnings(print_contents)
target_link_libraries(print_contents PRIVATE dragoman_extras_formats)
dragoman_script_test("system: real files" extras/formats/real/real_files.py
  $<TARGET_FILE:print_contents> ${CMAKE_CURRENT_BINARY_DIR}/torch)

# What other systems compute.
if(DRAGOMAN_TORCH)
  dragoman_script_test("system: ctranslate2" extras/formats/system/ctranslate2.py
    $<TARGET_FILE:dragoman> ${CMAKE_CURRENT_BINARY_DIR}/ctranslate2)
  add_executable(print_pieces tokenizer/printed/print_pieces.cpp)
  dragoman_warnings(print_pieces)
  target_link_libraries(print_pieces PRIVATE dragoman_tokenizer)
  dragoman_script_test("system: hf-marian" extras/formats/system/hf_marian.py
    $<TARGET_FILE:dragoman> ${CMAKE_CURRENT_BINARY_DIR}/transformers $<TARGET_FILE:print_pieces>)
  dragoman_script_test("system: marian" extras/formats/system/marian.py
    $<TARGET_FILE:dragoman> ${CMAKE_CURRENT_BINARY_DIR}/pymarian)
  foreach(SYSTEM fairseq joeynmt opennmt)
    dragoman_script_test("system: ${SYSTEM}" extras/formats/system/checkpoints.py
      $<TARGET_FILE:dragoman> ${CMAKE_CURRENT_BINARY_DIR}/${SYSTEM} ${SYSTEM})
  endforeach()
  # It installs PyTorch for these, which would only wait for it.
  foreach(SYSTEM hf-marian fairseq joeynmt opennmt)
    set_tests_properties("system: ${SYSTEM}" PROPERTIES DEPENDS "system: real files")
  endforeach()
endif()
