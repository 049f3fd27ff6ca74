// Models of JoeyNMT 1 and 2: a folder with config.yaml, src_vocab.txt, trg_vocab.txt, a checkpoint
// and the SentencePiece models.
#pragma once

#include <filesystem>

#include "extras/formats/foreign_model.h"

namespace dragoman {

/// Whether the path is a folder with config.yaml and a checkpoint (.ckpt), or such a checkpoint.
bool is_joeynmt(const std::filesystem::path& path);

/// Of a folder the checkpoint best.ckpt, or else latest.ckpt. Throws Error that names the file and
/// the fault: one is missing or damaged, or the model has a choice that this program does not know.
ForeignModel read_joeynmt(const std::filesystem::path& path);

}  // namespace dragoman
