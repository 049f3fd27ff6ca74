// Models of Marian (https://marian-nmt.github.io): model.npz with the weights and their
// configuration, decoder.yml, and vocabularies. Read in Marian 1.12 (models/transformer.h,
// layers/generic.h, data/).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "extras/formats/exported_search.h"
#include "extras/formats/foreign_model.h"

namespace dragoman {

/// `path`: is_marian(). The vocabularies are SentencePiece models (.spm), or .yml files beside
/// source.spm and target.spm, as OPUS-MT has them. Throws Error that names the file and the fault:
/// one is missing or damaged, or the model is of another type, or has a choice that this program
/// does not know.
ForeignModel read_marian(const std::filesystem::path& path);

/// Makes a folder that Marian loads as it is (marian-decoder -c decoder.yml); it must not exist, or
/// be empty. Throws Error that names our flag where Marian has no such model: its sinusoids have
/// frequencies of their own (--positions marian), and it has no gated networks. Settings of the
/// search as in write_hf_marian().
std::vector<std::string> write_marian(const ModelFileReader& model,
                                      const std::filesystem::path& folder,
                                      Unheld unheld = Unheld::Refused);

}  // namespace dragoman
