dragoman_test(extras/markup)
dragoman_test(extras/markup/commands)

# What the parsers of others see of documents that an adversarial model has translated.
if(DRAGOMAN_TORCH)
  dragoman_script_test("system: documents" extras/markup/system/documents.py
    $<TARGET_FILE:dragoman> ${CMAKE_SOURCE_DIR} ${CMAKE_CURRENT_BINARY_DIR}/documents)
endif()
