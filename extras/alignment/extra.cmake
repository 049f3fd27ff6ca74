# Word alignment of parallel text: dragoman align. The aligner is a room of the core, data/alignment.
dragoman_room(extras/alignment/commands ROOMS app/commands app/frame data data/alignment tokenizer base)
