# Documents with markup: dragoman translate --markup.
dragoman_library(GUMBO gumbo)
dragoman_library(EXPAT expat)
dragoman_library(MD4C md4c)
dragoman_room(extras/markup ROOMS inference tokenizer base PRIVATE PkgConfig::GUMBO PkgConfig::EXPAT PkgConfig::MD4C PkgConfig::RE2)
dragoman_room(extras/markup/commands ROOMS extras/markup app/commands app/frame inference base)
