# Models of other systems: dragoman export, dragoman import.
dragoman_library(LIBZIP libzip)
dragoman_library(YAML_CPP yaml-cpp)
dragoman_room(extras/formats ROOMS inference/search model/file tokenizer base PRIVATE PkgConfig::LIBZIP PkgConfig::RE2 PkgConfig::YAML_CPP PkgConfig::ZLIB)
dragoman_room(extras/formats/commands
  ROOMS extras/formats app/commands app/frame inference/cpu inference model/file tokenizer base)
