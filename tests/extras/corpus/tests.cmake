dragoman_test(extras/corpus LINKS dragoman_extras_sample)

# Files with both sides that other programs have made.
if(DRAGOMAN_TORCH)
  dragoman_script_test("system: pair files" extras/corpus/system/pair_files.py
    $<TARGET_FILE:dragoman> ${CMAKE_CURRENT_BINARY_DIR}/pair_files)
endif()
