# Models of other systems: dragoman export, dragoman import.
pkg_check_modules(YAML_CPP REQUIRED IMPORTED_TARGET yaml-cpp)
dragoman_room(extras/formats ROOMS inference/search model/file tokenizer base PRIVATE PkgConfig::ZLIB PkgConfig::YAML_CPP)
dragoman_room(extras/formats/commands
  ROOMS extras/formats app/commands app/frame inference/cpu inference model/file tokenizer base)
