dragoman_test(extras/server)
dragoman_test(extras/server/commands)
dragoman_counts_allocations(extras_server_test)

# What others read of the server's description and of the files that deploy it.
dragoman_script_test("system: descriptions" system/descriptions.py
  ${CMAKE_SOURCE_DIR} ${CMAKE_CURRENT_BINARY_DIR}/descriptions)

if(DRAGOMAN_TORCH)
  dragoman_script_test("system: clients" system/translation_clients.py
    $<TARGET_FILE:dragoman> ${CMAKE_CURRENT_BINARY_DIR}/clients)
  dragoman_script_test("system: described answers" system/described_answers.py
    $<TARGET_FILE:dragoman> ${CMAKE_CURRENT_BINARY_DIR}/described_answers)
  dragoman_script_test("system: DeepL's client" system/deepl_clients.py
    $<TARGET_FILE:dragoman> ${CMAKE_CURRENT_BINARY_DIR}/deepl_clients)
  dragoman_script_test("system: DeepL's client for Node.js" system/deepl_node.py
    $<TARGET_FILE:dragoman> ${CMAKE_CURRENT_BINARY_DIR}/deepl_node)
  dragoman_script_test("system: deployed servers" system/deployed_servers.py
    $<TARGET_FILE:dragoman> ${CMAKE_SOURCE_DIR} ${CMAKE_CURRENT_BINARY_DIR}/deployed_servers)
  dragoman_script_test("system: serve faults" system/serve_faults.py
    $<TARGET_FILE:dragoman> ${CMAKE_CURRENT_BINARY_DIR}/serve_faults)

  # What readers of the server's page see.
  dragoman_script_test("system: server page" system/server_page.py
    $<TARGET_FILE:dragoman> ${CMAKE_CURRENT_BINARY_DIR}/server_page)
endif()
