# For find_package(TuneStencil), with CMAKE_PREFIX_PATH or TuneStencil_DIR on this folder.
include(${CMAKE_CURRENT_LIST_DIR}/TuneStencil.cmake)
