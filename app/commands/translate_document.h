// dragoman translate --markup: a document in, the same document in another language out.
#pragma once

#include <string>

#include "app/commands/translate_options.h"
#include "extras/markup/document.h"
#include "inference/translation_service.h"

namespace dragoman {

/// Reads the whole document from a descriptor; `name` is for messages. Throws Error, with the place
/// in the document, where it cannot be read as the markup that --markup names.
MarkupDocument read_document(int input, const std::string& name, const MarkupFiles& files);

/// Translates a document and writes it to `output`, which is a file that appears when it is whole,
/// a stream, or "-". After a stop nothing is written.
void translate_document(const MarkupDocument& document, TranslationService& service,
                        const TranslationRequest& request, const std::string& output);

}  // namespace dragoman
