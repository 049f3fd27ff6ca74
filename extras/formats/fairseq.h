// Models of fairseq 0.6 to 0.12 of the architecture "transformer": a checkpoint, the dictionaries
// and the SentencePiece models beside it.
#pragma once

#include "extras/formats/checkpoint_file.h"
#include "extras/formats/foreign_model.h"

namespace dragoman {

/// Whether the checkpoint has a model and its "cfg" or "args".
bool is_fairseq(const CheckpointFile& file);

/// The dictionaries are dict.LANGUAGE.txt of the languages that the checkpoint names, or
/// dict.src.txt and dict.tgt.txt, or where it names none, dictionaries that are all the same.
/// Throws Error that names the file and the fault: one is missing or damaged, or the model has a
/// choice that this program does not know.
ForeignModel read_fairseq(const CheckpointFile& file);

}  // namespace dragoman
