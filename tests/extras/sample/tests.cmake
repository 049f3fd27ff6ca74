dragoman_test(extras/sample)

# What is done with a sample corpus: others read the log, and the documentation's commands.
if(DRAGOMAN_TORCH)
  dragoman_script_test("system: tensorboard" system/tensorboard.py
    $<TARGET_FILE:dragoman> ${CMAKE_CURRENT_BINARY_DIR}/tensorboard)
  dragoman_script_test("docs: recipes" recipes.py $<TARGET_FILE:dragoman> ${CMAKE_SOURCE_DIR})
endif()
