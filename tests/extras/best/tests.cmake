# Tested by running the program (system/).
