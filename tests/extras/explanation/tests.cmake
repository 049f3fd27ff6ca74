dragoman_test(extras/explanation)

# What readers see.
add_executable(print_explanation_page extras/report/printed/print_explanation_page.cpp)
dragoman_warnings(print_explanation_page)
target_link_libraries(print_explanation_page PRIVATE dragoman_extras_report)
dragoman_script_test("system: explanation page" extras/explanation/system/explanation_page.py
  $<TARGET_FILE:print_explanation_page> ${CMAKE_CURRENT_BINARY_DIR}/explanation_page work)
dragoman_script_test("system: speed of the explanation page" extras/explanation/system/explanation_page.py
  $<TARGET_FILE:print_explanation_page> ${CMAKE_CURRENT_BINARY_DIR}/explanation_page speed)
set_tests_properties("system: speed of the explanation page" PROPERTIES RUN_SERIAL TRUE)

# The documentation's Python, on the numbers that it is for.
dragoman_script_test("docs: explanation" extras/explanation/system/explanation_blocks.py
  $<TARGET_FILE:dragoman-lite> $<TARGET_FILE:random_model> ${CMAKE_SOURCE_DIR})

if(DRAGOMAN_TORCH)
  dragoman_script_test("docs: transformer" extras/explanation/system/transformer_page.py
    $<TARGET_FILE:dragoman> ${CMAKE_SOURCE_DIR})
endif()
