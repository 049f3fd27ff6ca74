# Translation over HTTP: dragoman serve.
dragoman_extra(markup)       # documents in requests
dragoman_extra(explanation)  # POST /explain
dragoman_extra(report)       # its pages
find_package(Boost 1.74 QUIET CONFIG)  # headers alone: Asio and Beast
dragoman_require(Boost_FOUND Boost)
dragoman_library(NETTLE nettle)
dragoman_room(extras/server ROOMS extras/markup extras/report inference inference/search data tokenizer base
  PRIVATE Boost::headers PkgConfig::NETTLE)
dragoman_embed(extras/server extras/server/files extras/server/own_interface.h served_file)
dragoman_embed(extras/server extras/server/page extras/server/own_interface.h web_page_file)
dragoman_room(extras/server/commands
  ROOMS extras/server extras/explanation app/commands app/frame inference/search model/file data base)
