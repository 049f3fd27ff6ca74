# The aligner is tested with the core (tests/data/alignment), the command in system/.
