// Reads the models of other systems: finds out which system a path belongs to, and has the readers
// of PyTorch checkpoints. The readers of other formats are in ctranslate2.h, hf_marian.h and
// marian.h.
//
// Each reader throws Error that names the file and the fault: a file is missing or damaged, or the
// model has a feature that this program does not know.
#pragma once

#include <filesystem>

#include "extras/formats/foreign_model.h"
#include "extras/formats/pytorch_checkpoint.h"

namespace dragoman {

/// Also throws Error if the path is not a model of a known kind; the message lists the kinds, and
/// says what this is, if that is known.
ForeignModel import_model(const std::filesystem::path& path);

/// Whether the checkpoint has a model and its "cfg" or "args".
bool is_fairseq(const CheckpointFile& file);

/// Models of fairseq 0.6 to 0.12 of the architecture "transformer": a checkpoint, and beside it the
/// dictionaries and the SentencePiece models. The dictionaries are dict.LANGUAGE.txt of the
/// languages that the checkpoint names, or dict.src.txt and dict.tgt.txt, or, if the checkpoint
/// names no languages, any dictionaries that are all the same.
ForeignModel read_fairseq(const CheckpointFile& file);

/// Whether the path is a folder with config.yaml and a checkpoint (.ckpt), or such a checkpoint.
bool is_joeynmt(const std::filesystem::path& path);

/// Models of JoeyNMT 1 and 2: a folder with config.yaml, src_vocab.txt, trg_vocab.txt, a checkpoint
/// and the SentencePiece models. If the path is a folder, its checkpoint is best.ckpt, or else
/// latest.ckpt.
ForeignModel read_joeynmt(const std::filesystem::path& path);

/// Whether the checkpoint has options, vocabularies and an output projection (generator).
bool is_opennmt(const CheckpointFile& file);

/// Models of OpenNMT-py 3: Transformers with encoder and decoder. A checkpoint has the weights, the
/// options and the vocabularies; the SentencePiece models lie beside it.
ForeignModel read_opennmt(const CheckpointFile& file);

}  // namespace dragoman
