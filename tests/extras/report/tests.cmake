dragoman_test(extras/report)
dragoman_test(extras/report/commands)

# What readers see.
dragoman_script_test("system: pages" extras/report/system/pages.py $<TARGET_FILE:dragoman-lite>)
