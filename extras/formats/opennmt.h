// Models of OpenNMT-py 3: Transformers with encoder and decoder. A checkpoint has the weights, the
// options and the vocabularies; the SentencePiece models lie beside it.
#pragma once

#include "extras/formats/checkpoint_file.h"
#include "extras/formats/foreign_model.h"

namespace dragoman {

/// Whether the checkpoint has options, vocabularies and an output projection (generator).
bool is_opennmt(const CheckpointFile& file);

/// Throws Error that names the file and the fault: a SentencePiece model is missing, or the model
/// has a choice that this program does not know.
ForeignModel read_opennmt(const CheckpointFile& file);

}  // namespace dragoman
