# Documents with markup: dragoman translate --markup.
pkg_check_modules(GUMBO REQUIRED IMPORTED_TARGET gumbo)
pkg_check_modules(EXPAT REQUIRED IMPORTED_TARGET expat)
pkg_check_modules(MD4C REQUIRED IMPORTED_TARGET md4c)
dragoman_room(extras/markup ROOMS inference tokenizer base PRIVATE PkgConfig::GUMBO PkgConfig::EXPAT PkgConfig::MD4C PkgConfig::RE2)
dragoman_room(extras/markup/commands ROOMS extras/markup app/commands app/frame inference base)
