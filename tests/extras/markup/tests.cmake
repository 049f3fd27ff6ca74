dragoman_test(extras/markup)
dragoman_test(extras/markup/commands)

# What the parsers of others see of translated documents: of an adversarial model's, then of one that writes words.
if(DRAGOMAN_TORCH)
  dragoman_script_test("system: documents" extras/markup/system/documents.py
    $<TARGET_FILE:dragoman> ${CMAKE_SOURCE_DIR} ${CMAKE_CURRENT_BINARY_DIR}/documents)
  dragoman_script_test("system: formats" extras/markup/system/formats.py
    $<TARGET_FILE:dragoman> ${CMAKE_CURRENT_BINARY_DIR}/formats)
endif()
